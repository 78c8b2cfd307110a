import type { Duplex } from "node:stream";
import { splitCommandLine } from "../../../provider/facts/unit-command";
import { TIMING } from "../timing";
import type { SimTimer } from "./clock";
import type { SimHost } from "./host";

export type UnitName = "k0scontroller" | "k0sworker";

/** A running k0s. */
export interface Daemon {
    readonly invocationId: string;
    /** The status socket answers. */
    readonly statusAnswers: boolean;
    listener(port: number, fromItself: boolean, to: string): ((stream: Duplex) => void) | undefined;
    /** What every start writes to the host first. */
    prepare(): void;
    start(): void;
    /** `clean`: by SIGTERM, leases are released; otherwise as if it were killed. */
    end(how: "clean" | "killed"): void;
}

/** One unit of systemd, as `k0s install` writes it: Restart=always, RestartSec=10, KillMode=process. */
export class Unit {
    active: "active" | "inactive" | "activating" | "failed" = "inactive";
    enabled = true;
    restarts = 0;
    daemon: Daemon | undefined;
    readonly journal: string[] = [];
    private pause: SimTimer | undefined;

    constructor(
        readonly host: SimHost,
        readonly name: UnitName,
        private loaded: readonly string[],
    ) {}

    /** As systemd has read them. */
    get args(): readonly string[] {
        return this.loaded;
    }

    /** What the unit file says now. */
    get command(): string {
        return /^ExecStart=(.*)$/m.exec(this.host.files.text(this.file) ?? "")?.[1] ?? "";
    }

    /** `systemctl daemon-reload`. */
    reread(): void {
        this.loaded = splitCommandLine(this.command);
    }

    get file(): string {
        return `/etc/systemd/system/${this.name}.service`;
    }

    get sub(): string {
        return { active: "running", inactive: "dead", activating: "auto-restart", failed: "failed" }[this.active];
    }

    flag(name: string): string | undefined {
        const prefix = `--${name}=`;
        return this.args.find((arg) => arg.startsWith(prefix))?.slice(prefix.length);
    }

    start(): void {
        if (this.active === "active") return;
        this.pause?.cancel();
        this.restarts = 0;
        this.run();
    }

    /** Runs without the steps of a start: `settle` puts the daemon where it would be long after. */
    runSettled<T>(settle: (daemon: Daemon) => T): T {
        this.active = "active";
        this.daemon = this.newDaemon();
        this.daemon.prepare();
        return settle(this.daemon);
    }

    stop(): void {
        this.pause?.cancel();
        this.end("clean");
        this.active = "inactive";
    }

    /** The daemon ends by itself; systemd starts it again. */
    crash(line: string): void {
        if (this.active !== "active") return;
        this.log(line);
        this.end("killed");
        this.active = "activating";
        this.pause = this.host.world.clock.after(TIMING.restartPause, () => {
            this.restarts += 1;
            this.run();
        });
    }

    /** Without a trace in its state: the machine is off. */
    cut(): void {
        this.pause?.cancel();
        this.end("killed");
        this.active = "inactive";
    }

    log(line: string): void {
        this.journal.push(line);
    }

    private run(): void {
        this.active = "active";
        this.host.happened(`${this.name} runs`);
        this.daemon = this.newDaemon();
        this.daemon.start();
    }

    private newDaemon(): Daemon {
        return this.host.world.newDaemon(this);
    }

    private end(how: "clean" | "killed"): void {
        const { daemon } = this;
        this.daemon = undefined;
        daemon?.end(how);
    }
}

export class ServiceManager {
    private readonly units = new Map<UnitName, Unit>();

    constructor(private readonly host: SimHost) {}

    get(name: UnitName): Unit | undefined {
        return this.units.get(name);
    }

    get installed(): Unit | undefined {
        return this.units.get("k0scontroller") ?? this.units.get("k0sworker");
    }

    get daemon(): Daemon | undefined {
        return this.running?.daemon;
    }

    get running(): Unit | undefined {
        return [...this.units.values()].find((unit) => unit.daemon !== undefined);
    }

    install(name: UnitName, args: readonly string[]): Unit {
        const unit = new Unit(this.host, name, args);
        this.units.set(name, unit);
        const command = args.map((arg) => `"${arg.replaceAll("%", "%%")}"`).join(" ");
        this.host.files.write(unit.file, `[Service]\nExecStart=${command}\nRestart=always\nRestartSec=10\n`, 0o644);
        return unit;
    }

    /** The unit file is gone; a daemon that runs goes on. */
    remove(name: UnitName): void {
        const unit = this.units.get(name);
        if (unit === undefined) return;
        unit.cut();
        this.units.delete(name);
        this.host.files.remove(unit.file);
    }

    powerOff(): void {
        for (const unit of this.units.values()) unit.cut();
    }

    powerOn(): void {
        for (const unit of this.units.values()) if (unit.enabled) unit.start();
    }
}
