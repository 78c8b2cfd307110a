import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection } from "../../provider/inputs";
import { freePort } from "./program";

const SSHD = "/usr/sbin/sshd";
/** Milliseconds until an sshd listens, at most. */
const START_LIMIT = 60_000;

/** What it runs on, and what users with sudo are made with. */
export const SSHD_PARTS = ["sshd", "root"] as const;
export const USER_PARTS = ["sudo", "useradd"] as const;

export interface SshdOptions {
    /** Lines for sshd_config, first ones win. */
    readonly config?: readonly string[];
}

/** A real sshd on a port of the loopback interface, with keys, configuration and a log of its own. */
export class TestSshd {
    private constructor(
        readonly port: number,
        private readonly directory: string,
        private readonly daemon: ChildProcess,
    ) {}

    static async start({ config = [] }: SshdOptions = {}): Promise<TestSshd> {
        const directory = mkdtempSync(join(tmpdir(), "mke-sshd-"));
        // sshd reads authorized_keys as the user who logs in.
        chmodSync(directory, 0o755);
        for (const type of ["ed25519", "rsa", "ecdsa"]) makeKey(join(directory, `host_${type}`), type);
        makeKey(join(directory, "client"), "ed25519");
        makeKey(join(directory, "locked"), "ed25519", "open sesame");
        const authorized = ["client", "locked"].map((name) => readFileSync(join(directory, `${name}.pub`), "utf8"));
        writeFileSync(join(directory, "authorized_keys"), authorized.join(""));
        mkdirSync("/run/sshd", { recursive: true });
        const port = await freePort();
        writeFileSync(join(directory, "config"), [...config, ...baseConfig(directory, port)].join("\n"));
        const args = ["-D", "-E", join(directory, "log"), "-f", join(directory, "config")];
        const sshd = new TestSshd(port, directory, spawn(SSHD, args, { stdio: "ignore" }));
        await sshd.listens().catch((error: unknown) => {
            sshd.stop();
            throw error;
        });
        return sshd;
    }

    /** `ssh-ed25519 AAAA…` */
    hostKey(type: "ed25519" | "rsa" | "ecdsa"): string {
        return readFileSync(join(this.directory, `host_${type}.pub`), "utf8").trim();
    }

    hostKeyFingerprint(type: "ed25519" | "rsa" | "ecdsa"): string {
        const line = execFileSync("ssh-keygen", ["-lf", join(this.directory, `host_${type}.pub`)], {
            encoding: "utf8",
        });
        return line.split(" ")[1] ?? "";
    }

    /** The private key that every user's authorized_keys lists; `locked` has the passphrase "open sesame". */
    key(name: "client" | "locked" = "client"): string {
        return readFileSync(join(this.directory, name), "utf8");
    }

    /** How to log in as root with the key; single fields replaced. */
    connection(changes: Partial<Connection> = {}): Connection {
        return {
            user: "root",
            port: this.port,
            privateKey: this.key(),
            dialErrorLimit: 2,
            perDialTimeout: 15,
            ...changes,
        };
    }

    stop(): void {
        this.daemon.kill("SIGTERM");
        rmSync(this.directory, { recursive: true, force: true });
    }

    /** By its own word: on a port that somebody else has taken, somebody else answers. */
    private async listens(): Promise<void> {
        const file = join(this.directory, "log");
        const log = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
        const end = performance.now() + START_LIMIT;
        while (!log().includes(`Server listening on 127.0.0.1 port ${this.port}.`)) {
            if (this.daemon.exitCode !== null || performance.now() > end) {
                throw new Error(`sshd does not listen on port ${this.port}:\n${log()}`);
            }
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    }
}

export interface TestUserOptions {
    readonly shell?: string;
    /** `none`: not in sudoers. */
    readonly sudo: "nopasswd" | "password" | "none";
    /** Written to the files that shells read at start. */
    readonly profile?: Readonly<Record<string, string>>;
}

/** A user of this machine, gone after `remove()`. */
export class TestUser {
    readonly password = "correct horse 'battery' $staple";
    private readonly home: string;

