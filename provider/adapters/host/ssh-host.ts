import type { Duplex, Readable } from "node:stream";
import type { Deadline } from "../../deadline";
import { CommandError, ConnectionError, InputError, messageOf } from "../../errors";
import { MARKER_PATH, parseHostProbe } from "../../facts/host-probe";
import type { HostFacts, HostMarker } from "../../facts/host";
import type { NodeKind } from "../../inputs";
import type { SshEndpoint } from "../ssh/endpoint";
import { backupValues, parseBackupAnswer } from "./backup-answer";
import type { BackupArchive, BackupRequest, Host, InstallDirs, ProbePaths, ServiceAction, TokenRequest } from "./index";
import { isPlainPath } from "./command-line";
import { joinTokenId } from "./join-token";
import type { ProgramName, ProgramValues } from "./program";
import type { ProgramOutcome, RootShell } from "./root-shell";
import { SshMaterial } from "./ssh-material";
import { dirValues, ownEntries, lines, linesOf, serviceName } from "./values";

const MAX_FILE = 4 * 1024 * 1024;

/** Within this time a host behind a firewall that drops packets would have answered if it could. */
const REACH_TIME = 5_000;

/** A host over SSH: each method is one program of `scripts/`, or a stream beside two of them. */
export class SshHost implements Host {
    readonly material: SshMaterial;

    constructor(
        readonly address: string,
        private readonly endpoint: SshEndpoint,
        private readonly shell: RootShell,
    ) {
        this.material = new SshMaterial(address, (...request) => this.run(...request));
    }

    hostKeyFingerprint(deadline: Deadline): Promise<string> {
        return this.endpoint.hostKeyFingerprint(deadline);
    }

    async probe({ dataDir, k0sPath, kubeletRootDir }: ProbePaths, deadline: Deadline): Promise<HostFacts> {
        const values = {
            DATA_DIR: dataDir,
            K0S: k0sPath,
            KUBELET_ROOT_DIR: kubeletRootDir ?? "",
            MARKER: MARKER_PATH,
        };
        const answer = await this.run("probe", values, "probing", "the host probe failed", deadline);
        return parseHostProbe(answer.toString(), this.address, dataDir, kubeletRootDir);
    }

    async readFile(path: string, deadline: Deadline): Promise<Buffer | undefined> {
        const stage = `reading ${path}`;
        const answer = await this.run("read-file", { FILE: path, LIMIT: String(MAX_FILE) }, stage, "failed", deadline);
        if (answer.equals(Buffer.from("absent"))) return undefined;
        const lineEnd = answer.indexOf("\n");
        const size = /^file (\d+)$/.exec(answer.subarray(0, Math.max(0, lineEnd)).toString())?.[1];
        const content = answer.subarray(lineEnd + 1);
        // A file that grew while it was read counts as changed under our hands.
        if (Number(size) !== content.length) throw this.unexpected(stage, "its size changed while it was read");
        return content;
    }

    async writeFile(path: string, content: string | Buffer, mode: number, deadline: Deadline): Promise<void> {
        const bytes = Buffer.from(content);
        const values = {
            FILE: path,
            MODE: mode.toString(8).padStart(4, "0"),
            CONTENT: bytes.toString("base64"),
            SIZE: String(bytes.length),
        };
        await this.run("write-file", values, `writing ${path}`, "failed", deadline);
    }

    async removeFiles(paths: readonly string[], deadline: Deadline): Promise<void> {
        const values = { FILES: lines(paths, this.address), EMPTY_DIRECTORY: "" };
        await this.run("remove-files", values, "removing files", "failed", deadline);
    }

    async exists(path: string, deadline: Deadline): Promise<boolean> {
        const answer = await this.run("exists", { FILE: path }, `looking for ${path}`, "failed", deadline);
        return answer.toString() === "yes";
    }

    writeMarker(marker: HostMarker, deadline: Deadline): Promise<void> {
        return this.writeFile(MARKER_PATH, `${JSON.stringify(marker, undefined, 2)}\n`, 0o600, deadline);
    }

    async removeMarker(deadline: Deadline): Promise<void> {
        const values = { FILES: MARKER_PATH, EMPTY_DIRECTORY: MARKER_PATH.slice(0, MARKER_PATH.lastIndexOf("/")) };
        await this.run("remove-files", values, "removing the marker", "failed", deadline);
    }

