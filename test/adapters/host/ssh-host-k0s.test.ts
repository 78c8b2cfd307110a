import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { it } from "mocha";
import { CommandError } from "../../../provider/errors";
import { describeOverSshd, fakeK0s, soon } from "./over-sshd";

describeOverSshd("k0s on a host over a real sshd", (scene) => {
    it("makes a join token through k0s, and its id", async () => {
        const kubeconfig = "users:\n- name: k0s\n  user:\n    token: abc123.0123456789abcdef\n";
        const token = gzipSync(kubeconfig).toString("base64");
        const k0s = fakeK0s(
            scene.directory,
            `[ "$*" = "token create --data-dir=/d --role=worker --expiry=600s" ] && echo ${token}`,
        );
        const request = { k0sPath: k0s, dataDir: "/d", role: "worker", expirySeconds: 600 } as const;
        assert.deepEqual(await scene.host.createJoinToken(request, soon()), { token, id: "abc123" });
        const wrong = fakeK0s(scene.directory, "echo c2VjcmV0");
        await assert.rejects(scene.host.createJoinToken({ ...request, k0sPath: wrong }, soon()), (error: Error) => {
            assert.match(error.message, /not a join token/);
            assert.ok(!error.message.includes("c2VjcmV0"));
            return true;
        });
    });

    it("installs with each flag as one argument, and reports why k0s refused", async () => {
        const k0s = fakeK0s(scene.directory, `for a; do printf '<%s>' "$a"; done >${scene.directory}/said`);
        await scene.host.installService(k0s, "worker", ["--labels=a=b", "--kubelet-extra-args=--x --y='z'"], soon());
        assert.equal(
            readFileSync(join(scene.directory, "said"), "utf8"),
            "<install><worker><--labels=a=b><--kubelet-extra-args=--x --y='z'>",
        );
        const refusing = fakeK0s(scene.directory, "echo 'Error: Init already exists: /etc/x' >&2; exit 1");
        await assert.rejects(scene.host.installService(refusing, "worker", [], soon()), /Init already exists/);
    });

    it("answers with the exit code and the words of k0s reset", async () => {
        const k0s = fakeK0s(scene.directory, "echo $*; echo Error: running >&2; exit 1");
        assert.deepEqual(await scene.host.reset(k0s, { dataDir: "/d", kubeletRootDir: "/k" }, soon()), {
            exitCode: 1,
            output: "reset --data-dir=/d --kubelet-root-dir=/k\nError: running",
        });
        assert.equal((await scene.host.reset(join(scene.directory, "none"), { dataDir: "/d" }, soon())).exitCode, 127);
    });

    it("backs a controller up, sends the archive, and removes it", async () => {
        const content = randomBytes(300_000);
        writeFileSync(join(scene.directory, "etcd-snapshot.db"), content);
        const k0s = fakeK0s(
            scene.directory,
            `cd ${scene.directory} && mkdir -p pki && : >pki/ca.key && : >k0s.yaml && tar -czf - etcd-snapshot.db pki k0s.yaml`,
        );
        const encryption = join(scene.directory, "encryption.yaml");
        writeFileSync(encryption, "secret");
        const request = {
            k0sPath: k0s,
            dataDir: join(scene.directory, "data"),
            directory: join(scene.directory, "backups"),
            name: "c3-before-add",
            files: [encryption, "/none"],
        };
        const kept = await scene.host.backUp({ ...request, keep: 5 }, soon());
        assert.match(kept.path, /backups\/\d{8}T\d{6}Z-c3-before-add\.tar\.gz$/);
        const archive = await scene.host.backUp({ ...request, keep: 0 }, soon());
        assert.deepEqual(archive.without, ["/none"]);
        const sent = await buffer((await scene.host.openFile(archive.path, soon())).content);
        assert.equal(createHash("sha256").update(sent).digest("hex"), archive.sha256);
        const listed = execFileSync("tar", ["-xzO", `pulumi-mke/files${encryption}`], { input: sent });
        assert.equal(listed.toString(), "secret");
        await scene.host.removeFiles([archive.path], soon());
        assert.deepEqual(readdirSync(request.directory), [kept.path.slice(request.directory.length + 1)]);
        const failing = fakeK0s(scene.directory, "echo 'Error: no leader' >&2; exit 1");
        await assert.rejects(scene.host.backUp({ ...request, k0sPath: failing, keep: 5 }, soon()), (error: Error) => {
            assert.ok(error instanceof CommandError);
            assert.match(
                error.message,
                /^backing up on 127\.0\.0\.1: k0s backup failed \(exit 1\)\n {2}Error: no leader$/,
            );
            return true;
        });
    });
});
