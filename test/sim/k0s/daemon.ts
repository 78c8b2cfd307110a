import type { Duplex } from "node:stream";
import type { SimTimer } from "../model/clock";
import type { SimHost } from "../model/host";
import type { Daemon, Unit } from "../model/units";
import type { World } from "../model/world";
import { type NodeConfig, nodeConfigOf, runtimeConfig } from "./node-config";

/** What controller and worker have in common: configuration, timers that end with the process, files in `/run/k0s`. */
export abstract class K0sDaemon implements Daemon {
    readonly invocationId: string;
    readonly config: NodeConfig;
    statusAnswers = false;
    protected ended = false;
    private readonly timers = new Set<SimTimer>();

    constructor(readonly unit: Unit) {
        this.invocationId = unit.host.world.random.hex(32);
        this.config = nodeConfigOf(unit);
    }

    get host(): SimHost {
        return this.unit.host;
    }

    get world(): World {
        return this.host.world;
    }

    abstract listener(port: number, fromItself: boolean, to: string): ((stream: Duplex) => void) | undefined;

    prepare(): void {
        this.host.files.write("/run/k0s/k0s.yaml.lock", "");
        this.host.files.write("/run/k0s/k0s.yaml", runtimeConfig(this.config, this.invocationId), 0o600);
    }

    start(): void {
        this.prepare();
        // k0s's own pre-flight (observed.md)
        if (this.host.options.cgroup === 1 && this.config.enableWorker && !this.config.ignorePreflight) {
            return this.crashSoon("Error: pre-flight checks failed: Rejected: cgroup v1 is not supported");
        }
        this.run();
    }

    end(how: "clean" | "killed"): void {
        if (this.ended) return;
        this.ended = true;
        this.statusAnswers = false;
        for (const timer of this.timers) timer.cancel();
        this.stopped(how);
        if (how === "clean") this.host.files.remove("/run/k0s/k0s.yaml");
    }

    protected abstract run(): void;

    /** All components end. */
    protected abstract stopped(how: "clean" | "killed"): void;

    protected later(seconds: number, action: () => void): void {
        const timer = this.world.clock.after(seconds, () => {
            this.timers.delete(timer);
            action();
        });
        this.timers.add(timer);
    }

    /** Exit 1; systemd starts it again. */
    protected crashSoon(line: string): void {
        this.later(0.1, () => this.unit.crash(line));
    }

    protected ignore(stream: Duplex): void {
        stream.on("error", () => undefined).resume();
    }
}
