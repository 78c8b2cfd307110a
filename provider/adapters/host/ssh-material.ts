import type { Deadline } from "../../deadline";
import { CommandError, InputError } from "../../errors";
import type { FileFacts, HostMaterial, Names, OwnedPath, SelinuxChange, SelinuxRule } from "./material";
import type { ProgramName, ProgramValues } from "./program";
import { lines, linesOf } from "./values";

/** Runs one program of `scripts/`; fails where it does. */
export type RunProgram = (
    name: ProgramName,
    values: ProgramValues,
    stage: string,
    failure: string,
    deadline: Deadline,
) => Promise<Buffer>;

const DESCRIPTION = /^(file|directory|other) ([0-7]{1,5}) (\S+) (\S+) ([0-9a-f]{64}|-)$/;
const NUMBER = /^\d+$/;

/** `HostMaterial` over SSH. */
export class SshMaterial implements HostMaterial {
    constructor(
        private readonly address: string,
        private readonly run: RunProgram,
    ) {}

    async describe(paths: readonly string[], deadline: Deadline): Promise<readonly FileFacts[]> {
        if (paths.length === 0) return [];
        const stage = "looking at files";
        const answer = await this.run("describe-files", { FILES: this.joined(paths) }, stage, "failed", deadline);
        const described = linesOf(answer);
        if (described.length !== paths.length) throw this.unexpected(stage, `${described.length} answers`);
        return paths.map((path, index) => this.readDescription(stage, path, described[index] ?? ""));
    }

    async list(directory: string, deadline: Deadline): Promise<readonly string[]> {
        const answer = await this.run(
            "list-files",
            { DIRECTORY: directory },
            `listing ${directory}`,
            "failed",
            deadline,
        );
        return linesOf(answer);
    }

    async makeDirectories(directories: readonly Pick<FileFacts, "path" | "mode">[], deadline: Deadline): Promise<void> {
        if (directories.length === 0) return;
        const wanted = directories.map(({ path, mode }) => `${octal(mode)} ${path}`);
        await this.run(
            "make-directories",
            { DIRECTORIES: this.joined(wanted) },
            "making directories",
            "failed",
            deadline,
        );
    }

    async own(files: readonly OwnedPath[], deadline: Deadline): Promise<void> {
        if (files.length === 0) return;
        const owners = files.map(({ path, mode, user, group }) => `${octal(mode)} ${user}:${group} ${path}`);
        await this.run("own-files", { OWNERS: this.joined(owners) }, "giving files their owners", "failed", deadline);
    }

    async unknownNames({ users, groups }: Names, deadline: Deadline): Promise<Names> {
        const values = { USER_NAMES: this.joined(named(users)), GROUP_NAMES: this.joined(named(groups)) };
        const answer = linesOf(
            await this.run("unknown-names", values, "looking for users and groups", "failed", deadline),
        );
        const unknown = (kind: string): string[] =>
            answer.filter((line) => line.startsWith(kind)).map((line) => line.slice(kind.length));
        return { users: unknown("user "), groups: unknown("group ") };
    }

    async remove(
        files: readonly string[],
        directories: readonly string[],
        deadline: Deadline,
    ): Promise<readonly string[]> {
        const values = { FILES: this.joined(files), DIRECTORIES: this.joined(directories) };
        return linesOf(await this.run("remove-material", values, "removing files", "failed", deadline));
    }

    async selinuxRules(deadline: Deadline): Promise<readonly SelinuxRule[]> {
        const stage = "reading SELinux labels";
        return linesOf(await this.run("selinux-rules", {}, stage, "failed", deadline)).map((line) => {
            const [type = "", ...pattern] = line.split(" ");
            return { type, pattern: pattern.join(" ") };
        });
    }

    async labelSelinux({ add = [], delete: gone = [], relabel }: SelinuxChange, deadline: Deadline): Promise<string> {
        const changes = [
            ...gone.map((pattern) => `fcontext -d -f a '${this.unquoted(pattern)}'`),
            ...add.map(({ type, pattern }) => `fcontext -a -f a -t ${type} '${this.unquoted(pattern)}'`),
        ];
        const values = { CHANGES: this.joined(changes), PATHS: this.joined(relabel) };
        return (await this.run("selinux-label", values, "labelling files", "failed", deadline)).toString().trim();
    }

    async unitsOf(program: string, deadline: Deadline): Promise<readonly string[]> {
        const stage = `looking for the service of ${program}`;
        return linesOf(await this.run("find-units", { PROGRAM: program }, stage, "failed", deadline));
    }

    async unit(action: "up" | "down" | "forget", name: string, deadline: Deadline): Promise<void> {
        await this.run("unit", { ACTION: action, UNIT: name }, `${name}: ${action}`, "failed", deadline);
    }

    private readDescription(stage: string, path: string, line: string): FileFacts {
        if (line === "absent") return { path, kind: "absent", mode: 0, user: "", group: "", sha256: undefined };
        const parts = DESCRIPTION.exec(line);
        if (parts === null) throw this.unexpected(stage, `the answer is not understood: ${line.slice(0, 80)}`);
        const [, kind, mode = "0", user = "", group = "", sum] = parts;
        return {
            path,
            kind: kind as FileFacts["kind"],
            mode: parseInt(mode, 8),
            user,
            group,
            sha256: sum === "-" ? undefined : sum,
        };
    }

    private joined(items: readonly string[]): string {
        return lines(items, this.address);
    }

    private unquoted(pattern: string): string {
        if (!pattern.includes("'")) return pattern;
        throw new InputError({ stage: "preparing a command", host: this.address, what: `a quote in ${pattern}` });
    }

    private unexpected(stage: string, what: string): CommandError {
        return new CommandError({ stage, host: this.address, what });
    }
}

function octal(mode: number): string {
    return mode.toString(8).padStart(4, "0");
}

function named(names: readonly string[]): string[] {
    return names.filter((name) => !NUMBER.test(name));
}
