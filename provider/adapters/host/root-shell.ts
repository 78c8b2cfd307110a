import { createHash, randomBytes } from "node:crypto";
import { PassThrough, Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ClientChannel } from "ssh2";
import type { Deadline } from "../../deadline";
import { CommandError, ConnectionError, MkeError } from "../../errors";
import type { SshEndpoint } from "../ssh/endpoint";
import { Abort, Tail, type ExitStatus } from "../ssh/run";
import { commandFor, type CommandLine, type RemoteTask, type RootAccess } from "./command-line";
import { decodeResult, encodeProgram, hasBegun, type ProgramName, type ProgramValues } from "./program";
import { programBody } from "./scripts";

/** No program answers more; a host that does is broken. */
const MAX_OUTPUT = 16 * 1024 * 1024;

const STDERR_KEPT = 64 * 1024;

export interface ProgramOutcome {
    readonly exitCode: number;
    readonly stdout: Buffer;
    readonly stderr: string;
}

/** A task that has started, as root. */
interface RunningTask {
    readonly channel: ClientChannel;
    readonly stderr: Tail;
    readonly exit: Promise<ExitStatus>;
    readonly abort: Abort;
}

/** Runs tasks as root on one host: directly, or through sudo with or without a password. */
export class RootShell {
    private readonly access: RootAccess;

    constructor(
        private readonly endpoint: SshEndpoint,
        private readonly host: string,
        private readonly user: string,
        private readonly sudoPassword: string | undefined,
    ) {
        this.access = user === "root" ? "root" : sudoPassword === undefined ? "sudo" : "sudo-with-password";
    }

    /**
     * Runs a program of the vocabulary. An exit code other than 0 is an outcome, not an error. Throws ConnectionError
     * (retryable) where the end was not seen: the program may have run or not.
     */
    async run(name: ProgramName, values: ProgramValues, stage: string, deadline: Deadline): Promise<ProgramOutcome> {
        const task = await this.start({ kind: "program" }, stage, deadline);
        const stdout: Buffer[] = [];
        let length = 0;
        task.channel.on("data", (chunk: Buffer) => {
            length += chunk.length;
            if (length <= MAX_OUTPUT) stdout.push(chunk);
            else task.abort.abort(this.tooMuch(stage));
        });
        task.channel.resume();
        task.channel.end(encodeProgram(name, values, programBody(name), deadline.remaining / 1000));
        const status = await this.orAbort(task, task.exit);
        const output = Buffer.concat(stdout);
        const result = decodeResult(output);
        if (result !== undefined) return { ...result, stderr: task.stderr.toString() };
        if (!hasBegun(output) && status.code !== undefined) {
            throw this.noRoot(stage, status, task.stderr.toString(), output.toString());
        }
        throw this.cutOff(stage);
    }

    /** Streams a file off the host. The stream fails unless exactly `size` bytes came. */
    async send(path: string, size: number, stage: string, deadline: Deadline): Promise<Readable> {
        const task = await this.start({ kind: "send", path }, stage, deadline);
        const content = new PassThrough();
        // It may fail before its reader listens, who then finds it failed.
        content.on("error", () => undefined);
        let seen = 0;
        const counter = new Transform({
            transform: (chunk: Buffer, _encoding, done) => {
                seen += chunk.length;
                done(null, chunk);
            },
            flush: (done) => done(seen === size ? null : this.cutOff(stage)),
        });
        task.abort.promise.catch((error: unknown) => content.destroy(error as Error));
        // The reader of `content` is told; there is nobody else.
        pipeline(task.channel, counter, content).catch(() => undefined);
        task.channel.end();
        return content;
    }

    /**
     * Streams into a file that a program has begun on the host; fails where it is not there, as on another machine. Answers the
     * size and sha256 (hex) of what was sent.
     */
    async take(
        path: string,
        content: Readable,
        stage: string,
        deadline: Deadline,
    ): Promise<{ readonly size: number; readonly sha256: string }> {
        const task = await this.start({ kind: "take", path }, stage, deadline);
        const hash = createHash("sha256");
        let size = 0;
        const measure = new Transform({
            transform: (chunk: Buffer, _encoding, done) => {
                size += chunk.length;
                hash.update(chunk);
                done(null, chunk);
            },
        });
        task.channel.resume();
        task.abort.promise.catch((error: unknown) => measure.destroy(error as Error));
        // A program that ends early (the disk is full) reads no more, and the stream would wait for ever.
        await this.orAbort(task, Promise.race([this.pour(content, measure, task, stage), task.exit]));
        const status = await this.orAbort(task, task.exit);
        if (status.code !== 0) {
            throw new CommandError({
                stage,
                host: this.host,
                what: `cannot write ${path}, or it is not there any more`,
                exitCode: status.code,
                output: task.stderr.toString(),
            });
        }
        return { size, sha256: hash.digest("hex") };
    }

