import type { Deadline } from "../../deadline";

/** What belongs to a node beside k0s itself: configuration files with their owners, SELinux labels, services. */
export interface HostMaterial {
    /** What lies at these paths, in their order. Links are followed. */
    describe(paths: readonly string[], deadline: Deadline): Promise<readonly FileFacts[]>;
    /** Paths of the files in a directory and in its directories; none where there is no such directory. */
    list(directory: string, deadline: Deadline): Promise<readonly string[]>;
    /** Makes the missing ones, for root; outer ones first. */
    makeDirectories(directories: readonly Pick<FileFacts, "path" | "mode">[], deadline: Deadline): Promise<void>;
    /** Gives files and directories their owner and group, by name; fails where the host has no such name. */
    own(files: readonly OwnedPath[], deadline: Deadline): Promise<void>;
    /** Those of the names that this host does not have; numbers are always known. */
    unknownNames(names: Names, deadline: Deadline): Promise<Names>;
    /** Removes files, then those of the directories that are empty, inner ones first. Answers what it could not remove. */
    remove(files: readonly string[], directories: readonly string[], deadline: Deadline): Promise<readonly string[]>;

    /** The SELinux rules for file labels that were added on this host. Fails where `semanage` is missing. */
    selinuxRules(deadline: Deadline): Promise<readonly SelinuxRule[]>;
    /** Adds or deletes rules, all together, then labels the paths that exist anew. Answers what it said. */
    labelSelinux(change: SelinuxChange, deadline: Deadline): Promise<string>;

    /** systemd unit files that run that program, and their drop-ins. */
    unitsOf(program: string, deadline: Deadline): Promise<readonly string[]>;
    /** `up`: enable and (re)start. `down`: stop and disable. `forget`: systemd forgets a unit whose file is gone. */
    unit(action: "up" | "down" | "forget", name: string, deadline: Deadline): Promise<void>;
}

export interface FileFacts {
    readonly path: string;
    readonly kind: "absent" | "file" | "directory" | "other";
    /** Permission bits; 0 where there is nothing. */
    readonly mode: number;
    /** Name, or number where the owner has no name; "" where there is nothing. */
    readonly user: string;
    readonly group: string;
    /** Hex; of files only. */
    readonly sha256: string | undefined;
}

export type OwnedPath = Pick<FileFacts, "path" | "mode" | "user" | "group">;

export interface Names {
    readonly users: readonly string[];
    readonly groups: readonly string[];
}

export interface SelinuxRule {
    /** A file type, e.g. `container_file_t`. */
    readonly type: string;
    /** Regular expression for whole paths. */
    readonly pattern: string;
}

export interface SelinuxChange {
    readonly add?: readonly SelinuxRule[];
    readonly delete?: readonly string[];
    readonly relabel: readonly string[];
}
