import { connect } from "node:net";
import { MkeError } from "./errors";

/** Milliseconds within which the kernel of this machine refuses a connection that nobody listens for. */
const REFUSAL_TIME = 2000;
/** How often a process without anything to do looks whether its engine is still there; milliseconds. */
const WATCH_INTERVAL = 5000;

/** The Pulumi process that asked for this operation has ended; nothing new is started (safety.md 18). */
export class EngineGoneError extends MkeError {
    readonly retryable = false;
}

/**
 * Fails when nobody listens any more where the engine that started this provider process did: its CLI was killed, and
 * whatever ran on would change a cluster that nobody records. The address is the last argument of a dynamic-provider
 * process (pulumi-dynamic-providers.md 1.11); other processes have no engine to lose. `what`: what does not happen then.
 */
export async function requireEngine(stage: string, what = "not started"): Promise<void> {
    const address = engineAddress(process.argv);
    if (address === undefined || !(await refuses(address))) return;
    engineIsGone = true;
    throw new EngineGoneError({
        stage,
        what: `${what}, because the Pulumi CLI that asked for it has ended`,
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
        if (engineIsGone) setImmediate(endIfIdle);
    }
}

/** From now on this process ends by itself when its engine has gone and nothing is to be brought to an end: nobody else ends it. */
export function watchEngine(): void {
    const address = engineAddress(process.argv);
    if (address === undefined) return;
    const isGone = twiceInARow(() => refuses(address));
    const look = async (): Promise<void> => {
        engineIsGone ||= await isGone();
        if (engineIsGone) endIfIdle();
    };
    setInterval(() => void look(), WATCH_INTERVAL).unref();
}

/** True with the second look in a row that is: a process that ends by mistake takes the whole update with it. */
export function twiceInARow(look: () => Promise<boolean>): () => Promise<boolean> {
    let count = 0;
    return async () => {
        count = (await look()) ? count + 1 : 0;
        return count >= 2;
    };
}

function endIfIdle(): void {
    if (operations === 0 && engineAddress(process.argv) !== undefined) process.exit(1);
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

/** Any other answer, or none, may have its reason in this process or a machine that is busy. */
function refuses({ host, port }: Address): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ host, port, timeout: REFUSAL_TIME });
        const settle = (refused: boolean): void => {
            socket.destroy();
            resolve(refused);
        };
        socket.once("connect", () => settle(false));
        socket.once("error", ({ code }: NodeJS.ErrnoException) => settle(code === "ECONNREFUSED"));
        socket.once("timeout", () => settle(false));
    });
}
