/**
 * The wire format of a remote program, a POSIX sh text for the standard input of `sh -s`:
 *
 *     # pulumi-mke:<name>
 *     KEY='value'
 *     # end of values
 *     <frame around the body>
 *
 * A value may span lines; a single quote in it stands as `'\''`. What the program prints comes back between
 * `===== pulumi-mke begin` and `===== pulumi-mke end <exit code>`, so that a profile may print what it likes before it
 * and a logout script after it.
 */

export const PROGRAM_NAMES = [
    "probe",
    "read-file",
    "write-file",
    "remove-files",
    "exists",
    "file-size",
    "sha256",
    "upload-begin",
    "upload-finish",
    "download",
    "k0s-version",
    "token-create",
    "token-invalidate",
    "install-service",
    "service",
    "service-state",
    "journal",
    "backup",
    "reset",
    "clean-up",
    "describe-files",
    "list-files",
    "make-directories",
    "own-files",
    "unknown-names",
    "remove-material",
    "selinux-rules",
    "selinux-label",
    "find-units",
    "unit",
    "resolve",
] as const;

export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** They change nothing, so that it does not matter on which machine they run; the decision made on their answer is bound. */
const LOOKING: ReadonlySet<ProgramName> = new Set([
    "probe",
    "read-file",
    "exists",
    "file-size",
    "sha256",
    "k0s-version",
    "service-state",
    "journal",
    "describe-files",
    "list-files",
    "unknown-names",
    "selinux-rules",
    "find-units",
    "resolve",
] as const);

export function onlyLooks(name: ProgramName): boolean {
    return LOOKING.has(name);
}

export type ProgramValues = Readonly<Record<string, string>>;

export interface DecodedProgram {
    readonly name: string;
    readonly values: ProgramValues;
    /** All after the values, frame included. */
    readonly body: string;
}

export interface ProgramResult {
    readonly exitCode: number;
    readonly stdout: Buffer;
}

const NAME_PREFIX = "# pulumi-mke:";
const END_OF_VALUES = "# end of values\n";
const BEGIN = "===== pulumi-mke begin\n";
const END = "\n===== pulumi-mke end ";
const KEY = /^[A-Z][A-Z0-9_]*$/;

/**
 * The body is a function: a shell runs it only once it has read all of it, so a text cut off on the way does nothing.
 * The program itself reads nothing from the stream it came in. `limitSeconds`: the host ends it by then, with all it
 * started, also when the connection is gone; sshd alone would let it run on.
 */
export function encodeProgram(name: string, values: ProgramValues, body: string, limitSeconds?: number): string {
    return [
        `${NAME_PREFIX}${name}`,
        ...Object.entries(values).map(([key, value]) => assignment(key, value)),
        END_OF_VALUES + "PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C",
        "export PATH LC_ALL",
        "umask 022",
        "pulumi_mke_program() {",
        body,
        "}",
        ...(limitSeconds === undefined ? [] : [watchdog(limitSeconds)]),
        "printf '===== pulumi-mke begin\\n'",
        "(set -eu; pulumi_mke_program) </dev/null",
        "printf '\\n===== pulumi-mke end %s\\n' \"$?\"",
        ...(limitSeconds === undefined ? [] : ['kill "$pulumi_mke_watchdog" 2>/dev/null']),
        "exit 0",
        "",
    ].join("\n");
}

/** Reads what `encodeProgram` wrote, strictly. Throws on anything else. */
export function decodeProgram(text: string): DecodedProgram {
    const firstEnd = text.indexOf("\n");
    if (firstEnd < 0 || !text.startsWith(NAME_PREFIX)) throw new Error("not a pulumi-mke program");
    const values: Record<string, string> = {};
    let at = firstEnd + 1;
    while (!text.startsWith(END_OF_VALUES, at)) {
        const { key, value, next } = readAssignment(text, at);
        values[key] = value;
        at = next;
    }
    return { name: text.slice(NAME_PREFIX.length, firstEnd), values, body: text.slice(at + END_OF_VALUES.length) };
}

/** What a shell prints that ran a program: for the simulation. */
export function encodeResult(exitCode: number, stdout: string | Buffer): Buffer {
    return Buffer.concat([Buffer.from(BEGIN), Buffer.from(stdout), Buffer.from(`${END}${exitCode}\n`)]);
}

/** undefined: the end was never printed, so the program did not run to its end. */
export function decodeResult(output: Buffer): ProgramResult | undefined {
    const begin = output.indexOf(BEGIN);
    const end = output.lastIndexOf(END);
    if (begin < 0 || end < begin + BEGIN.length - 1) return undefined;
    const code = /^(\d+)\n/.exec(output.subarray(end + END.length, end + END.length + 8).toString("latin1"));
    if (code === null) return undefined;
    const start = begin + BEGIN.length;
    return { exitCode: Number(code[1]), stdout: output.subarray(start, Math.max(start, end)) };
}

/** True once the body has started: from here on it may have changed something. */
export function hasBegun(output: Buffer): boolean {
    return output.includes(BEGIN);
}

/** Holds none of the channel's streams, or sshd would wait for it. Group 0 is what this shell and its children are in. */
function watchdog(seconds: number): string {
    const sleep = `sleep ${Math.ceil(seconds)} & s=$!; trap 'kill "$s"; exit' TERM; wait "$s" && trap - TERM && kill -TERM 0`;
    return `(${sleep}) </dev/null >/dev/null 2>&1 &\npulumi_mke_watchdog=$!`;
}

function assignment(key: string, value: string): string {
    if (!KEY.test(key)) throw new Error(`not a name for a program's value: ${key}`);
    if (value.includes("\0")) throw new Error(`the value of ${key} contains a NUL character`);
    return `${key}='${value.replaceAll("'", "'\\''")}'`;
}

function readAssignment(text: string, start: number): { key: string; value: string; next: number } {
    const equals = text.indexOf("='", start);
    const key = text.slice(start, Math.max(start, equals));
    if (!KEY.test(key)) throw new Error("a program's values must be lines KEY='value'");
    let value = "";
    let at = equals + 2;
    for (;;) {
        const quote = text.indexOf("'", at);
        if (quote < 0) throw new Error(`the value of ${key} does not end`);
        value += text.slice(at, quote);
        if (text.startsWith("'\\''", quote)) {
            value += "'";
            at = quote + 4;
        } else if (text[quote + 1] === "\n") {
            return { key, value, next: quote + 2 };
        } else {
            throw new Error(`the value of ${key} is not quoted as it should be`);
        }
    }
}
