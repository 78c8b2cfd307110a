import type { Duplex, Readable } from "node:stream";
import type { Deadline } from "../../deadline";
import type { HostFacts, HostMarker } from "../../facts/host";
import type { NodeKind } from "../../inputs";
import type { HostMaterial } from "./material";
import type { MachineIdentity } from "./machine";

/**
 * One host, over SSH, to look at. It decides nothing. Every method runs one POSIX sh program of the fixed vocabulary in
 * `scripts/`, as root, sent on stdin with its values, so that no value is seen in a process list.
 *
 * One of these is for one operation: the machine that answers first is the only one it ever talks to (address, host key,
 * machine id); another one is an OtherMachineError.
 */
export interface HostView {
    readonly address: string;
    /** To change it, if it is that machine: each program that changes something looks again before it does. */
    onMachine(machine: MachineIdentity): Host;
    /** `SHA256:…` of the key the host presented. */
    hostKeyFingerprint(deadline: Deadline): Promise<string>;

    /** All facts in one round trip. */
    probe(paths: ProbePaths, deadline: Deadline): Promise<HostFacts>;

    /** undefined: no such file. Fails on anything else. At most 4 MiB. */
    readFile(path: string, deadline: Deadline): Promise<Buffer | undefined>;
    exists(path: string, deadline: Deadline): Promise<boolean>;
    /** Streams a file off the host (the k0s binary). */
    openFile(path: string, deadline: Deadline): Promise<{ readonly size: number; readonly content: Readable }>;
    /** `<path> version`, trimmed; undefined when there is no such program or it does not run. */
    k0sVersion(path: string, deadline: Deadline): Promise<string | undefined>;
    sha256(path: string, deadline: Deadline): Promise<string | undefined>;
    /** `systemctl is-active`, `is-enabled` and friends of one unit without the rest of the probe: undefined = no unit. */
    serviceState(
        role: NodeKind,
        deadline: Deadline,
    ): Promise<{ active: string; sub: string; restarts: number } | undefined>;
    /** Last lines of the service's journal, without lines that look like secrets. */
    journal(role: NodeKind, lines: number, deadline: Deadline): Promise<string>;

    /** Opens a TCP connection from the host: `127.0.0.1:2379` on a controller, or another host's port. */
    connect(host: string, port: number, deadline: Deadline): Promise<Duplex>;
    /** Can the host reach that port? A refusal counts as reachable: the packet arrived and came back (safety.md 16). */
    reach(host: string, port: number, deadline: Deadline): Promise<"open" | "refused" | "blocked">;
    /** Addresses of these names as this host sees them; names that it cannot resolve are left out. */
    resolve(names: readonly string[], deadline: Deadline): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** The same, bound to the machine that a decision was made on. It does what it is told; on another machine, nothing. */
export interface Host extends HostView {
    readonly material: HostMaterial;

    /** Writes atomically, creating parent directories (0755). The content may be secret. */
    writeFile(path: string, content: string | Buffer, mode: number, deadline: Deadline): Promise<void>;
    /** Removes files (not directories); missing ones are fine. */
    removeFiles(paths: readonly string[], deadline: Deadline): Promise<void>;

    /** Replaces the marker that was decided on, and no other one (safety.md 6). */
    writeMarker(marker: HostMarker, deadline: Deadline): Promise<void>;
    removeMarker(deadline: Deadline): Promise<void>;

    /** Streams an executable onto the host: to a temporary name beside it, checks its size and sha256 (hex), 0755, renames. */
    putExecutable(
        path: string,
        content: Readable,
        expected: { size?: number; sha256?: string },
        deadline: Deadline,
    ): Promise<void>;
    /** The host fetches it itself (curl or wget), checks sha256 (hex) if given, 0755, renames. */
    downloadExecutable(url: string, path: string, sha256: string | undefined, deadline: Deadline): Promise<void>;

    /** `k0s token create`: the token (secret) and the id to invalidate it by. */
    createJoinToken(
        request: TokenRequest,
        deadline: Deadline,
    ): Promise<{ readonly token: string; readonly id: string }>;
    invalidateJoinToken(k0sPath: string, dataDir: string, id: string, deadline: Deadline): Promise<void>;

    /** `k0s install controller|worker <flags>`; fails if the unit exists. `flags` hold no secrets. */
    installService(k0sPath: string, role: NodeKind, flags: readonly string[], deadline: Deadline): Promise<void>;
    /** Through systemctl or rc-service. `stop` also waits until the daemon is gone; all are fine when already so. */
    service(action: ServiceAction, role: NodeKind, deadline: Deadline): Promise<void>;

    /**
     * `k0s backup` on this controller, with the files that it leaves out: one archive (0600) in a directory (0700), that
     * `k0s restore` takes. What killed backups left in the directory is removed first. Fails on too little free space.
     */
    backUp(request: BackupRequest, deadline: Deadline): Promise<BackupArchive>;

    /** `k0s reset` with the install-time directories. Never throws on exit ≠ 0: the caller decides. */
    reset(
        k0sPath: string,
        dirs: InstallDirs,
        deadline: Deadline,
    ): Promise<{ readonly exitCode: number; readonly output: string }>;
    /**
     * Removes what k0s and we left: unmounts below the directories first, then only known paths, without following links
     * or crossing file systems. A directory that holds something else is left as it is; `put`: files and directories of ours,
     * which may lie there. Answers what it found and did not remove.
     */
    cleanUp(
        dirs: InstallDirs & { readonly put?: readonly string[] },
        k0sPath: string,
        deadline: Deadline,
    ): Promise<{ readonly left: readonly string[] }>;
}

/** `reread`: the service's definition was changed; what runs goes on as it is. */
export type ServiceAction = "start" | "stop" | "restart" | "enable" | "disable" | "reread";

export interface ProbePaths {
    readonly dataDir: string;
    /** Where the k0s binary is or will be. */
    readonly k0sPath: string;
    readonly kubeletRootDir?: string;
}

export interface InstallDirs {
    readonly dataDir: string;
    readonly kubeletRootDir?: string;
}

export interface TokenRequest {
    readonly k0sPath: string;
    readonly dataDir: string;
    readonly role: NodeKind;
    readonly expirySeconds: number;
}

export interface BackupRequest {
    readonly k0sPath: string;
    readonly dataDir: string;
    readonly directory: string;
    /** `<node>-<before|after>-<add|remove>`; the host puts its time (UTC) in front. */
    readonly name: string;
    /** Archives that stay in the directory, this one included. 0: this one has another name there, to be fetched and removed. */
    readonly keep: number;
    /** Files that k0s.yaml refers to: their absolute paths. */
    readonly files: readonly string[];
}

export interface BackupArchive {
    readonly path: string;
    /** Bytes. */
    readonly size: number;
    /** Hexadecimal. */
    readonly sha256: string;
    /** Of `files`, those that are no files on the host. */
    readonly without: readonly string[];
}
