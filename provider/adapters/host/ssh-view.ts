import type { Duplex, Readable } from "node:stream";
import type { Deadline } from "../../deadline";
import { CommandError, ConnectionError, InputError, messageOf } from "../../errors";
import type { HostFacts } from "../../facts/host";
import { MARKER_PATH, parseHostProbe } from "../../facts/host-probe";
import type { NodeKind } from "../../inputs";
import type { SshEndpoint } from "../ssh/endpoint";
import { isPlainPath } from "./command-line";
import type { Host, HostView, ProbePaths } from "./index";
import { type MachineGuard, type MachineIdentity, otherMachine } from "./machine";
import { onlyLooks, type ProgramName, type ProgramValues } from "./program";
import type { RootShell } from "./root-shell";
import { lines, linesOf, serviceName } from "./values";

const MAX_FILE = 4 * 1024 * 1024;

/** Within this time a host behind a firewall that drops packets would have answered if it could. */
const REACH_TIME = 5_000;

/** A host over SSH: each method is one program of `scripts/`, or a stream beside one. */
export abstract class SshView implements HostView {
    /** As the first look found it; "" before that. */
    protected machineId = "";

    constructor(
        readonly address: string,
        protected readonly endpoint: SshEndpoint,
        protected readonly shell: RootShell,
    ) {}

    abstract onMachine(machine: MachineIdentity): Host;

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
        const facts = parseHostProbe(answer.toString(), this.address, dataDir, kubeletRootDir);
        this.requireSameMachine(facts);
        return facts;
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

    async exists(path: string, deadline: Deadline): Promise<boolean> {
        const answer = await this.run("exists", { FILE: path }, `looking for ${path}`, "failed", deadline);
        return answer.toString() === "yes";
    }

    async openFile(path: string, deadline: Deadline): Promise<{ readonly size: number; readonly content: Readable }> {
        const stage = `reading ${path}`;
        this.requirePlain(path, stage);
        const answer = (await this.run("file-size", { FILE: path }, stage, "failed", deadline)).toString().trim();
        if (!/^\d+$/.test(answer)) throw this.unexpected(stage, "there is no such file");
        const size = Number(answer);
        return { size, content: await this.shell.send(path, size, stage, deadline) };
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

    /** `guard`: for programs that change the host. */
    protected async runOn(
        guard: MachineGuard | undefined,
        name: ProgramName,
        values: ProgramValues,
        stage: string,
        failure: string,
        deadline: Deadline,
    ): Promise<Buffer> {
        const found = onlyLooks(name) ? undefined : guard;
        const outcome = await this.shell.run(name, { ...values, ...found?.values }, stage, deadline);
        found?.check(outcome, stage, this.address);
        const { exitCode, stdout, stderr } = outcome;
        if (exitCode === 0) return stdout;
        throw new CommandError({ stage, host: this.address, what: failure, exitCode, output: stderr });
    }

    private run(
        name: ProgramName,
        values: ProgramValues,
        stage: string,
        failure: string,
        deadline: Deadline,
    ): Promise<Buffer> {
        return this.runOn(undefined, name, values, stage, failure, deadline);
    }

    /** An address may lead to a copy of the machine, with the same host key. */
    private requireSameMachine({ machineId }: HostFacts): void {
        if (this.machineId !== "" && machineId !== this.machineId) {
            throw otherMachine("probing", this.address, `machine ${machineId}`, `machine ${this.machineId}`);
        }
        this.machineId = machineId;
    }

    protected requirePlain(path: string, stage: string): void {
        if (isPlainPath(path)) return;
        throw new InputError({
            stage,
            host: this.address,
            what: `the path ${JSON.stringify(path)} may hold only letters, digits and / . _ + @ % = -`,
        });
    }

    protected unexpected(stage: string, what: string): CommandError {
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
