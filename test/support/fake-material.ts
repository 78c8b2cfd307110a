import { createHash } from "node:crypto";
import type { FileFacts, HostMaterial, SelinuxRule } from "../../provider/adapters/host/material";
import { type Calls, recorded } from "./fake-calls";
import type { Files } from "./fake-host";

const ALWAYS_THERE = ["/etc", "/var", "/var/lib", "/var/log", "/usr", "/usr/local", "/usr/local/bin"];

/** What a fake host has besides contents: modes and owners of paths (default 0644 root), its users, its SELinux rules. */
export interface Material {
    readonly owners: Map<string, Partial<Pick<FileFacts, "kind" | "mode" | "user" | "group">>>;
    readonly names: Set<string>;
    readonly rules: SelinuxRule[];
    readonly units: Map<string, "up" | "down">;
}

export function emptyMaterial(): Material {
    return { owners: new Map(), names: new Set(["root"]), rules: [], units: new Map() };
}

export function fakeMaterial(
    name: string,
    calls: Calls,
    files: Files,
    state: Material,
    answers: Partial<HostMaterial> = {},
): HostMaterial {
    const describe = (path: string): FileFacts => {
        const content = files.get(path);
        const isDirectory =
            ALWAYS_THERE.includes(path) || [...files.keys()].some((other) => other.startsWith(`${path}/`));
        const kind = content !== undefined ? "file" : isDirectory ? "directory" : "absent";
        const found = { kind, ...state.owners.get(path) } as const;
        if (found.kind === "absent") return { path, kind: "absent", mode: 0, user: "", group: "", sha256: undefined };
        const usual = { mode: found.kind === "directory" ? 0o755 : 0o644, user: "root", group: "root" };
        const sum = createHash("sha256").update(content ?? "");
        return { path, ...usual, ...found, sha256: found.kind === "file" ? sum.digest("hex") : undefined };
    };
    const own: HostMaterial = {
        describe: async (paths) => paths.map(describe),
        list: async (directory) =>
            [...files.keys()].filter(
                (path) => path.startsWith(`${directory}/`) && path.slice(directory.length + 1).split("/").length <= 2,
            ),
        makeDirectories: async (wanted) =>
            wanted.forEach(({ path, mode }) => state.owners.set(path, { kind: "directory", mode })),
        own: async (paths) =>
            paths.forEach(({ path, ...owner }) => state.owners.set(path, { ...state.owners.get(path), ...owner })),
        unknownNames: async ({ users, groups }) => ({
            users: users.filter((user) => !state.names.has(user)),
            groups: groups.filter((group) => !state.names.has(group)),
        }),
        remove: async (gone) => {
            gone.forEach((path) => files.delete(path));
            return [];
        },
        selinuxRules: async () => [...state.rules],
        labelSelinux: async ({ add = [], delete: gone = [] }) => {
            const kept = state.rules.filter(({ pattern }) => !gone.includes(pattern));
            state.rules.splice(0, state.rules.length, ...kept, ...add);
            return "";
        },
        unitsOf: async () => [],
        unit: async (action, unit) => {
            if (action === "forget") state.units.delete(unit);
            else state.units.set(unit, action);
        },
    };
    return recorded(`${name} material`, calls, own, answers, {
        describe: (paths) => paths.join(" "),
        list: (directory) => directory,
        makeDirectories: (wanted) => wanted.map(({ path, mode }) => `${path} ${mode.toString(8)}`).join(" "),
        own: (paths) =>
            paths.map(({ path, mode, user, group }) => `${path} ${mode.toString(8)} ${user}:${group}`).join(" "),
        unknownNames: ({ users, groups }) => [...users, ...groups].join(" "),
        remove: (gone, directories) => [...gone, ...directories].join(" "),
        selinuxRules: () => "",
        labelSelinux: ({ add = [], delete: gone = [] }) => `+${add.length} -${gone.length}`,
        unitsOf: (program) => program,
        unit: (action, unit) => `${action} ${unit}`,
    });
}
