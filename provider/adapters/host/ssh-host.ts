import type { Readable } from "node:stream";
import type { Deadline } from "../../deadline";
import { InputError, messageOf } from "../../errors";
import type { HostMarker } from "../../facts/host";
import { MARKER_PATH } from "../../facts/host-probe";
import type { NodeKind } from "../../inputs";
import type { SshEndpoint } from "../ssh/endpoint";
import { backupValues, parseBackupAnswer } from "./backup-answer";
import type { BackupArchive, BackupRequest, Host, InstallDirs, ServiceAction, TokenRequest } from "./index";
import { joinTokenId } from "./join-token";
import { MachineGuard, type MachineIdentity } from "./machine";
import type { ProgramName, ProgramValues } from "./program";
import type { RootShell } from "./root-shell";
import { SshMaterial } from "./ssh-material";
import { SshView } from "./ssh-view";
import { dirValues, lines, linesOf, ownEntries, serviceName } from "./values";

/** A host over SSH that is not bound to a machine yet. */
export class UnboundSshHost extends SshView {
    onMachine(machine: MachineIdentity): Host {
        return new SshHost(this.address, this.endpoint, this.shell, machine);
    }
}

/** The same on one machine: what changes something there goes with a guard. */
class SshHost extends SshView implements Host {
    readonly material: SshMaterial;
    private readonly guard: MachineGuard;

    constructor(address: string, endpoint: SshEndpoint, shell: RootShell, machine: MachineIdentity) {
        super(address, endpoint, shell);
        this.machineId = machine.machineId;
        this.guard = new MachineGuard(machine);
        this.material = new SshMaterial(address, (...request) => this.change(...request));
    }

    onMachine(machine: MachineIdentity): Host {
        return new SshHost(this.address, this.endpoint, this.shell, machine);
    }

    async writeFile(path: string, content: string | Buffer, mode: number, deadline: Deadline): Promise<void> {
        const bytes = Buffer.from(content);
        const values = {
            FILE: path,
            MODE: mode.toString(8).padStart(4, "0"),
            CONTENT: bytes.toString("base64"),
            SIZE: String(bytes.length),
        };
        await this.change("write-file", values, `writing ${path}`, "failed", deadline);
    }

    async removeFiles(paths: readonly string[], deadline: Deadline): Promise<void> {
        const values = { FILES: lines(paths, this.address), EMPTY_DIRECTORY: "" };
        await this.change("remove-files", values, "removing files", "failed", deadline);
    }

    writeMarker(marker: HostMarker, deadline: Deadline): Promise<void> {
        const text = `${JSON.stringify(marker, undefined, 2)}\n`;
        return this.guard.marking(marker.token, () => this.writeFile(MARKER_PATH, text, 0o600, deadline));
    }

    async removeMarker(deadline: Deadline): Promise<void> {
        const values = { FILES: MARKER_PATH, EMPTY_DIRECTORY: MARKER_PATH.slice(0, MARKER_PATH.lastIndexOf("/")) };
        const remove = () => this.change("remove-files", values, "removing the marker", "failed", deadline);
        await this.guard.marking("", remove);
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
        const begin = await this.change("upload-begin", { FILE: path }, stage, "cannot write there", deadline);
        const temporary = begin.toString().trim();
        try {
            this.requirePlain(temporary, stage);
            const sent = await this.shell.take(temporary, content, stage, deadline);
            this.checkSent(stage, sent, expected);
            const values = { TEMPORARY: temporary, FILE: path, SIZE: String(sent.size), SHA256: sent.sha256 };
            await this.change("upload-finish", values, stage, "what arrived is not what was sent", deadline);
        } catch (error) {
            // The next upload removes it too, so that a broken connection leaves nothing for good.
            await this.removeFiles([temporary], deadline).catch(() => undefined);
            throw error;
        }
    }

    async downloadExecutable(url: string, path: string, sha256: string | undefined, deadline: Deadline): Promise<void> {
        if (/[\n\r]/.test(url)) throw new InputError({ stage: "downloading", what: "the address holds a line break" });
        const values = { URL: url, FILE: path, SHA256: sha256?.toLowerCase() ?? "" };
        await this.change("download", values, `downloading ${path}`, "failed", deadline);
    }

    async createJoinToken(
        { k0sPath, dataDir, role, expirySeconds }: TokenRequest,
        deadline: Deadline,
    ): Promise<{ readonly token: string; readonly id: string }> {
        const stage = "creating a join token";
        const values = { K0S: k0sPath, DATA_DIR: dataDir, ROLE: role, EXPIRY: String(expirySeconds) };
        const token = (await this.change("token-create", values, stage, "k0s failed", deadline)).toString().trim();
        try {
            return { token, id: joinTokenId(token) };
        } catch (error) {
            throw this.unexpected(stage, messageOf(error));
        }
    }

    async invalidateJoinToken(k0sPath: string, dataDir: string, id: string, deadline: Deadline): Promise<void> {
        const values = { K0S: k0sPath, DATA_DIR: dataDir, ID: id };
        await this.change("token-invalidate", values, "invalidating the join token", "k0s failed", deadline);
    }

    async installService(k0sPath: string, role: NodeKind, flags: readonly string[], deadline: Deadline): Promise<void> {
        const values = { K0S: k0sPath, ROLE: role, FLAGS: lines(flags, this.address) };
        await this.change("install-service", values, "installing the service", "k0s install failed", deadline);
    }

    async service(action: ServiceAction, role: NodeKind, deadline: Deadline): Promise<void> {
        const values = { ACTION: action, SERVICE: serviceName(role) };
        await this.change("service", values, `${serviceName(role)}: ${action}`, "failed", deadline);
    }

    async backUp(request: BackupRequest, deadline: Deadline): Promise<BackupArchive> {
        const values = backupValues(request, lines(request.files, this.address));
        const answer = await this.change("backup", values, "backing up", "k0s backup failed", deadline);
        return parseBackupAnswer(answer.toString()) ?? Promise.reject(this.unexpected("backing up", "no archive"));
    }

    async reset(
        k0sPath: string,
        dirs: InstallDirs,
        deadline: Deadline,
    ): Promise<{ readonly exitCode: number; readonly output: string }> {
        const stage = "resetting k0s";
        const values = { K0S: k0sPath, ...dirValues(dirs) };
        const answer = (await this.change("reset", values, stage, "failed", deadline)).toString();
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
        const answer = await this.change("clean-up", values, "cleaning up", "failed", deadline);
        return { left: linesOf(answer) };
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

    private change(
        name: ProgramName,
        values: ProgramValues,
        stage: string,
        failure: string,
        deadline: Deadline,
    ): Promise<Buffer> {
        return this.runOn(this.guard, name, values, stage, failure, deadline);
    }
}
