import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real ssh-agent with a socket of its own. */
export class TestAgent {
    private constructor(
        private readonly directory: string,
        private readonly daemon: ChildProcess,
    ) {}

    static async start(...keys: readonly string[]): Promise<TestAgent> {
        const directory = mkdtempSync(join(tmpdir(), "mke-agent-"));
        const socket = join(directory, "agent");
        const daemon = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "ignore"] });
        const agent = new TestAgent(directory, daemon);
        // It prints where it listens once it does.
        await new Promise((resolve, reject) => {
            daemon.stdout.once("data", resolve);
            daemon.once("error", reject).once("exit", (code) => reject(new Error(`ssh-agent ended with ${code}`)));
        });
        keys.forEach((key) => agent.add(key));
        return agent;
    }

    get socket(): string {
        return join(this.directory, "agent");
    }

    /** Takes the text of a private key; the agent offers keys in the order in which they came. */
    add(key: string): void {
        const env = { ...process.env, SSH_AUTH_SOCK: this.socket };
        execFileSync("ssh-add", ["-q", "-"], { input: key, env, stdio: ["pipe", "ignore", "pipe"] });
    }

    stop(): void {
        this.daemon.removeAllListeners("exit");
        this.daemon.kill("SIGTERM");
        rmSync(this.directory, { recursive: true, force: true });
    }
}

/** Runs the action with these variables in the environment, also of the processes that it starts. */
export async function withEnvironment<T>(
    values: Readonly<Record<string, string>>,
    action: () => Promise<T>,
): Promise<T> {
    const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, values);
    try {
        return await action();
    } finally {
        for (const [name, value] of before) {
            if (value === undefined) Reflect.deleteProperty(process.env, name);
            else process.env[name] = value;
        }
    }
}
