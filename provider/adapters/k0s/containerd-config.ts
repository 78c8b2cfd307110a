import { posix } from "node:path";

/** Drop-ins that k0s imports; it never writes there itself (k0s 1.27 and later). */
export const DROP_INS = "/etc/k0s/containerd.d";
/** k0s writes it anew at each start while its first line says so. */
export const CONTAINERD_CONFIG = "/etc/k0s/containerd.toml";
/** Where containerd 2 looks when no configuration names other directories. */
export const DEFAULT_HOSTS_DIRECTORIES: readonly string[] = ["/etc/containerd/certs.d", "/etc/docker/certs.d"];

const MANAGED = "# k0s_managed=true";
const TABLE = /^\s*\[+\s*(.+?)\s*\]+\s*(#.*)?$/;
const REGISTRY_TABLE = /(^|\.)["']?registry["']?(\.|$)/;
const ASSIGNMENT = /^\s*(config_path|ca|client|ca_file|cert_file|key_file)\s*=\s*(.*)$/;

/** What a containerd configuration, or a `hosts.toml`, says about registries. */
export interface RegistrySettings {
    /** It has a registry table or names hosts directories. */
    readonly hasRegistries: boolean;
    /** Values of `config_path`. */
    readonly hostsDirectories: readonly string[];
    /** Certificates and keys; relative paths are made absolute with the file's directory. */
    readonly files: readonly string[];
}

/** `content` is the TOML of `file`. What it cannot read it passes over: containerd will complain, here as on the helper. */
export function registrySettings(file: string, content: string): RegistrySettings {
    const hostsDirectories: string[] = [];
    const files: string[] = [];
    let hasRegistries = false;
    for (const line of statements(content)) {
        const table = TABLE.exec(line)?.[1];
        if (table !== undefined && REGISTRY_TABLE.test(table)) hasRegistries = true;
        const [, key, value = ""] = ASSIGNMENT.exec(line) ?? [];
        if (key === undefined) continue;
        if (key === "config_path") hostsDirectories.push(...strings(value).flatMap((list) => list.split(":")));
        else files.push(...strings(value).map((path) => posix.resolve(posix.dirname(file), path)));
    }
    const directories = hostsDirectories.filter((directory) => directory.startsWith("/"));
    return { hasRegistries: hasRegistries || directories.length > 0, hostsDirectories: directories, files };
}

/** Its first line says that k0s manages it. */
export function isManagedByK0s(content: string): boolean {
    return content.split("\n", 1)[0]?.trim() === MANAGED;
}

/** Lines without comments; an array that spans lines is one. */
function statements(content: string): string[] {
    const found: string[] = [];
    let open = "";
    for (const line of content.split("\n")) {
        if (/^\s*(#|$)/.test(line)) continue;
        open += open === "" ? line : ` ${line}`;
        const isArray = /^\s*[\w-]+\s*=\s*\[/.test(open);
        if (isArray && count(open, "[") > count(open, "]")) continue;
        found.push(open);
        open = "";
    }
    return found;
}

function strings(value: string): string[] {
    return [...value.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g)]
        .map(([, basic, literal]) => basic ?? literal ?? "")
        .filter((text) => text !== "");
}

function count(text: string, character: string): number {
    return text.split(character).length - 1;
}