    async openFile(path: string, deadline: Deadline): Promise<{ readonly size: number; readonly content: Readable }> {
        const stage = `reading ${path}`;
        this.requirePlain(path, stage);
        const answer = (await this.run("file-size", { FILE: path }, stage, "failed", deadline)).toString().trim();
        if (!/^\d+$/.test(answer)) throw this.unexpected(stage, "there is no such file");
        const size = Number(answer);
        return { size, content: await this.shell.send(path, size, stage, deadline) };
    }

    async putExecutable(
        path: string,
        content: Readable,
        expected: { size?: number; sha256?: string },
        deadline: Deadline,
    ): Promise<void> {
        const stage = `copying ${path}`;
        this.requirePlain(path, stage);
        // It may fail before it is read; the reading will tell.
        content.on("error", () => undefined);
        const begin = await this.run("upload-begin", { FILE: path }, stage, "cannot write there", deadline);
        const temporary = begin.toString().trim();
        try {
            this.requirePlain(temporary, stage);
            const sent = await this.shell.take(temporary, content, stage, deadline);
            this.checkSent(stage, sent, expected);
            const values = { TEMPORARY: temporary, FILE: path, SIZE: String(sent.size), SHA256: sent.sha256 };
            await this.run("upload-finish", values, stage, "what arrived is not what was sent", deadline);
        } catch (error) {
            // The next upload removes it too, so that a broken connection leaves nothing for good.
            await this.removeFiles([temporary], deadline).catch(() => undefined);
            throw error;
        }
    }

    async downloadExecutable(url: string, path: string, sha256: string | undefined, deadline: Deadline): Promise<void> {
        if (/[\n\r]/.test(url)) throw new InputError({ stage: "downloading", what: "the address holds a line break" });
        const values = { URL: url, FILE: path, SHA256: sha256?.toLowerCase() ?? "" };
        await this.run("download", values, `downloading ${path}`, "failed", deadline);
    }

    async k0sVersion(path: string, deadline: Deadline): Promise<string | undefined> {
        const answer = await this.run("k0s-version", { K0S: path }, "asking for the k0s version", "failed", deadline);
        return answer.toString().trim() || undefined;
    }

    async sha256(path: string, deadline: Deadline): Promise<string | undefined> {
        const answer = await this.run("sha256", { FILE: path }, `reading ${path}`, "failed", deadline);
        const sum = answer.toString().trim();
        return sum === "absent" ? undefined : sum;
    }

    async createJoinToken(
        { k0sPath, dataDir, role, expirySeconds }: TokenRequest,
        deadline: Deadline,
    ): Promise<{ readonly token: string; readonly id: string }> {
        const stage = "creating a join token";
        const values = { K0S: k0sPath, DATA_DIR: dataDir, ROLE: role, EXPIRY: String(expirySeconds) };
        const token = (await this.run("token-create", values, stage, "k0s failed", deadline)).toString().trim();
        try {
            return { token, id: joinTokenId(token) };
        } catch (error) {
            throw this.unexpected(stage, messageOf(error));
        }
    }

    async invalidateJoinToken(k0sPath: string, dataDir: string, id: string, deadline: Deadline): Promise<void> {
        const values = { K0S: k0sPath, DATA_DIR: dataDir, ID: id };
        await this.run("token-invalidate", values, "invalidating the join token", "k0s failed", deadline);
    }

    async installService(k0sPath: string, role: NodeKind, flags: readonly string[], deadline: Deadline): Promise<void> {
        const values = { K0S: k0sPath, ROLE: role, FLAGS: lines(flags, this.address) };
        await this.run("install-service", values, "installing the service", "k0s install failed", deadline);
    }

    async service(action: ServiceAction, role: NodeKind, deadline: Deadline): Promise<void> {
        const values = { ACTION: action, SERVICE: serviceName(role) };
        await this.run("service", values, `${serviceName(role)}: ${action}`, "failed", deadline);
    }

    async serviceState(
        role: NodeKind,
        deadline: Deadline,
    ): Promise<{ active: string; sub: string; restarts: number } | undefined> {
        const stage = `looking at ${serviceName(role)}`;
        const values = { SERVICE: serviceName(role) };
        const answer = (await this.run("service-state", values, stage, "failed", deadline)).toString().trim();
        if (answer === "absent") return undefined;
        const parts = /^(\S+) (\S+) (\d+)$/.exec(answer);
        if (parts === null) throw this.unexpected(stage, `the answer is not understood: ${answer.slice(0, 80)}`);
        return { active: parts[1] ?? "", sub: parts[2] ?? "", restarts: Number(parts[3]) };
    }

