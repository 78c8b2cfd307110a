import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const KEPT_OUTPUT = 20_000;
const STOP_LIMIT = 5000;

/** A program from the folder in LAB_BIN or from PATH; undefined where there is none. */
export function findProgram(name: string): string | undefined {
    const folders = [process.env["LAB_BIN"] ?? "", ...(process.env["PATH"] ?? "").split(delimiter)];
    return folders
        .filter((folder) => folder !== "")
        .map((folder) => join(folder, name))
        .find(isExecutable);
}

/** True for a file that this user may run. */
export function isExecutable(path: string): boolean {
    try {
        accessSync(path, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}

/** A server a test started. `stop` ends it and waits for that. */
export class RunningProgram {
    private output = "";
    private readonly child: ChildProcess;
    private readonly ended: Promise<void>;

    constructor(
        private readonly path: string,
        args: readonly string[],
    ) {
        this.child = spawn(path, args, { stdio: ["ignore", "pipe", "pipe"] });
        const keep = (chunk: Buffer): void => {
            this.output = (this.output + chunk.toString()).slice(-KEPT_OUTPUT);
        };
        this.child.stdout?.on("data", keep);
        this.child.stderr?.on("data", keep);
        this.ended = new Promise((resolve) => this.child.once("close", () => resolve()));
    }

    get pid(): number {
        return this.child.pid ?? 0;
    }

    /** Asks until the answer is true; fails with the program's output when it ended or the time is over. */
    async until(ready: () => Promise<boolean>, milliseconds: number): Promise<void> {
        const end = performance.now() + milliseconds;
        while (!(await ready().catch(() => false))) {
            if (this.child.exitCode !== null || performance.now() > end) {
                throw new Error(`${this.path} did not become ready:\n${this.output}`);
            }
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    }

    async stop(): Promise<void> {
        if (this.child.exitCode !== null || this.child.signalCode !== null) return;
        // a program that a test suspended would not notice otherwise
        this.child.kill("SIGCONT");
        this.child.kill("SIGTERM");
        const timer = setTimeout(() => this.child.kill("SIGKILL"), STOP_LIMIT);
        await this.ended;
        clearTimeout(timer);
    }

    suspend(): void {
        this.child.kill("SIGSTOP");
    }

    resume(): void {
        this.child.kill("SIGCONT");
    }
}

export function temporaryFolder(name: string): { readonly path: string; remove(): void } {
    const path = mkdtempSync(join(tmpdir(), `${name}-`));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Below the ports that a system gives to outgoing connections and to servers that ask for any (32768, on macOS 49152): of those
 * a process that runs beside this one may be given a port that was free a moment ago.
 */
const LOWEST_PORT = 10_000;
/** Ports of one process; processes that were started one after the other have different ones. */
const PORTS_OF_PROCESS = 100;
const SHARES = 200;
let asked = 0;

/** Ports of loopback where nobody listens, and nobody will who does not ask for just this port. */
export async function freePorts(count: number): Promise<number[]> {
    const ports: number[] = [];
    for (let tries = 0; ports.length < count; tries += 1) {
        if (tries === PORTS_OF_PROCESS) throw new Error(`no ${count} ports are free`);
        asked += 1;
        const port = LOWEST_PORT + (process.pid % SHARES) * PORTS_OF_PROCESS + (asked % PORTS_OF_PROCESS);
        if (await isFree(port)) ports.push(port);
    }
    return ports;
}

export async function freePort(): Promise<number> {
    const [port = 0] = await freePorts(1);
    return port;
}

function isFree(port: number): Promise<boolean> {
    const server = createServer();
    return new Promise((resolve) => {
        server.once("error", () => resolve(false));
        server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
}
