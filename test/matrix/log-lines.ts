import { logAt } from "../support/log-level";

/** Catches all progress lines of the provider, which go to stdout, by the name of their resource. */
export class LogLines {
    private readonly lines = new Map<string, string[]>();
    private readonly watchers = new Set<() => void>();
    private original: typeof process.stdout.write | undefined;
    private backToLevel = (): void => undefined;

    /** `names`: whose lines. */
    constructor(private readonly names = /matrix-\d+/) {}

    start(): void {
        const original = process.stdout.write.bind(process.stdout);
        this.original = original;
        this.backToLevel = logAt();
        const own = new RegExp(`^(${this.names.source}): (.*)\\n$`, "s");
        process.stdout.write = (chunk: string | Uint8Array, ...rest: []) => {
            const [, resource, line] = own.exec(String(chunk)) ?? [];
            if (resource === undefined || line === undefined) return original(chunk, ...rest);
            this.lines.set(resource, [...this.of(resource), line]);
            for (const watcher of [...this.watchers]) watcher();
            return true;
        };
    }

    stop(): void {
        this.backToLevel();
        if (this.original !== undefined) process.stdout.write = this.original;
    }

    of(resource: string): readonly string[] {
        return this.lines.get(resource) ?? [];
    }

    /** Acts once, on the first line from now on that fits. Answers how to stop watching. */
    once(resource: string, pattern: RegExp, act: () => void): () => void {
        const start = this.of(resource).length;
        const watch = (): void => {
            if (
                !this.of(resource)
                    .slice(start)
                    .some((line) => pattern.test(line))
            )
                return;
            this.watchers.delete(watch);
            setImmediate(act);
        };
        this.watchers.add(watch);
        return () => this.watchers.delete(watch);
    }
}