    async journal(role: NodeKind, count: number, deadline: Deadline): Promise<string> {
        const values = { SERVICE: serviceName(role), LINES_WANTED: String(count) };
        return (await this.run("journal", values, "reading the journal", "failed", deadline)).toString();
    }

    async backUp(request: BackupRequest, deadline: Deadline): Promise<BackupArchive> {
        const values = backupValues(request, lines(request.files, this.address));
        const answer = await this.run("backup", values, "backing up", "k0s backup failed", deadline);
        return parseBackupAnswer(answer.toString()) ?? Promise.reject(this.unexpected("backing up", "no archive"));
    }

    async reset(
        k0sPath: string,
        dirs: InstallDirs,
        deadline: Deadline,
    ): Promise<{ readonly exitCode: number; readonly output: string }> {
        const stage = "resetting k0s";
        const values = { K0S: k0sPath, ...dirValues(dirs) };
        const answer = (await this.run("reset", values, stage, "failed", deadline)).toString();
        const code = /^(\d+)\n/.exec(answer)?.[1];
        if (code === undefined) throw this.unexpected(stage, "the answer is not understood");
        return { exitCode: Number(code), output: answer.slice(code.length + 1) };
    }

    async cleanUp(
        dirs: InstallDirs & { readonly put?: readonly string[] },
        k0sPath: string,
        deadline: Deadline,
    ): Promise<{ readonly left: readonly string[] }> {
        const values = { ...dirValues(dirs), ...ownEntries(dirs, this.address), K0S: k0sPath };
        const answer = await this.run("clean-up", values, "cleaning up", "failed", deadline);
        return { left: linesOf(answer) };
    }

    connect(host: string, port: number, deadline: Deadline): Promise<Duplex> {
        return this.endpoint.forward(host, port, deadline);
    }

    async reach(host: string, port: number, deadline: Deadline): Promise<"open" | "refused" | "blocked"> {
        // The connection to the host itself is not what is tested.
        await this.endpoint.hostKeyFingerprint(deadline);
        try {
            (await this.endpoint.forward(host, port, deadline.within(REACH_TIME))).destroy();
            return "open";
        } catch (error) {
            return reachability(error);
        }
    }

    async resolve(names: readonly string[], deadline: Deadline): Promise<ReadonlyMap<string, readonly string[]>> {
        const values = { NAMES: lines(names, this.address) };
        const found = linesOf(await this.run("resolve", values, "resolving names", "failed", deadline));
        const pairs = found.map((line) => line.split(" ") as [string, string]);
        const addresses = (name: string): string[] => pairs.flatMap(([one, address]) => (one === name ? address : []));
        return new Map([...new Set(pairs.map(([name]) => name))].map((name) => [name, addresses(name)]));
    }

    private async run(
        name: ProgramName,
        values: ProgramValues,
        stage: string,
        failure: string,
        deadline: Deadline,
    ): Promise<Buffer> {
        const { exitCode, stdout, stderr }: ProgramOutcome = await this.shell.run(name, values, stage, deadline);
        if (exitCode === 0) return stdout;
        throw new CommandError({ stage, host: this.address, what: failure, exitCode, output: stderr });
    }

    private checkSent(
        stage: string,
        sent: { size: number; sha256: string },
        expected: { size?: number; sha256?: string },
    ): void {
        if (expected.size !== undefined && expected.size !== sent.size) {
            throw this.unexpected(stage, `the source has ${sent.size} bytes, ${expected.size} were expected`);
        }
        if (expected.sha256 !== undefined && expected.sha256.toLowerCase() !== sent.sha256) {
            throw this.unexpected(stage, `sha256 of the source is ${sent.sha256}, not ${expected.sha256}`);
        }
    }

    private requirePlain(path: string, stage: string): void {
        if (isPlainPath(path)) return;
        throw new InputError({
            stage,
            host: this.address,
            what: `the path ${JSON.stringify(path)} may hold only letters, digits and / . _ + @ % = -`,
        });
    }

    private unexpected(stage: string, what: string): CommandError {
        return new CommandError({ stage, host: this.address, what });
    }
}

function reachability(error: unknown): "refused" | "blocked" {
    const message = messageOf(error);
    if (/refused/i.test(message)) return "refused";
    const forbidden = error instanceof ConnectionError && !error.retryable;
    if (forbidden) throw error;
    return "blocked";
}
