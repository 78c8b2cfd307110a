import type { Readable } from "node:stream";
import type { ClientChannel } from "ssh2";
import type { MkeError } from "../../errors";

/** How a remote command ended. */
export interface ExitStatus {
    /** undefined: it was ended by a signal, or the server did not say. */
    readonly code: number | undefined;
    readonly signal: string | undefined;
}

/** A command that runs on a host. */
export interface RemoteCommand {
    readonly channel: ClientChannel;
    /** Resolves when the channel has closed. */
    readonly exit: Promise<ExitStatus>;
}

/** Resolves when the channel has closed. */
export function exitOf(channel: ClientChannel): Promise<ExitStatus> {
    return new Promise((resolve) => {
        let status: ExitStatus = { code: undefined, signal: undefined };
        channel.on("exit", (code: number | null, signal?: string) => {
            status = { code: code ?? undefined, signal };
        });
        channel.once("close", () => resolve(status));
    });
}

/** A promise that an abort rejects, together with the function that does it. */
export class Abort {
    readonly promise: Promise<never>;
    private reject: (error: MkeError) => void = () => undefined;

    constructor() {
        this.promise = new Promise((_, reject) => (this.reject = reject));
        // Aborting something that nobody waits for any more is fine.
        this.promise.catch(() => undefined);
    }

    readonly abort = (error: MkeError): void => this.reject(error);
}

/** Keeps the last `limit` bytes of what a stream says. */
export class Tail {
    private kept = Buffer.alloc(0);

    constructor(
        stream: Readable,
        private readonly limit: number,
    ) {
        stream.on("data", (chunk: Buffer) => {
            const all = Buffer.concat([this.kept, chunk]);
            this.kept = all.subarray(Math.max(0, all.length - this.limit));
        });
    }

    toString(): string {
        return this.kept.toString();
    }
}
