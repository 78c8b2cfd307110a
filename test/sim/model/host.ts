import type { Duplex } from "node:stream";
import { FileSystem } from "./file-system";
import { k0sProgram } from "./k0s-program";
import { ServiceManager } from "./units";
import type { World } from "./world";
import { newSshKey } from "../../support/ssh-key";

export interface HostOptions {
    /** What the provider calls it by: `host`. */
    readonly address: string;
    /** Further addresses of the machine. */
    readonly addresses?: readonly string[];
    /** The kernel's host name; default: the host's name in the simulation. */
    readonly hostName?: string;
    readonly machineId?: string;
    /** Go's names; default `amd64`. */
    readonly arch?: "amd64" | "arm64";
    readonly osRelease?: string;
    readonly cpus?: number;
    readonly memoryMiB?: number;
    readonly diskFreeMiB?: number;
    readonly cgroup?: 1 | 2;
    readonly selinux?: "enforcing" | "permissive" | "disabled";
    readonly init?: "systemd" | "openrc" | "other";
    /** Seconds its clock is ahead. */
    readonly clockSkew?: number;
    /** Further mount points at or below the data directory. */
    readonly mounts?: readonly string[];
    /** A k0s program of that version lies in `/usr/local/bin/k0s`; default: none. */
    readonly k0s?: string;
    /** sudo wants this password of users other than root; default: none is needed. */
    readonly sudoPassword?: string;
}

/** Packets that a host drops. A field left out fits all. */
export interface FirewallRule {
    readonly port?: number;
    /** Address of the sender; `outside`: whoever is not a simulated host. */
    readonly from?: string;
}

/** A service of a host besides those of k0s. */
type Accept = (stream: Duplex) => void;

const DEBIAN = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n';
const SSH_PORT = 22;

/** A machine: files, services, power, network. */
export class SimHost {
    files = new FileSystem();
    units: ServiceManager;
    powered = true;
    /** What a process list of it would show of our logins. */
    readonly commandLines: string[] = [];
    /** Users, each with a group of its name. */
    readonly users = new Set(["root"]);
    machineId: string;
    hostName: string;
    /** PEM (OpenSSH) of the SSH host key. */
    hostKey = newHostKey();
    /** Whose certificate its kubelet has, from its first registration until a reset. */
    kubeletName: string | undefined;
    /** k0s is killed before it can carry out its next leave (k0s#8141). */
    revokesNextLeave = false;
    /** k0s on it creates its EtcdMember, and the write of the status fails, which it only logs (k0s-interfaces.md 3.3). */
    losesMemberStatus = false;
    /** etcd on it does not answer, as after SIGSTOP. */
    etcdHung = false;
    /** Programs that fail from now on: name → what they print on stderr. */
    readonly failing = new Map<string, string>();
    /** `AllowTcpForwarding no` in its sshd_config. */
    forbidsForwarding = false;
    private readonly rules: FirewallRule[] = [];
    private acceptSsh: Accept | undefined;

    constructor(
        readonly world: World,
        readonly name: string,
        readonly options: HostOptions,
    ) {
        this.machineId = options.machineId ?? world.random.hex(32);
        this.hostName = options.hostName ?? name;
        this.units = new ServiceManager(this);
        this.furnish();
    }

    get address(): string {
        return this.options.address;
    }

    get addresses(): readonly string[] {
        return [this.address, ...(this.options.addresses ?? [])];
    }

    get mounts(): readonly string[] {
        return this.options.mounts ?? [];
    }

    onSsh(accept: Accept): void {
        this.acceptSsh = accept;
    }

    /** What takes connections on that port, if anything does. `to`: the address they are made to. */
    listener(port: number, fromItself: boolean, to: string): Accept | undefined {
        if (port === SSH_PORT) return this.acceptSsh;
        return this.units.daemon?.listener(port, fromItself, to);
    }

    drops(from: SimHost | undefined, port: number): boolean {
        if (from === this) return false;
        const sender = from?.addresses ?? ["outside"];
        return this.rules.some(
            (rule) =>
                (rule.port === undefined || rule.port === port) &&
                (rule.from === undefined || sender.includes(rule.from)),
        );
    }

    /** Drops what fits the rule from now on, as a firewall without an answer does. */
    firewall(rule: FirewallRule): void {
        this.world.act(() => {
            this.rules.push(rule);
            this.happened(`firewall ${JSON.stringify(rule)}`);
            this.world.connectivityChanged();
        });
    }

    clearFirewall(): void {
        this.world.act(() => {
            this.rules.length = 0;
            this.happened("firewall off");
            this.world.connectivityChanged();
        });
    }

    /** Power cut: no answer to anything. */
    powerOff(): void {
        this.world.act(() => {
            this.powered = false;
            this.happened("power off");
            this.units.powerOff();
            this.world.disconnect(this);
        });
    }

    powerOn(): void {
        this.world.act(() => {
            this.powered = true;
            this.happened("power on");
            this.files.removeTree("/run/k0s");
            this.units.powerOn();
        });
    }

    /** Somebody stops the service by hand. */
    stopService(): void {
        this.world.act(() => {
            this.happened("service stopped by hand");
            this.units.installed?.stop();
        });
    }

    startService(): void {
        this.world.act(() => {
            this.happened("service started by hand");
            this.units.installed?.start();
        });
    }

    /** The k0s process dies (SIGKILL); systemd starts it again after 10 s. */
    killK0s(): void {
        this.world.act(() => {
            this.happened("k0s killed");
            this.units.installed?.crash("killed");
        });
    }

    hangEtcd(hung = true): void {
        this.world.act(() => {
            this.etcdHung = hung;
            this.happened(hung ? "etcd hangs" : "etcd goes on");
            this.world.connectivityChanged();
        });
    }

    /** A new machine in place of this one: same address and name, other machine id, host key and an empty disk. */
    wipe(): void {
        this.world.act(() => {
            this.happened("replaced by a blank machine");
            this.units.powerOff();
            this.world.disconnect(this);
            this.files = new FileSystem();
            this.units = new ServiceManager(this);
            this.machineId = this.world.random.hex(32);
            this.hostKey = newHostKey();
            this.kubeletName = undefined;
            this.powered = true;
            this.furnish();
        });
    }

    happened(what: string): void {
        this.world.events.add("host", what, { host: this.name });
    }

    private furnish(): void {
        this.files.write("/etc/os-release", this.options.osRelease ?? DEBIAN);
        for (const directory of ["/usr/local/bin", "/var/lib", "/var/log", "/run", "/tmp"]) this.files.mkdir(directory);
        for (const mount of this.mounts) this.files.mkdir(mount);
        if (this.options.k0s !== undefined) this.files.write("/usr/local/bin/k0s", k0sProgram(this.options.k0s), 0o755);
    }
}

function newHostKey(): string {
    return newSshKey();
}
