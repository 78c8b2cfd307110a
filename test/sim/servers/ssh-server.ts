import type { Duplex } from "node:stream";
import { timingSafeEqual } from "node:crypto";
import { type AuthContext, type Connection, type ParsedKey, Server, type ServerChannel, utils } from "ssh2";
import { type DecodedCommand, decodeCommand } from "../../../provider/adapters/host/command-line";
import { decodeProgram, encodeResult } from "../../../provider/adapters/host/program";
import type { SimHost } from "../model/host";
import { runProgram } from "../programs";
import { isUnguarded } from "../programs/guard";
import { serveForwards } from "./forwarding";

const WRONG_PASSWORD = "Sorry, try again.\n";

/** sshd of one simulated host: commands of the provider's vocabulary, and port forwarding. */
export class SshServer {
    private readonly server: Server;
    private readonly connections = new Set<Connection>();

    constructor(
        private readonly host: SimHost,
        private readonly userKey: ParsedKey,
        /** The only one who is let in; undefined: anybody with the key. */
        private readonly user?: string,
    ) {
        this.server = new Server({ hostKeys: [host.hostKey] }, (connection) => this.serve(connection));
    }

    accept(stream: Duplex): void {
        stream.on("error", () => undefined);
        this.server.injectSocket(stream as never);
    }

    /** All its connections break. */
    disconnect(): void {
        for (const connection of this.connections) {
            (connection as unknown as { _sock: Duplex })._sock.destroy();
            connection.end();
        }
    }

    private serve(connection: Connection): void {
        this.connections.add(connection);
        connection.on("close", () => this.connections.delete(connection));
        connection.on("error", () => undefined);
        connection.on("authentication", (context) => this.authenticate(context));
        connection.on("session", (accept) => {
            const session = accept();
            session.on("exec", (acceptExec, reject, { command }) => {
                this.host.commandLines.push(command);
                const decoded = decodeCommand(command);
                if (decoded === undefined) {
                    this.host.world.events.add("problem", `unknown command: ${command}`, { host: this.host.name });
                    return reject();
                }
                this.execute(acceptExec(), decoded);
            });
            session.on("signal", (acceptSignal) => (acceptSignal as (() => void) | undefined)?.());
        });
        serveForwards(connection, this.host.world, this.host);
    }

    private authenticate(context: AuthContext): void {
        if (this.user !== undefined && context.username !== this.user) return context.reject(["publickey"]);
        authenticate(context, this.userKey);
    }

    private execute(channel: ServerChannel, command: DecodedCommand): void {
        channel.on("error", () => undefined);
        const input = new Input(channel);
        this.become(channel, input, command)
            .then((isRoot) => (isRoot ? this.run(channel, input, command) : undefined))
            .catch((error: unknown) => {
                this.host.world.events.add("problem", String((error as Error).stack), { host: this.host.name });
                exit(channel, 126);
            });
    }

    /** sudo, where the host wants a password for it. */
    private async become(channel: ServerChannel, input: Input, { access, prompt }: DecodedCommand): Promise<boolean> {
        const wanted = this.host.options.sudoPassword;
        if (access === "root" || wanted === undefined) return true;
        if (access === "sudo") {
            channel.stderr.write("sudo: a password is required\n");
            exit(channel, 1);
            return false;
        }
        for (let tries = 0; tries < 3; tries += 1) {
            channel.stderr.write(prompt ?? "");
            if ((await input.line()) === wanted) return true;
            channel.stderr.write(WRONG_PASSWORD);
        }
        exit(channel, 1);
        return false;
    }

    private async run(channel: ServerChannel, input: Input, { task, ready }: DecodedCommand): Promise<void> {
        const { host } = this;
        if (ready !== undefined) channel.write(`${ready}\n`);
        if (task.kind === "program") {
            const program = decodeProgram((await input.rest()).toString());
            if (isUnguarded(program))
                host.world.events.add("problem", `${program.name} runs on any machine`, { host: host.name });
            const { exitCode, stdout, stderr } = await runProgram(host, program);
            if (stderr !== "") channel.stderr.write(stderr);
            channel.write(encodeResult(exitCode, stdout));
            exit(channel, 0);
            return;
        }
        host.world.events.add("stream", `${task.kind} ${task.path}`, { host: host.name });
        if (task.kind === "take") {
            const content = await input.rest();
            const isBegun = host.files.isFile(task.path);
            if (isBegun) {
                host.world.act(() => host.files.write(task.path, content, host.files.mode(task.path) ?? 0o644));
            }
            exit(channel, isBegun ? 0 : 1);
            return;
        }
        const content = host.files.read(task.path);
        if (content === undefined) channel.stderr.write(`cat: ${task.path}: No such file or directory\n`);
        else channel.write(content);
        exit(channel, content === undefined ? 1 : 0);
    }
}

/** Standard input of a command: line by line at first, then all of the rest. */
class Input {
    private buffer = Buffer.alloc(0);
    private ended = false;
    private waiting: (() => void)[] = [];

    constructor(channel: ServerChannel) {
        channel.on("data", (chunk: Buffer) => this.wake(() => (this.buffer = Buffer.concat([this.buffer, chunk]))));
        channel.on("end", () => this.wake(() => (this.ended = true)));
        channel.on("close", () => this.wake(() => (this.ended = true)));
    }

    async line(): Promise<string> {
        while (!this.buffer.includes("\n") && !this.ended) await this.more();
        const end = this.buffer.indexOf("\n");
        const line = this.buffer.subarray(0, end < 0 ? this.buffer.length : end).toString();
        this.buffer = this.buffer.subarray(end < 0 ? this.buffer.length : end + 1);
        return line;
    }

    async rest(): Promise<Buffer> {
        while (!this.ended) await this.more();
        return this.buffer;
    }

    private more(): Promise<void> {
        return new Promise((resolve) => this.waiting.push(resolve));
    }

    private wake(change: () => void): void {
        change();
        const { waiting } = this;
        this.waiting = [];
        for (const resolve of waiting) resolve();
    }
}

function exit(channel: ServerChannel, code: number): void {
    channel.exit(code);
    channel.end();
}

/** Whoever has the simulation's key is let in, under any name. */
export function authenticate(context: AuthContext, key: ParsedKey): void {
    if (context.method !== "publickey") return context.reject(["publickey"]);
    const known = key.getPublicSSH();
    const same = context.key.data.length === known.length && timingSafeEqual(context.key.data, known);
    if (!same || context.key.algo !== key.type) return context.reject(["publickey"]);
    if (context.signature !== undefined && context.blob !== undefined) {
        if (!isTrue(key.verify(context.blob, context.signature, context.hashAlgo))) return context.reject();
    }
    context.accept();
}

/** ssh2 answers an error instead of false for a signature it cannot read. */
function isTrue(verdict: unknown): boolean {
    return verdict === true;
}

export function parseKey(text: string): ParsedKey {
    const parsed = utils.parseKey(text);
    if (parsed instanceof Error) throw parsed;
    return Array.isArray(parsed) ? (parsed[0] as ParsedKey) : parsed;
}
