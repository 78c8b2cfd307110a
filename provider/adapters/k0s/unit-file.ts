import { splitCommandLine } from "../../facts/unit-command";
import type { NodeKind } from "../../inputs";

/** How the host starts services. */
export type Init = "systemd" | "openrc";

/** Where `k0s install` writes the definition of a service (k0s 1.36.3, its source). */
export function unitPath(init: Init, role: NodeKind): string {
    return init === "systemd" ? `/etc/systemd/system/k0s${role}.service` : `/etc/init.d/k0s${role}`;
}

/** Lines that hold the command: systemd's `ExecStart=`, OpenRC's `command_args="…"`. The last one counts, as for systemd. */
const COMMANDS: Readonly<Record<Init, RegExp>> = {
    systemd: /^(?<before>ExecStart=)(?<command>[^\n]*\S)(?<after>[ \t]*)$/gm,
    openrc: /^(?<before>command_args=")(?<command>[^\n]*)(?<after>"[ \t]*)$/gm,
};

/**
 * argv of the service in this file, without the program; undefined where it has no single line with a command that can be
 * exchanged. Whole, where the host probe cuts what may be secret.
 */
export function argumentsIn(content: string, init: Init): string[] | undefined {
    const command = commandIn(content, init);
    if (command === undefined) return undefined;
    const args = splitCommandLine(command);
    return init === "systemd" ? args.slice(1) : args;
}

/** The same file with other arguments; nothing else in it changes, nor does the spelling of those that stay. */
export function withArguments(content: string, init: Init, args: readonly string[]): string {
    const command = commandIn(content, init) ?? "";
    const spelled = wordsIn(command);
    const program = init === "systemd" ? spelled.slice(0, 1) : [];
    const known = new Map(spelled.slice(program.length).map((word) => [splitCommandLine(word)[0] ?? "", word]));
    const words = [...program, ...args.map((arg) => known.get(arg) ?? QUOTES[init](arg))];
    // A function: `$` means something in a replacement's text.
    return content.replace(COMMANDS[init], (_line, before: string, _command: string, after: string) => {
        return `${before}${words.join(" ")}${after}`;
    });
}

/** As `k0s install` writes an argument; what would mean something to the reader is escaped besides. */
const QUOTES: Readonly<Record<Init, (arg: string) => string>> = {
    systemd: (arg) =>
        arg
            .replace(/[\\"']/g, "\\$&")
            .replaceAll("%", "%%")
            .replaceAll(" ", "\\x20")
            .replaceAll("\t", "\\x09"),
    openrc: (arg) => `'${arg.replace(/[\\"$`]/g, "\\$&")}'`,
};

function commandIn(content: string, init: Init): string | undefined {
    const lines = [...content.matchAll(COMMANDS[init])];
    const command = lines[0]?.groups?.["command"];
    // A line that goes on is not one to exchange.
    return lines.length !== 1 || command?.endsWith("\\") === true ? undefined : command;
}

/** The words of a command, each as it is spelled. */
function wordsIn(command: string): string[] {
    return command.match(/(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'\\])+/g) ?? [];
}
