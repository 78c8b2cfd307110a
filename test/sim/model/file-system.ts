import { createHash } from "node:crypto";

export interface Owner {
    readonly user: string;
    readonly group: string;
    readonly mode: number;
}

/** The files of a simulated host. Paths are absolute and plain. Directories exist by `mkdir` or by what is in them. */
export class FileSystem {
    private readonly files = new Map<string, { readonly content: Buffer; readonly mode: number }>();
    private readonly directories = new Set<string>(["/"]);
    /** Of paths that are not root's, and modes of directories. */
    private readonly owners = new Map<string, Owner>();

    read(path: string): Buffer | undefined {
        return this.files.get(path)?.content;
    }

    text(path: string): string | undefined {
        return this.read(path)?.toString("utf8");
    }

    mode(path: string): number | undefined {
        return this.files.get(path)?.mode;
    }

    owner(path: string): Owner {
        const known = this.owners.get(path);
        return known ?? { user: "root", group: "root", mode: this.mode(path) ?? 0o755 };
    }

    /** `chown` and `chmod`. */
    own(path: string, owner: Owner): void {
        this.owners.set(path, owner);
        const file = this.files.get(path);
        if (file !== undefined) this.files.set(path, { ...file, mode: owner.mode });
    }

    write(path: string, content: string | Buffer, mode = 0o644): void {
        if (this.isDirectory(path)) throw new Error(`${path} is a directory`);
        this.mkdir(parentOf(path));
        this.owners.delete(path);
        this.files.set(path, { content: Buffer.from(content), mode });
    }

    mkdir(path: string): void {
        for (let at = path; at !== "/"; at = parentOf(at)) this.directories.add(at);
    }

    isFile(path: string): boolean {
        return this.files.has(path);
    }

    isDirectory(path: string): boolean {
        return this.directories.has(path);
    }

    exists(path: string): boolean {
        return this.isFile(path) || this.isDirectory(path);
    }

    isExecutable(path: string): boolean {
        return ((this.mode(path) ?? 0) & 0o100) !== 0;
    }

    /** Names in a directory, sorted. */
    list(directory: string): string[] {
        const prefix = directory === "/" ? "/" : `${directory}/`;
        const inside = [...this.files.keys(), ...this.directories].filter(
            (path) => path !== directory && path.startsWith(prefix),
        );
        return [...new Set(inside.map((path) => path.slice(prefix.length).split("/")[0] ?? ""))].sort();
    }

    /** Everything there is, a line each: to compare two moments. */
    inventory(): string[] {
        const files = [...this.files].map(([path, { content, mode }]) => {
            return `${path} ${mode.toString(8)} ${createHash("sha256").update(content).digest("hex")}`;
        });
        return [...files, ...[...this.directories].map((path) => `${path}/`)].sort();
    }

    remove(path: string): void {
        this.owners.delete(path);
        this.files.delete(path);
    }

    /** Removes a directory with all in it, or a file. */
    removeTree(path: string): void {
        this.removeContent(path);
        this.files.delete(path);
        this.directories.delete(path);
    }

    removeContent(directory: string): void {
        for (const path of this.files.keys()) if (path.startsWith(`${directory}/`)) this.files.delete(path);
        for (const path of this.directories) if (path.startsWith(`${directory}/`)) this.directories.delete(path);
    }

    rmdirIfEmpty(path: string): void {
        if (this.isDirectory(path) && this.list(path).length === 0) this.directories.delete(path);
    }

    rename(from: string, to: string): void {
        const file = this.files.get(from);
        if (file === undefined) throw new Error(`${from} does not exist`);
        this.write(to, file.content, file.mode);
        this.files.delete(from);
    }
}

export function parentOf(path: string): string {
    return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
