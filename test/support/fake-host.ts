import { Readable } from "node:stream";
import type { Host } from "../../provider/adapters/host";
import type { HostFacts } from "../../provider/facts/host";
import { blankHost } from "../decide/build";
import { type Calls, recorded } from "./fake-calls";
import { emptyMaterial, fakeMaterial, type Material } from "./fake-material";

export const JOIN_TOKEN = "H4sIAAAA-the-join-token";
export const HELPER_VERSION = "v1.36.3+k0s.2";

/** Paths and what is in them. */
export type Files = Map<string, string>;

/**
 * A host without a machine: its files are a map, its service starts at once and stays up, its k0s program is of the helper's
 * version wherever there is a file, and every port can be reached.
 */
export function fakeHost(
    name: string,
    calls: Calls,
    options: {
        readonly facts?: HostFacts;
        readonly files?: Files;
        readonly material?: Material;
        readonly answers?: Partial<Host>;
    } = {},
): Host {
    const { facts = blankHost(name), files = new Map<string, string>(), answers = {} } = options;
    const put = async (path: string): Promise<void> => void files.set(path, HELPER_VERSION);
    const nothing = async (): Promise<void> => undefined;
    const own: Host = {
        address: facts.address,
        onMachine: () => bound,
        material: fakeMaterial(name, calls, files, options.material ?? emptyMaterial(), answers.material),
        hostKeyFingerprint: async () => "SHA256:key",
        probe: async () => facts,
        readFile: async (path) => (files.has(path) ? Buffer.from(files.get(path) ?? "") : undefined),
        writeFile: async (path, content) => void files.set(path, content.toString()),
        removeFiles: async (paths) => paths.forEach((path) => files.delete(path)),
        exists: async (path) => files.has(path),
        writeMarker: nothing,
        removeMarker: nothing,
        openFile: async () => ({ size: 3, content: Readable.from(["k0s"]) }),
        putExecutable: put,
        downloadExecutable: (_url, path) => put(path),
        k0sVersion: async (path) => files.get(path),
        sha256: async () => "ab12",
        createJoinToken: async () => ({ token: JOIN_TOKEN, id: "abcdef" }),
        invalidateJoinToken: nothing,
        installService: nothing,
        service: nothing,
        serviceState: async () => ({ active: "active", sub: "running", restarts: 0 }),
        journal: async () => "",
        backUp: async ({ directory, name }) => ({ path: `${directory}/${name}`, size: 3, sha256: "ab", without: [] }),
        reset: async () => ({ exitCode: 0, output: "" }),
        cleanUp: async () => ({ left: [] }),
        connect: async () => Promise.reject(new Error("a fake host connects to nothing")),
        reach: async () => "open",
        resolve: async () => new Map(),
    };
    const bound: Host = recorded(name, calls, own, answers, {
        probe: () => "",
        readFile: (path) => path,
        writeFile: (path, _content, mode) => `${path} ${mode.toString(8)}`,
        exists: (path) => path,
        writeMarker: ({ role, operation }) => `${role} ${operation?.kind ?? "settled"}`,
        removeMarker: () => "",
        openFile: (path) => path,
        putExecutable: (path, _content, { size, sha256 }) => `${path} ${size} ${sha256}`,
        downloadExecutable: (url, path, sha256) => `${url} ${path} ${sha256}`,
        k0sVersion: (path) => path,
        sha256: (path) => path,
        createJoinToken: ({ role }) => role,
        invalidateJoinToken: (_k0sPath, _dataDir, id) => id,
        installService: (_k0sPath, role, flags) => [role, ...flags].join(" "),
        service: (action, role) => `${action} ${role}`,
        serviceState: (role) => role,
        journal: (role) => role,
        backUp: ({ name, keep, files }) => [name, keep, ...files].join(" "),
        reset: (_k0sPath, { dataDir }) => dataDir,
        cleanUp: ({ dataDir }, k0sPath) => `${dataDir} ${k0sPath}`,
        reach: (host, port) => `${host}:${port}`,
        resolve: (names) => names.join(" "),
    });
    // Being bound is nothing that the host is asked.
    return Object.assign(bound, { onMachine: () => bound });
}
