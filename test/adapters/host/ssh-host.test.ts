import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
    chmodSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    readdirSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { after, afterEach, before, describe, it } from "mocha";
import type { Host } from "../../../provider/adapters/host";
import { closeAll, openHost } from "../../../provider/adapters/ssh/pool";
import { Deadline } from "../../../provider/deadline";
import { CommandError, ConnectionError, TimeoutError } from "../../../provider/errors";
import { CuttableLink, TestSshd, TestUser, freePort, sshdMissing, sudoMissing } from "../../support/sshd";

const HOST = "127.0.0.1";
const soon = (): Deadline => Deadline.afterSeconds(30);
const PATHS = { dataDir: "/var/lib/k0s", k0sPath: "/usr/local/bin/k0s" };

describe("a host over a real sshd", function () {
    this.timeout(120_000);
    let sshd: TestSshd;
    let stop = (): void => undefined;
    let host: Host;
    let directory: string;

    before(async function () {
        const missing = sshdMissing();
        if (missing !== undefined) {
            console.log(`    skipped: ${missing}`);
            this.skip();
        }
        sshd = await TestSshd.start();
        stop = () => sshd.stop();
        host = openHost(HOST, sshd.connection());
    });

    after(() => {
        closeAll();
        stop();
    });

    before(() => (directory = mkdtempSync(join(tmpdir(), "mke-host-"))));
    afterEach(() => {
        for (const entry of readdirSync(directory)) rmSync(join(directory, entry), { recursive: true });
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    it("is probed in one round trip", async () => {
        const facts = await host.probe(PATHS, soon());
        assert.equal(facts.address, HOST);
        assert.equal(facts.hostName, hostname());
        assert.ok(facts.cpus >= 1 && facts.memoryMiB > 100 && facts.diskFreeMiB > 0);
        assert.ok(Math.abs(facts.clock - Date.now() / 1000) < 60);
    });

    it("writes a file with its mode, in a new directory, and reads it back byte for byte", async () => {
        const file = join(directory, "a/b c/it's $HOME");
        const content = Buffer.concat([randomBytes(70_000), Buffer.from("\n\n"), Buffer.from([0, 255, 10])]);
        await host.writeFile(file, content, 0o640, soon());
        assert.equal(statSync(file).mode & 0o7777, 0o640);
        assert.deepEqual(await host.readFile(file, soon()), content);
        await host.writeFile(file, "", 0o600, soon());
        assert.deepEqual(await host.readFile(file, soon()), Buffer.alloc(0));
        assert.deepEqual(readdirSync(join(directory, "a/b c")), ["it's $HOME"], "no temporary file stays");
    });

    it("replaces a symbolic link instead of writing through it", async () => {
        writeFileSync(join(directory, "target"), "kept");
        symlinkSync(join(directory, "target"), join(directory, "link"));
        await host.writeFile(join(directory, "link"), "new", 0o600, soon());
        assert.equal(readFileSync(join(directory, "target"), "utf8"), "kept");
        assert.equal(readFileSync(join(directory, "link"), "utf8"), "new");
    });

    it("answers undefined for an absent file and an error for a directory", async () => {
        assert.equal(await host.readFile(join(directory, "none"), soon()), undefined);
        assert.equal(await host.sha256(join(directory, "none"), soon()), undefined);
        assert.equal(await host.exists(join(directory, "none"), soon()), false);
        assert.equal(await host.exists(directory, soon()), true);
        await assert.rejects(host.readFile(directory, soon()), /is not a regular file/);
        await assert.rejects(host.writeFile(directory, "x", 0o600, soon()), /is a directory/);
    });

    it("removes files, absent ones too, but no directory", async () => {
        writeFileSync(join(directory, "one"), "");
        await host.removeFiles([join(directory, "one"), join(directory, "none")], soon());
        assert.deepEqual(readdirSync(directory), []);
        await assert.rejects(host.removeFiles([directory], soon()), /is a directory/);
    });

    it("takes a big executable and gives it back", async () => {
        const content = randomBytes(20 * 1024 * 1024);
        const sha256 = createHash("sha256").update(content).digest("hex");
        const file = join(directory, "bin/k0s");
        await host.putExecutable(file, Readable.from(chunks(content)), { size: content.length, sha256 }, soon());
        assert.equal(statSync(file).mode & 0o7777, 0o755);
        assert.equal(await host.sha256(file, soon()), sha256);
        const back = await host.openFile(file, soon());
        assert.equal(back.size, content.length);
        assert.ok((await buffer(back.content)).equals(content));
        assert.deepEqual(readdirSync(join(directory, "bin")), ["k0s"]);
    });

    it("leaves the old executable in place when the new one is not what was expected", async () => {
        const file = join(directory, "k0s");
        writeFileSync(file, "old");
        const put = (expected: object, content = Readable.from([Buffer.from("new")])): Promise<void> =>
            host.putExecutable(file, content, expected, soon());
        await assert.rejects(put({ size: 4 }), /3 bytes, 4 were expected/);
        await assert.rejects(put({ sha256: "00" }), /sha256 of the source/);
        const broken = new Readable({ read: () => undefined });
        setImmediate(() => broken.destroy(new Error("helper went away")));
        await assert.rejects(put({}, broken), /helper went away/);
        assert.equal(readFileSync(file, "utf8"), "old");
        assert.deepEqual(readdirSync(directory), ["k0s"]);
    });

    it("does not wait for ever where an upload cannot be written", async () => {
        const put = host.putExecutable("/proc/none/k0s", Readable.from([Buffer.from("x")]), {}, soon());
        await assert.rejects(put, CommandError);
    });

    it("downloads an executable without showing the address in a process list", async () => {
        const { createServer: http } = await import("node:http");
        let commandLines = "";
        const server = http((_, response) => {
            for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
                try {
                    commandLines += readFileSync(`/proc/${pid}/cmdline`, "utf8");
                } catch {
                    // Ended meanwhile.
                }
            }
            response.end("#!/bin/sh\necho v1.2.3\n");
        }).listen(0, HOST);
        await new Promise((resolve) => server.once("listening", resolve));
        const url = `http://user:very-secret@${HOST}:${(server.address() as AddressInfo).port}/k0s?sig=a"b`;
        const file = join(directory, "k0s");
        await host.downloadExecutable(url, file, undefined, soon());
        assert.equal(await host.k0sVersion(file, soon()), "v1.2.3");
        assert.ok(commandLines.includes("curl") && !commandLines.includes("very-secret"));
        await assert.rejects(host.downloadExecutable(url, file, "00".repeat(32), soon()), /sha256 of the download/);
        server.close();
    });

    it("makes a join token through k0s, and its id", async () => {
        const kubeconfig = "users:\n- name: k0s\n  user:\n    token: abc123.0123456789abcdef\n";
        const token = gzipSync(kubeconfig).toString("base64");
        const k0s = fakeK0s(
            directory,
            `[ "$*" = "token create --data-dir=/d --role=worker --expiry=600s" ] && echo ${token}`,
        );
        const request = { k0sPath: k0s, dataDir: "/d", role: "worker", expirySeconds: 600 } as const;
        assert.deepEqual(await host.createJoinToken(request, soon()), { token, id: "abc123" });
        const wrong = fakeK0s(directory, "echo c2VjcmV0");
        await assert.rejects(host.createJoinToken({ ...request, k0sPath: wrong }, soon()), (error: Error) => {
            assert.match(error.message, /not a join token/);
            assert.ok(!error.message.includes("c2VjcmV0"));
            return true;
        });
    });

    it("installs with each flag as one argument, and reports why k0s refused", async () => {
        const k0s = fakeK0s(directory, `for a; do printf '<%s>' "$a"; done >${directory}/said`);
        await host.installService(k0s, "worker", ["--labels=a=b", "--kubelet-extra-args=--x --y='z'"], soon());
        assert.equal(
            readFileSync(join(directory, "said"), "utf8"),
            "<install><worker><--labels=a=b><--kubelet-extra-args=--x --y='z'>",
        );
        const refusing = fakeK0s(directory, "echo 'Error: Init already exists: /etc/x' >&2; exit 1");
        await assert.rejects(host.installService(refusing, "worker", [], soon()), /Init already exists/);
    });

    it("answers with the exit code and the words of k0s reset", async () => {
        const k0s = fakeK0s(directory, "echo $*; echo Error: running >&2; exit 1");
        assert.deepEqual(await host.reset(k0s, { dataDir: "/d", kubeletRootDir: "/k" }, soon()), {
            exitCode: 1,
            output: "reset --data-dir=/d --kubelet-root-dir=/k\nError: running",
        });
        assert.equal((await host.reset(join(directory, "none"), { dataDir: "/d" }, soon())).exitCode, 127);
    });

    it("backs a controller up, sends the archive, and removes it", async () => {
        const content = randomBytes(300_000);
        writeFileSync(join(directory, "etcd-snapshot.db"), content);
        const k0s = fakeK0s(
            directory,
            `cd ${directory} && mkdir -p pki && : >pki/ca.key && : >k0s.yaml && tar -czf - etcd-snapshot.db pki k0s.yaml`,
        );
        const encryption = join(directory, "encryption.yaml");
        writeFileSync(encryption, "secret");
        const request = {
            k0sPath: k0s,
            dataDir: join(directory, "data"),
            directory: join(directory, "backups"),
            name: "c3-before-add",
            files: [encryption, "/none"],
        };
        const kept = await host.backUp({ ...request, keep: 5 }, soon());
        assert.match(kept.path, /backups\/\d{8}T\d{6}Z-c3-before-add\.tar\.gz$/);
        const archive = await host.backUp({ ...request, keep: 0 }, soon());
        assert.deepEqual(archive.without, ["/none"]);
        const sent = await buffer((await host.openFile(archive.path, soon())).content);
        assert.equal(createHash("sha256").update(sent).digest("hex"), archive.sha256);
        const listed = execFileSync("tar", ["-xzO", `pulumi-mke/files${encryption}`], { input: sent });
        assert.equal(listed.toString(), "secret");
        await host.removeFiles([archive.path], soon());
        assert.deepEqual(readdirSync(request.directory), [kept.path.slice(request.directory.length + 1)]);
        const failing = fakeK0s(directory, "echo 'Error: no leader' >&2; exit 1");
        await assert.rejects(host.backUp({ ...request, k0sPath: failing, keep: 5 }, soon()), (error: Error) => {
            assert.ok(error instanceof CommandError);
            assert.match(
                error.message,
                /^backing up on 127\.0\.0\.1: k0s backup failed \(exit 1\)\n {2}Error: no leader$/,
            );
            return true;
        });
    });

    it("tells an open port from a refused one, and connects to it", async () => {
        const server = createServer((socket) => socket.end("hello")).listen(0, HOST);
        await new Promise((resolve) => server.once("listening", resolve));
        const { port } = server.address() as AddressInfo;
        assert.equal(await host.reach(HOST, port, soon()), "open");
        assert.equal((await buffer(await host.connect(HOST, port, soon()))).toString(), "hello");
        server.close();
        assert.equal(await host.reach(HOST, await freePort(), soon()), "refused");
    });

    it("ends a program at the deadline, on the host too", async () => {
        const pidFile = join(directory, "pid");
        const k0s = fakeK0s(directory, `echo $$ >${pidFile}; exec sleep 600`);
        await assert.rejects(host.installService(k0s, "worker", [], Deadline.after(2_000)), TimeoutError);
        while (existsSync(`/proc/${readFileSync(pidFile, "utf8").trim()}`)) await new Promise((r) => setTimeout(r, 20));
    });

    it("settles everything when the connection is cut, and works again afterwards", async () => {
        const link = await CuttableLink.to(sshd.port);
        const far = openHost(HOST, sshd.connection({ port: link.port }));
        const k0s = fakeK0s(directory, `: >${directory}/started; sleep 1`);
        const running = Array.from({ length: 12 }, () => far.installService(k0s, "worker", [], soon()));
        const settled = Promise.allSettled(running);
        while (!existsSync(join(directory, "started"))) await new Promise((resolve) => setImmediate(resolve));
        const stream = await far.connect(HOST, sshd.port, soon());
        const broken = new Promise((resolve) => stream.once("error", resolve));
        link.cut();
        const failures = (await settled).filter((result) => result.status === "rejected");
        // Those that had not started yet may have found the next connection.
        assert.ok(failures.length >= 1);
        for (const { reason } of failures) {
            assert.ok(reason instanceof ConnectionError && reason.retryable, String(reason));
        }
        await broken;
        assert.equal(await far.exists(directory, soon()), true);
        link.close();
    });

    it("runs more commands at once than sshd has sessions", async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, () => host.exists(directory, soon())));
        assert.ok(answers.every((answer) => answer));
    });

    describe("for a user who is not root", () => {
        const users: TestUser[] = [];
        const noise = "echo 'Welcome to Example Corp'; echo 'last login: never' >&2\n";

        before(function () {
            const missing = sudoMissing();
            if (missing !== undefined) {
                console.log(`      skipped: ${missing}`);
                this.skip();
            }
        });
        after(() => users.forEach((user) => user.remove()));

        function user(options: ConstructorParameters<typeof TestUser>[1]): TestUser {
            const created = new TestUser(`mke-t${process.pid}-${users.length}`, options);
            users.push(created);
            return created;
        }

        async function works(as: TestUser, sudoPassword?: string): Promise<void> {
            const changes = { user: as.name, ...(sudoPassword === undefined ? {} : { sudoPassword }) };
            const theirs = openHost(HOST, sshd.connection(changes));
            const file = join(directory, "owned-by-root");
            await theirs.writeFile(file, "x", 0o600, soon());
            assert.equal(statSync(file).uid, 0);
            assert.equal((await theirs.probe(PATHS, soon())).hostName, hostname());
            const executable = join(directory, "big");
            const content = randomBytes(300_000);
            await theirs.putExecutable(executable, Readable.from(chunks(content)), {}, soon());
            assert.ok((await buffer((await theirs.openFile(executable, soon())).content)).equals(content));
        }

        const shells: readonly [string, Readonly<Record<string, string>>][] = [
            ["/bin/sh", { ".profile": noise }],
            ["/bin/bash", { ".bashrc": noise, ".bash_logout": "echo bye\n" }],
            ["/usr/bin/fish", { ".config/fish/config.fish": noise }],
            ["/bin/tcsh", { ".cshrc": "echo 'Welcome to Example Corp'\n" }],
        ];
        for (const [shell, profile] of shells) {
            if (!existsSync(shell)) continue;
            it(`works with ${shell} and a noisy profile, without and with a sudo password`, async () => {
                await works(user({ shell, profile, sudo: "nopasswd" }));
                const withPassword = user({ shell, profile, sudo: "password" });
                await works(withPassword, withPassword.password);
            });
        }

        it("never lets a password line become a command, where sudo does not ask for it", async () => {
            const trap = join(directory, "executed");
            const lenient = user({ sudo: "nopasswd", shell: "/bin/bash" });
            await works(lenient, `touch ${trap}`);
            // With a cached ticket sudo asks no more either.
            const cached = user({ sudo: "password", shell: "/bin/bash" });
            await works(cached, cached.password);
            await works(cached, `touch ${trap}`);
            assert.equal(existsSync(trap), false);
        });

        it("says what is wrong with sudo", async () => {
            const asks = user({ sudo: "password" });
            const failure = (changes: object): Promise<unknown> =>
                openHost(HOST, sshd.connection({ user: asks.name, ...changes })).exists("/", soon());
            await assert.rejects(failure({}), /sudo asks .* for a password.*\n.*\n?.*connection\.sudoPassword/);
            await assert.rejects(failure({ sudoPassword: "not-the-word" }), (error: Error) => {
                assert.match(error.message, /does not accept the password/);
                assert.ok(!error.message.includes("not-the-word"));
                return true;
            });
            const none = user({ sudo: "none" });
            await assert.rejects(
                failure({ user: none.name, sudoPassword: none.password }),
                /cannot run a shell as root/,
            );
        });

        it("logs in by password, also where the server asks by keyboard-interactive", async () => {
            const someone = user({ sudo: "nopasswd" });
            const { privateKey: _, ...login } = sshd.connection({ user: someone.name, password: someone.password });
            assert.equal(await openHost(HOST, login).exists("/", soon()), true);
            const asking = await TestSshd.start({
                config: ["UsePAM yes", "KbdInteractiveAuthentication yes", "PasswordAuthentication no"],
            });
            try {
                assert.equal(await openHost(HOST, { ...login, port: asking.port }).exists("/", soon()), true);
            } finally {
                asking.stop();
            }
        });
    });
});

function* chunks(content: Buffer): Generator<Buffer> {
    for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
}

function fakeK0s(directory: string, body: string): string {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, "fake-k0s");
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return file;
}
