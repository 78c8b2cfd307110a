/**
 * The command lines a host sees. They hold plain words only, so that sh, bash, csh and fish as login shells read them
 * alike; all else travels on standard input. Other than programs there are two: one sends a file's content, one takes it.
 *
 *     sh -s                                                       a program, the user is root
 *     sudo -n sh -s                                               a program, sudo needs no password
 *     [sudo -n] sh -c 'echo <ready>; exec cat <path>'             a file's content follows the line <ready>
 *     [sudo -n] sh -c 'echo <ready>; test -f <path> && exec cat ><path>'
 *                                                                 takes a file's content once it has said <ready>; the file
 *                                                                 was begun by a program, so there is none on another machine
 *     sudo -S -p <prompt> sh -c 'echo <ready>; exec …'            any of these, where a sudo password is known
 */

export type RemoteTask = { readonly kind: "program" } | { readonly kind: "send" | "take"; readonly path: string };

export type RootAccess = "root" | "sudo" | "sudo-with-password";

export interface CommandLine {
    readonly line: string;
    /** Printed on stdout, as a line, when the task starts. undefined: it starts at once. */
    readonly ready: string | undefined;
    /** Printed on stderr when sudo wants its password. Nothing else may be answered to. */
    readonly prompt: string | undefined;
}

/** Safe to stand unquoted inside single quotes in every shell. */
const PLAIN_PATH = /^\/[A-Za-z0-9/._+@%=-]*$/;

export function isPlainPath(path: string): boolean {
    return PLAIN_PATH.test(path);
}

/** `nonce`: letters and digits, new for each command, so that no banner can be taken for an answer. */
export function commandFor(task: RemoteTask, access: RootAccess, nonce: string): CommandLine {
    if (task.kind === "program" && access !== "sudo-with-password") {
        return { line: access === "root" ? "sh -s" : "sudo -n sh -s", ready: undefined, prompt: undefined };
    }
    const ready = `pulumi-mke-ready-${nonce}`;
    const shell = `sh -c 'echo ${ready}; ${innerCommand(task)}'`;
    if (access === "root") return { line: shell, ready, prompt: undefined };
    if (access === "sudo") return { line: `sudo -n ${shell}`, ready, prompt: undefined };
    const prompt = `pulumi-mke-password-${nonce}`;
    return { line: `sudo -S -p ${prompt} ${shell}`, ready, prompt };
}

export interface DecodedCommand {
    readonly task: RemoteTask;
    readonly access: RootAccess;
    readonly ready: string | undefined;
    readonly prompt: string | undefined;
}

/** Reads what `commandFor` wrote: for the simulation. undefined: something else. */
export function decodeCommand(line: string): DecodedCommand | undefined {
    const parts = /^(?:(sudo -n )|sudo -S -p (\S+) )?(?:(sh -s)|sh -c 'echo (\S+); ([^']+)')$/.exec(line);
    if (parts === null) return undefined;
    const [, sudo, prompt, bareProgram, ready, inner = ""] = parts;
    const access = prompt !== undefined ? "sudo-with-password" : sudo !== undefined ? "sudo" : "root";
    const task = bareProgram === undefined ? decodeInner(inner) : ({ kind: "program" } as const);
    return task === undefined ? undefined : { task, access, ready, prompt };
}

function innerCommand(task: RemoteTask): string {
    if (task.kind === "program") return "exec sh -s";
    const { kind, path } = task;
    if (!isPlainPath(path)) throw new Error(`a path in a command line must be plain: ${path}`);
    return kind === "send" ? `exec cat ${path}` : `test -f ${path} && exec cat >${path}`;
}

function decodeInner(inner: string): RemoteTask | undefined {
    const path = /(\/\S*)$/.exec(inner)?.[1] ?? "/";
    const tasks: RemoteTask[] = [{ kind: "program" }, { kind: "send", path }, { kind: "take", path }];
    return tasks.find((task) => innerCommand(task) === inner);
}
