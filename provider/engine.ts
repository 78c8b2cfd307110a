import { connect } from "node:net";
import { MkeError } from "./errors";

/** How long the engine may take to accept a connection on this machine before it counts as gone. */
const ENGINE_TIMEOUT = 2000;

/** The Pulumi process that asked for this operation has ended; nothing new is started (safety.md 18). */
export class EngineGoneError extends MkeError {
    readonly retryable = false;
}

/**
 * Fails when the engine that started this provider process no longer accepts connections: its CLI was killed, and
 * whatever ran on would change a cluster that nobody records. The address is the last argument of a dynamic-provider
 * process (pulumi-dynamic-providers.md 1.11); other processes have no engine to lose.
 */
export async function requireEngine(stage: string): Promise<void> {
    const address = engineAddress(process.argv);
    if (address === undefined || (await accepts(address))) return;
    engineIsGone = true;
    throw new EngineGoneError({
        stage,
        what: "not started, because the Pulumi CLI that asked for it has ended",
        advice: "Run `pulumi up` again (after `pulumi cancel`, if the engine asks for it): it picks up what is half done.",
    });
}

let engineIsGone = false;
let operations = 0;

/** Runs one of Pulumi's operations. When the engine has gone, the process ends with the last of them. */
export async function asOperation<T>(operation: () => Promise<T>): Promise<T> {
    operations += 1;
    try {
        return await operation();
    } finally {
        operations -= 1;
        // Nobody is left to answer to, and nobody else would end this process.
        if (engineIsGone && operations === 0 && isProviderProcess()) setImmediate(() => process.exit(1));
    }
}

function isProviderProcess(): boolean {
    return engineAddress(process.argv) !== undefined;
}

interface Address {
    readonly host: string;
    readonly port: number;
}

export function engineAddress(argv: readonly string[]): Address | undefined {
    if (!argv[1]?.replaceAll("\\", "/").includes("/cmd/dynamic-provider")) return undefined;
    const match = /^(?<host>[^:]+):(?<port>\d+)$/.exec(argv.at(-1) ?? "");
    return match?.groups ? { host: match.groups["host"] ?? "", port: Number(match.groups["port"]) } : undefined;
}

function accepts({ host, port }: Address): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ host, port, timeout: ENGINE_TIMEOUT });
        const settle = (alive: boolean): void => {
            socket.destroy();
            resolve(alive);
        };
        socket.once("connect", () => settle(true));
        socket.once("error", () => settle(false));
        socket.once("timeout", () => settle(false));
    });
}
