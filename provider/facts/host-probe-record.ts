import { ApiError } from "../errors";

/** How often a key may stand in the answer. */
type Count = "once" | "maybe" | "many";

const KEYS: Readonly<Record<string, Count>> = {
    format: "once",
    "machine-id": "once",
    "host-name": "once",
    address: "many",
    "os-release-b64": "maybe",
    arch: "once",
    cpus: "once",
    "memory-kib": "once",
    cgroup: "once",
    "disk-free-kib": "once",
    clock: "once",
    selinux: "once",
    init: "once",
    "unit-controller": "maybe",
    "unit-controller-command-b64": "maybe",
    "unit-worker": "maybe",
    "unit-worker-command-b64": "maybe",
    "status-silent": "maybe",
    "status-role": "maybe",
    "status-workloads": "maybe",
    "status-single-node": "maybe",
    "status-version": "maybe",
    "status-data-dir": "maybe",
    "status-kubelet-root-dir": "maybe",
    "status-invocation-id": "maybe",
    "binary-path": "maybe",
    "binary-version": "maybe",
    "run-lock": "once",
    "ca-pki-b64": "maybe",
    "ca-kubelet-b64": "maybe",
    "data-dir": "once",
    pki: "once",
    "etcd-member": "once",
    "etcd-database": "once",
    "etcd-log-b64": "maybe",
    "kubelet-conf": "once",
    "api-server": "maybe",
    "data-entries-b64": "maybe",
    "kubelet-entries-b64": "maybe",
    mount: "many",
    "token-file": "once",
    "marker-b64": "maybe",
    "k0sctl-lock": "many",
    end: "once",
};

/** The probe's lines `key<TAB>value`, looked up strictly: unknown, missing and repeated keys are errors. */
export class ProbeRecord {
    private constructor(
        readonly address: string,
        private readonly values: ReadonlyMap<string, readonly string[]>,
    ) {}

    static read(output: string, address: string): ProbeRecord {
        const values = new Map<string, string[]>();
        const record = new ProbeRecord(address, values);
        for (const line of output.split("\n").filter((text) => text !== "")) {
            const tab = line.indexOf("\t");
            const key = line.slice(0, Math.max(0, tab));
            if (!Object.hasOwn(KEYS, key)) throw record.misunderstood(`the line "${line.slice(0, 60)}"`);
            values.set(key, [...(values.get(key) ?? []), line.slice(tab + 1)]);
        }
        for (const [key, count] of Object.entries(KEYS)) {
            const found = values.get(key)?.length ?? 0;
            if (count === "once" && found === 0) throw record.misunderstood(`no ${key}`);
            if (count !== "many" && found > 1) throw record.misunderstood(`${key} ${found} times`);
        }
        return record;
    }

    one(key: string): string {
        const value = this.optional(key);
        if (value === undefined) throw this.misunderstood(`no ${key}`);
        return value;
    }

    optional(key: string): string | undefined {
        return this.values.get(key)?.[0];
    }

    all(key: string): readonly string[] {
        return this.values.get(key) ?? [];
    }

    number(key: string): number {
        const text = this.one(key);
        if (!/^\d+$/.test(text)) throw this.misunderstood(`${key} "${text}"`);
        return Number(text);
    }

    oneOf<T extends string>(key: string, allowed: readonly T[]): T {
        const value = this.one(key);
        const known = allowed.find((candidate) => candidate === value);
        if (known === undefined) throw this.misunderstood(`${key} "${value}"`);
        return known;
    }

    yes(key: string): boolean {
        return this.oneOf(key, ["yes", "no"]) === "yes";
    }

    /** undefined: no such file. Empty: it cannot be read. */
    base64(key: string): Buffer | undefined {
        const text = this.optional(key);
        if (text === undefined) return undefined;
        if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw this.misunderstood(`${key} is not base64`);
        return Buffer.from(text, "base64");
    }

    misunderstood(found: string): ApiError {
        return new ApiError({
            stage: "probing",
            host: this.address,
            what: `the answer of the host probe is not understood: ${found}`,
            advice: "Please report it, with the operating system of the host.",
        });
    }
}
