import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { after, before, it } from "mocha";
import { openHost } from "../../../provider/adapters/ssh/pool";
import { Planted, ProcessWatch } from "../../support/planted";
import { skipWithout } from "../../support/real-parts";
import { TestUser, USER_PARTS } from "../../support/sshd";
import { ANY_MACHINE, describeOverSshd, fakeK0s, HOST, PATHS, soon } from "./over-sshd";

const CONTENT = "planted-content-of-a-file-1";
const CONTROL = "planted-on-a-command-line-2";
const EVERY = 2;

describeOverSshd("secrets on a host over a real sshd", (scene) => {
    let user: TestUser | undefined;

    before(function () {
        skipWithout(this, ...USER_PARTS);
        user = new TestUser(`mke-s${process.pid}`, { sudo: "password" });
    });
    after(() => user?.remove());

    it("are on no command line and in no environment, whoever looks at its processes", async () => {
        const { name = "", password = "" } = user ?? {};
        const token = gzipSync("users:\n- name: k0s\n  user:\n    token: abc123.0123456789abcdef\n").toString("base64");
        const planted = new Planted({ password, content: CONTENT, token, control: CONTROL });
        const host = openHost(HOST, scene.sshd.connection({ user: name, sudoPassword: password })).onMachine(
            ANY_MACHINE,
        );
        const k0s = fakeK0s(scene.directory, `read -r token <${scene.directory}/token; echo $token`);
        const watch = new ProcessWatch(planted, EVERY);
        // It waits by itself: the last program of a line may take the place of its shell.
        const shown = spawn("sh", ["-c", "read -r line", CONTROL]);
        for (let round = 0; round < 5; round += 1) {
            await host.writeFile(join(scene.directory, "file"), CONTENT, 0o600, soon());
            await host.writeFile(join(scene.directory, "token"), `${token}\n`, 0o600, soon());
            await host.readFile(join(scene.directory, "file"), soon());
            await host.createJoinToken({ k0sPath: k0s, dataDir: "/d", role: "worker", expirySeconds: 60 }, soon());
            await host.probe(PATHS, soon());
        }
        const { commandLines, found } = watch.end();
        shown.kill();
        await once(shown, "exit");
        assert.equal(statSync(join(scene.directory, "token")).mode & 0o777, 0o600);
        assert.ok(commandLines > 0);
        assert.deepEqual(found, ["control in cmdline"]);
    });
});