    private async pour(content: Readable, measure: Transform, task: RunningTask, stage: string): Promise<void> {
        try {
            await pipeline(content, measure, task.channel);
        } catch (error) {
            if (error instanceof MkeError) throw error;
            // The disk is full, or such: the program says it when it ends, unless the content failed us.
            if (content.errored === null) return;
            throw new ConnectionError({
                stage,
                host: this.host,
                what: `the content to send ended early: ${content.errored.message}`,
                cause: error,
            });
        }
    }

    private async start(task: RemoteTask, stage: string, deadline: Deadline): Promise<RunningTask> {
        const command = commandFor(task, this.access, randomBytes(8).toString("hex"));
        const abort = new Abort();
        const { channel, exit } = await this.endpoint.exec(command.line, deadline, abort.abort);
        const running = { channel, stderr: new Tail(channel.stderr, STDERR_KEPT), exit, abort };
        if (command.ready !== undefined) await this.handshake(running, command, command.ready, stage);
        return running;
    }

    /**
     * Waits until the task says that it runs; sudo's prompt is answered on the way. The password is written only while
     * sudo waits for it, and the program only to a shell that said it is there, so neither can take the other's place:
     * not with a cached ticket, not with NOPASSWD.
     */
    private async handshake(task: RunningTask, command: CommandLine, ready: string, stage: string): Promise<void> {
        const { channel } = task;
        let heard = Buffer.alloc(0);
        let prompts = 0;
        let asked = "";
        let started: () => void = () => undefined;
        const start = new Promise<void>((resolve) => (started = resolve));
        const onOutput = (chunk: Buffer): void => {
            heard = Buffer.concat([heard, chunk]).subarray(-MAX_OUTPUT);
            const at = heard.indexOf(`${ready}\n`);
            if (at < 0) return;
            channel.pause();
            channel.off("data", onOutput);
            const rest = heard.subarray(at + ready.length + 1);
            if (rest.length > 0) channel.unshift(rest);
            started();
        };
        const onError = (chunk: Buffer): void => {
            asked += chunk.toString("latin1");
            const seen = command.prompt === undefined ? 0 : asked.split(command.prompt).length - 1;
            if (seen === prompts) return;
            prompts = seen;
            if (prompts === 1) channel.write(`${this.sudoPassword ?? ""}\n`);
            else task.abort.abort(this.wrongPassword(stage));
        };
        channel.on("data", onOutput);
        channel.stderr.on("data", onError);
        try {
            const ended = task.exit.then((status) => {
                throw this.noRoot(stage, status, task.stderr.toString(), heard.toString());
            });
            await this.orAbort(task, Promise.race([start, ended]));
        } finally {
            channel.stderr.off("data", onError);
        }
    }

    private async orAbort<T>(task: RunningTask, promise: Promise<T>): Promise<T> {
        promise.catch(() => undefined);
        try {
            return await Promise.race([promise, task.abort.promise]);
        } catch (error) {
            task.channel.on("error", () => undefined);
            task.channel.close();
            throw error;
        }
    }

    private noRoot(stage: string, status: ExitStatus, stderr: string, stdout: string): MkeError {
        if (status.code === undefined) return this.cutOff(stage);
        const needsPassword = /password is required|terminal is required|no tty present/i.test(stderr);
        const advice = needsPassword
            ? `Set connection.sudoPassword, or allow ${this.user} to use sudo without a password.`
            : this.access === "root"
              ? `Is sh in the PATH of ${this.user}, and may it run commands?`
              : `${this.user} must be able to become root through sudo.`;
        return new CommandError({
            stage,
            host: this.host,
            what: needsPassword ? `sudo asks ${this.user} for a password` : `${this.user} cannot run a shell as root`,
            exitCode: status.code,
            output: stderr.trim() === "" ? stdout : stderr,
            advice,
        });
    }

    private wrongPassword(stage: string): CommandError {
        return new CommandError({
            stage,
            host: this.host,
            what: `sudo does not accept the password of ${this.user}`,
            advice: "Check connection.sudoPassword.",
        });
    }

    private cutOff(stage: string): ConnectionError {
        return new ConnectionError({ stage, host: this.host, what: "the connection ended before the command did" });
    }

    private tooMuch(stage: string): CommandError {
        return new CommandError({ stage, host: this.host, what: "the host answers without end" });
    }
}