    constructor(
        readonly name: string,
        { shell = "/bin/sh", sudo, profile = {} }: TestUserOptions,
    ) {
        this.home = mkdtempSync(join(tmpdir(), "mke-home-"));
        execFileSync("useradd", ["--no-create-home", "--home-dir", this.home, "--shell", shell, name]);
        execFileSync("chpasswd", { input: `${name}:${this.password}\n` });
        for (const [file, text] of Object.entries(profile)) {
            mkdirSync(join(this.home, file, ".."), { recursive: true });
            writeFileSync(join(this.home, file), text);
        }
        execFileSync("chown", ["-R", name, this.home]);
        if (sudo === "none") return;
        const rule = `${name} ALL=(ALL) ${sudo === "nopasswd" ? "NOPASSWD: " : ""}ALL\n`;
        writeFileSync(this.sudoers, `Defaults:${name} !lecture, timestamp_timeout=5, timestamp_type=global\n${rule}`, {
            mode: 0o440,
        });
    }

    remove(): void {
        rmSync(this.sudoers, { force: true });
        execFileSync("userdel", ["--force", this.name], { stdio: "ignore" });
        rmSync(this.home, { recursive: true, force: true });
        rmSync(`/run/sudo/ts/${this.name}`, { force: true });
    }

    private get sudoers(): string {
        return `/etc/sudoers.d/${this.name}`;
    }
}

/** A way to a port that can be cut. */
export class CuttableLink {
    private readonly sockets = new Set<Socket>();

    private constructor(
        private readonly server: Server,
        readonly port: number,
        private target: number,
    ) {}

    /** For connections from now on. */
    leadTo(target: number): void {
        this.target = target;
    }

    static async to(target: number): Promise<CuttableLink> {
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const link = new CuttableLink(server, (server.address() as AddressInfo).port, target);
        server.on("connection", (near) => {
            const far = connect(link.target, "127.0.0.1");
            for (const socket of [near, far]) {
                link.sockets.add(socket);
                socket.on("error", () => undefined);
                socket.on("close", () => {
                    link.sockets.delete(socket);
                    near.destroy();
                    far.destroy();
                });
            }
            near.pipe(far).pipe(near);
        });
        return link;
    }

    /** Connections that are open now. */
    get open(): number {
        return this.sockets.size / 2;
    }

    cut(): void {
        for (const socket of this.sockets) socket.destroy();
    }

    close(): void {
        this.cut();
        this.server.close();
    }
}

function baseConfig(directory: string, port: number): string[] {
    return [
        `Port ${port}`,
        "ListenAddress 127.0.0.1",
        ...["ed25519", "rsa", "ecdsa"].map((type) => `HostKey ${join(directory, `host_${type}`)}`),
        `AuthorizedKeysFile ${join(directory, "authorized_keys")}`,
        "StrictModes no",
        "PidFile none",
        "PermitRootLogin yes",
        "UsePAM no",
        "PasswordAuthentication yes",
        "UseDNS no",
        "LogLevel INFO",
        ...(hasPenalties() ? ["PerSourcePenalties no"] : []),
        "",
    ];
}

/** OpenSSH 9.8 and later turns an address away whose logins failed a few times in a row, which tests do on purpose. */
function hasPenalties(): boolean {
    const { stdout, stderr } = spawnSync(SSHD, ["-V"], { encoding: "utf8" });
    const { major = "0", minor = "0" } = /OpenSSH_(?<major>\d+)\.(?<minor>\d+)/.exec(stdout + stderr)?.groups ?? {};
    return Number(major) > 9 || (Number(major) === 9 && Number(minor) >= 8);
}

function makeKey(file: string, type: string, passphrase = ""): void {
    execFileSync("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-f", file]);
}
