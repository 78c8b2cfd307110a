import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { it } from "mocha";
import { openHost } from "../../../provider/adapters/ssh/pool";
import { Deadline } from "../../../provider/deadline";
import { CommandError, ConnectionError, TimeoutError } from "../../../provider/errors";
import { freePort } from "../../support/program";
import { CuttableLink } from "../../support/sshd";
import { ANY_MACHINE, chunks, describeOverSshd, fakeK0s, HOST, PATHS, soon } from "./over-sshd";

describeOverSshd("a host over a real sshd", (scene) => {
    it("is probed in one round trip", async () => {
        const facts = await scene.host.probe(PATHS, soon());
        assert.equal(facts.address, HOST);
        assert.equal(facts.hostName, hostname());
        assert.ok(facts.cpus >= 1 && facts.memoryMiB > 100 && facts.diskFreeMiB > 0);
        assert.ok(Math.abs(facts.clock - Date.now() / 1000) < 60);
    });

    it("writes a file with its mode, in a new directory, and reads it back byte for byte", async () => {
        const file = join(scene.directory, "a/b c/it's $HOME");
        const content = Buffer.concat([randomBytes(70_000), Buffer.from("\n\n"), Buffer.from([0, 255, 10])]);
        await scene.host.writeFile(file, content, 0o640, soon());
        assert.equal(statSync(file).mode & 0o7777, 0o640);
        assert.deepEqual(await scene.host.readFile(file, soon()), content);
        await scene.host.writeFile(file, "", 0o600, soon());
        assert.deepEqual(await scene.host.readFile(file, soon()), Buffer.alloc(0));
        assert.deepEqual(readdirSync(join(scene.directory, "a/b c")), ["it's $HOME"], "no temporary file stays");
    });

    it("replaces a symbolic link instead of writing through it", async () => {
        writeFileSync(join(scene.directory, "target"), "kept");
        symlinkSync(join(scene.directory, "target"), join(scene.directory, "link"));
        await scene.host.writeFile(join(scene.directory, "link"), "new", 0o600, soon());
        assert.equal(readFileSync(join(scene.directory, "target"), "utf8"), "kept");
        assert.equal(readFileSync(join(scene.directory, "link"), "utf8"), "new");
    });

    it("answers undefined for an absent file and an error for a directory", async () => {
        assert.equal(await scene.host.readFile(join(scene.directory, "none"), soon()), undefined);
        assert.equal(await scene.host.sha256(join(scene.directory, "none"), soon()), undefined);
        assert.equal(await scene.host.exists(join(scene.directory, "none"), soon()), false);
        assert.equal(await scene.host.exists(scene.directory, soon()), true);
        await assert.rejects(scene.host.readFile(scene.directory, soon()), /is not a regular file/);
        await assert.rejects(scene.host.writeFile(scene.directory, "x", 0o600, soon()), /is a directory/);
    });

    it("removes files, absent ones too, but no directory", async () => {
        writeFileSync(join(scene.directory, "one"), "");
        await scene.host.removeFiles([join(scene.directory, "one"), join(scene.directory, "none")], soon());
        assert.deepEqual(readdirSync(scene.directory), []);
        await assert.rejects(scene.host.removeFiles([scene.directory], soon()), /is a directory/);
    });

    it("takes a big executable and gives it back", async () => {
        const content = randomBytes(20 * 1024 * 1024);
        const sha256 = createHash("sha256").update(content).digest("hex");
        const file = join(scene.directory, "bin/k0s");
        await scene.host.putExecutable(file, Readable.from(chunks(content)), { size: content.length, sha256 }, soon());
        assert.equal(statSync(file).mode & 0o7777, 0o755);
        assert.equal(await scene.host.sha256(file, soon()), sha256);
        const back = await scene.host.openFile(file, soon());
        assert.equal(back.size, content.length);
        assert.ok((await buffer(back.content)).equals(content));
        assert.deepEqual(readdirSync(join(scene.directory, "bin")), ["k0s"]);
    });

    it("leaves the old executable in place when the new one is not what was expected", async () => {
        const file = join(scene.directory, "k0s");
        writeFileSync(file, "old");
        const put = (expected: object, content = Readable.from([Buffer.from("new")])): Promise<void> =>
            scene.host.putExecutable(file, content, expected, soon());
        await assert.rejects(put({ size: 4 }), /3 bytes, 4 were expected/);
        await assert.rejects(put({ sha256: "00" }), /sha256 of the source/);
        const broken = new Readable({ read: () => undefined });
        setImmediate(() => broken.destroy(new Error("helper went away")));
        await assert.rejects(put({}, broken), /helper went away/);
        assert.equal(readFileSync(file, "utf8"), "old");
        assert.deepEqual(readdirSync(scene.directory), ["k0s"]);
    });

    it("does not wait for ever where an upload cannot be written", async () => {
        const put = scene.host.putExecutable("/proc/none/k0s", Readable.from([Buffer.from("x")]), {}, soon());
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
        const file = join(scene.directory, "k0s");
        await scene.host.downloadExecutable(url, file, undefined, soon());
        assert.equal(await scene.host.k0sVersion(file, soon()), "v1.2.3");
        assert.ok(commandLines.includes("curl") && !commandLines.includes("very-secret"));
        await assert.rejects(
            scene.host.downloadExecutable(url, file, "00".repeat(32), soon()),
            /sha256 of the download/,
        );
        server.close();
    });

    it("tells an open port from a refused one, and connects to it", async () => {
        const server = createServer((socket) => socket.end("hello")).listen(0, HOST);
        await new Promise((resolve) => server.once("listening", resolve));
        const { port } = server.address() as AddressInfo;
        assert.equal(await scene.host.reach(HOST, port, soon()), "open");
        assert.equal((await buffer(await scene.host.connect(HOST, port, soon()))).toString(), "hello");
        server.close();
        assert.equal(await scene.host.reach(HOST, await freePort(), soon()), "refused");
        await assert.rejects(scene.host.connect("::1", port, soon()), {
            message: new RegExp(`^connecting to \\[::1\\]:${port} on `),
        });
    });

    it("says where names lead, and leaves out those that lead nowhere", async () => {
        const found = await scene.host.resolve(["localhost", "no-such-name.invalid", "-x"], soon());
        assert.deepEqual([...found.keys()], ["localhost"]);
        assert.match(found.get("localhost")?.join(" ") ?? "", /127\.0\.0\.1|::1/);
    });

    it("ends a program at the deadline, on the host too", async () => {
        const pidFile = join(scene.directory, "pid");
        const k0s = fakeK0s(scene.directory, `echo $$ >${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600`);
        // A machine may be too slow to start it in the time that it has.
        for (let limit = 2000; !existsSync(pidFile); limit *= 2) {
            await assert.rejects(scene.host.installService(k0s, "worker", [], Deadline.after(limit)), TimeoutError);
        }
        while (existsSync(`/proc/${readFileSync(pidFile, "utf8").trim()}`)) await new Promise((r) => setTimeout(r, 20));
    });

    it("settles everything when the connection is cut, and works again afterwards", async () => {
        const link = await CuttableLink.to(scene.sshd.port);
        const far = openHost(HOST, scene.sshd.connection({ port: link.port })).onMachine(ANY_MACHINE);
        const [started, hold] = [join(scene.directory, "started"), join(scene.directory, "hold")];
        writeFileSync(hold, "");
        const k0s = fakeK0s(scene.directory, `: >${started}; while [ -e ${hold} ]; do sleep 0.1; done`);
        const running = Array.from({ length: 12 }, () => far.installService(k0s, "worker", [], soon()));
        const settled = Promise.allSettled(running);
        while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve));
        const stream = await far.connect(HOST, scene.sshd.port, soon());
        const broken = new Promise((resolve) => stream.once("error", resolve));
        link.cut();
        rmSync(hold);
        const failures = (await settled).filter((result) => result.status === "rejected");
        // Those that had not started yet may have found the next connection.
        assert.ok(failures.length >= 1);
        for (const { reason } of failures) {
            assert.ok(reason instanceof ConnectionError && reason.retryable, String(reason));
        }
        await broken;
        assert.equal(await far.exists(scene.directory, soon()), true);
        link.close();
    });

    it("runs more commands at once than sshd has sessions", async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, () => scene.host.exists(scene.directory, soon())));
        assert.ok(answers.every((answer) => answer));
    });
});
