import { posix } from "node:path";
import { parseAllDocuments } from "yaml";
import { isTree } from "../tree";
import { rawArgsIn } from "./raw-args";

/** A path that a configuration names. */
export interface FileReference {
    readonly path: string;
    /** Where it is named: `spec.api.extraArgs.audit-policy-file`, or the file that names it. */
    readonly from: string;
    /** `input`: read at start. `output`: written by the program. `unknown`: its name does not tell. */
    readonly use: "input" | "output" | "unknown";
}

/** Arguments that name what the program itself writes or makes. */
const OUTPUTS = /(^|-)(log-path|log-file|log-dir|cert-dir|data-dir|wal-dir)$/;
/** Arguments that name a file to be read, by the endings that the Kubernetes programs and etcd use. */
const INPUTS = /(^|-)(file|config|kubeconfig|ca|cafile|cert|certfile|key|keyfile|certificate|authority|policy)$/;
/** Fields of k0s.yaml that name a file. */
const FILE_FIELD = /^((ca|cert|key|clientCert|clientKey)File|configTemplate(VRRP|VS))$/;
/** Arguments that hold names in etcd or of URLs. */
const NO_FILES = /(^|-)(prefix|paths?)$/;
/** Components whose arguments are read inside pods: kube-proxy, kube-router. */
const IN_PODS = "spec.network";

/** Fields that name a file in the configuration files of the API server, the controller manager and the scheduler. */
const INNER_FIELDS = new Set([
    "kubeConfigFile",
    "kubeconfig",
    "certificate-authority",
    "client-certificate",
    "client-key",
    "tokenFile",
    "caBundle",
    "clientCert",
    "clientKey",
    "caFile",
    "certFile",
    "keyFile",
]);

/** In `<data-dir>/pki`: what k0s brings along in a join or makes itself (k0s 1.36.3, its source). */
const K0S_PKI =
    /^(etcd\/.*|(ca|front-proxy-ca|front-proxy-client|admin|konnectivity|ccm|scheduler|server|k0s-api|apiserver-[a-z-]+)\.(crt|key|conf)|sa\.(key|pub)|(admin|ccm|scheduler|konnectivity)\.conf)$/;

/** All absolute paths among the arguments and the file fields of a k0s.yaml, parsed; each once, sorted. */
export function referencesIn(config: unknown): FileReference[] {
    const found = new Map<string, FileReference>();
    collect(config, "", (reference) => {
        if (!found.has(reference.path)) found.set(reference.path, reference);
    });
    return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** k0s makes it while it joins, or it exists only while something runs. */
export function isMadeByK0s(path: string, dataDir: string): boolean {
    if (/^\/(run|var\/run)\//.test(path)) return true;
    const pki = `${dataDir}/pki/`;
    return path === `${dataDir}/konnectivity.conf` || (path.startsWith(pki) && K0S_PKI.test(path.slice(pki.length)));
}

/**
 * Files that a configuration file names: plugins of an AdmissionConfiguration, certificates of a kubeconfig, and the like.
 * Relative paths are relative to the file. A text that is not YAML names none.
 */
export function filesNamedIn(file: string, content: string): FileReference[] {
    const paths = new Set<string>();
    for (const document of documentsOf(content)) collectInner(document, paths);
    const directory = posix.dirname(file);
    return [...paths].map((path) => ({ path: posix.resolve(directory, path), from: file, use: "input" }));
}

function collect(value: unknown, at: string, found: (reference: FileReference) => void): void {
    if (Array.isArray(value)) value.forEach((item, index) => collect(item, `${at}[${index}]`, found));
    if (!isTree(value)) return;
    for (const [key, inner] of Object.entries(value)) {
        const here = at === "" ? key : `${at}.${key}`;
        if (/^(extra|raw)Args$/.test(key) && at.startsWith(IN_PODS)) continue;
        if (key === "extraArgs" && isTree(inner)) {
            for (const [name, argument] of Object.entries(inner)) addArgument(here, name, argument, found);
        } else if (key === "rawArgs" && Array.isArray(inner)) {
            for (const { name, value } of rawArgsIn(inner)) addArgument(here, name, value, found);
        } else if (FILE_FIELD.test(key)) {
            addPaths(inner, (path) => found({ path, from: here, use: "input" }));
        } else {
            collect(inner, here, found);
        }
    }
}

function addArgument(at: string, name: string, value: unknown, found: (reference: FileReference) => void): void {
    if (NO_FILES.test(name) && !OUTPUTS.test(name)) return;
    const use = OUTPUTS.test(name) ? "output" : INPUTS.test(name) ? "input" : "unknown";
    const files = name === "tls-sni-cert-key" && typeof value === "string" ? filesOfNamedKeys(value) : value;
    addPaths(files, (path) => found({ path, from: `${at}.${name}`, use }));
}

/** `cert,key` or `cert,key:name,*.name`, several behind semicolons (kube-apiserver 1.36, namedcertkey_flag.go). */
function filesOfNamedKeys(value: string): string {
    return value
        .split(";")
        .map((pair) => pair.split(":", 1)[0])
        .join(",");
}

/** Some take lists. */
function addPaths(value: unknown, add: (path: string) => void): void {
    if (typeof value !== "string") return;
    for (const part of value.split(",")) if (part.startsWith("/")) add(posix.normalize(part));
}

function documentsOf(content: string): unknown[] {
    try {
        const documents = parseAllDocuments(content);
        return Array.isArray(documents)
            ? documents.flatMap((one) => (one.errors.length > 0 ? [] : [one.toJS() as unknown]))
            : [];
    } catch {
        return [];
    }
}

function collectInner(value: unknown, paths: Set<string>): void {
    if (Array.isArray(value)) for (const item of value) collectInner(item, paths);
    if (!isTree(value)) return;
    if (value["kind"] === "AdmissionConfiguration") collectPlugins(value["plugins"], paths);
    for (const [key, inner] of Object.entries(value)) {
        if (!INNER_FIELDS.has(key)) collectInner(inner, paths);
        // The same names hold PEM text in other places.
        else if (typeof inner === "string" && /^[^\s]+$/.test(inner)) paths.add(inner);
    }
}

function collectPlugins(plugins: unknown, paths: Set<string>): void {
    if (!Array.isArray(plugins)) return;
    for (const plugin of plugins) {
        const path = isTree(plugin) ? plugin["path"] : undefined;
        if (typeof path === "string" && path !== "") paths.add(path);
    }
}
