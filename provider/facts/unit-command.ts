/**
 * Splits a service's command line into its arguments: systemd's `ExecStart=` as k0s writes it (arguments in double
 * quotes, blanks of the path as `\x20`, `%` doubled) and OpenRC's `command` with `command_args` (single quotes).
 */
export function splitCommandLine(line: string): string[] {
    const args: string[] = [];
    let current: string | undefined;
    let quote: string | undefined;
    for (let at = 0; at < line.length; at += 1) {
        const char = line.charAt(at);
        if (char === "\\" && quote !== "'" && at + 1 < line.length) {
            const [, hex] = /^x([0-9a-fA-F]{2})/.exec(line.slice(at + 1)) ?? [];
            current = (current ?? "") + (hex === undefined ? line.charAt(at + 1) : charOf(hex));
            at += hex === undefined ? 1 : 3;
        } else if (quote !== undefined) {
            if (char === quote) quote = undefined;
            else current = (current ?? "") + char;
        } else if (char === '"' || char === "'") {
            quote = char;
            current ??= "";
        } else if (/\s/.test(char)) {
            if (current !== undefined) args.push(current);
            current = undefined;
        } else {
            current = (current ?? "") + char;
        }
    }
    if (current !== undefined) args.push(current);
    return args.map((arg) => arg.replaceAll("%%", "%")).map((arg, index) => (index === 0 ? withoutPrefix(arg) : arg));
}

/** systemd allows `-`, `@`, `:`, `+` and `!` before the program. */
function withoutPrefix(program: string): string {
    return program.replace(/^[-@:+!]+(?=\/)/, "");
}

function charOf(hex: string): string {
    return String.fromCharCode(parseInt(hex, 16));
}
