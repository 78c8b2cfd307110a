import { readdirSync, readFileSync } from "node:fs";

/** Shorter pieces of a key could be anything. */
const LEAST_PIECE = 16;
/** Every OpenSSH key without a passphrase begins so. */
const COMMON = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU";

/** Secrets that a test planted, and whether they turn up somewhere in any form. */
export class Planted {
    private readonly forms: { readonly name: string; readonly form: string }[] = [];

    constructor(secrets: Readonly<Record<string, string>> = {}) {
        for (const [name, secret] of Object.entries(secrets)) this.add(name, secret);
    }

    add(name: string, secret: string): void {
        for (const form of formsOf(secret)) this.forms.push({ name, form });
    }

    /** Names of the secrets that are in the text. */
    in(text: string): string[] {
        return [...new Set(this.forms.filter(({ form }) => text.includes(form)).map(({ name }) => name))];
    }
}

/** As it is, line by line, as JSON, in base64 at any offset, in hexadecimal and in an address. */
function formsOf(secret: string): Set<string> {
    const isOwn = (line: string): boolean => !line.startsWith("-----") && !line.startsWith(COMMON);
    const lines = secret.split("\n").filter((line) => line.length >= LEAST_PIECE && isOwn(line));
    const pieces = lines.length > 1 ? lines : [secret];
    return new Set(
        pieces.flatMap((piece) => [
            piece,
            JSON.stringify(piece).slice(1, -1),
            JSON.stringify(JSON.stringify(piece).slice(1, -1)).slice(1, -1),
            encodeURIComponent(piece),
            Buffer.from(piece).toString("hex"),
            ...[0, 1, 2].map((offset) => innerBase64(piece, offset)),
        ]),
    );
}

/** Base64 of whatever has the piece at that offset; without the characters that its neighbours share. */
function innerBase64(piece: string, offset: number): string {
    const text = Buffer.from(" ".repeat(offset) + piece).toString("base64");
    return text.slice(offset === 0 ? 0 : 4, text.length - 4);
}

/** Looks, while it runs, at command lines and environments of all processes of this machine that may be read. */
export class ProcessWatch {
    private readonly found = new Set<string>();
    private readonly seen = new Set<string>();
    private readonly timer: NodeJS.Timeout;

    constructor(
        private readonly planted: Planted,
        every = 100,
    ) {
        this.timer = setInterval(() => this.look(), every);
    }

    /** How many different command lines there were, and `<secret> in <file>` for what was found. */
    end(): { readonly commandLines: number; readonly found: readonly string[] } {
        clearInterval(this.timer);
        return { commandLines: this.seen.size, found: [...this.found] };
    }

    private look(): void {
        for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
            const line = read(`/proc/${pid}/cmdline`);
            this.take("cmdline", line);
            // The environment of a process rarely changes: one look at each command line of each process.
            if (!this.seen.has(`${pid} ${line}`)) this.take("environ", read(`/proc/${pid}/environ`));
            this.seen.add(`${pid} ${line}`);
        }
    }

    private take(where: string, text: string): void {
        for (const name of this.planted.in(text)) this.found.add(`${name} in ${where}`);
    }
}

/** Empty for a process that has ended, or is another user's. */
function read(path: string): string {
    try {
        return readFileSync(path, "utf8");
    } catch {
        return "";
    }
}
