import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, before, it } from "mocha";
import { openHost } from "../../../provider/adapters/ssh/pool";
import { defined } from "../../../provider/defined";
import { type RealPart, skipWithout } from "../../support/real-parts";
import { TestSshd, TestUser, USER_PARTS } from "../../support/sshd";
import { ANY_MACHINE, chunks, describeOverSshd, HOST, PATHS, soon } from "./over-sshd";

describeOverSshd("a host over a real sshd, for a user who is not root", (scene) => {
    const users: TestUser[] = [];
    const noise = "echo 'Welcome to Example Corp'; echo 'last login: never' >&2\n";

    before(function () {
        skipWithout(this, ...USER_PARTS);
    });
    after(() => users.forEach((user) => user.remove()));

    function user(options: ConstructorParameters<typeof TestUser>[1]): TestUser {
        const created = new TestUser(`mke-t${process.pid}-${users.length}`, options);
        users.push(created);
        return created;
    }

    async function works(as: TestUser, sudoPassword?: string): Promise<void> {
        const changes = { user: as.name, ...defined({ sudoPassword }) };
        const theirs = openHost(HOST, scene.sshd.connection(changes)).onMachine(ANY_MACHINE);
        const file = join(scene.directory, "owned-by-root");
        await theirs.writeFile(file, "x", 0o600, soon());
        assert.equal(statSync(file).uid, 0);
        assert.equal((await theirs.probe(PATHS, soon())).hostName, hostname());
        const executable = join(scene.directory, "big");
        const content = randomBytes(300_000);
        await theirs.putExecutable(executable, Readable.from(chunks(content)), {}, soon());
        assert.ok((await buffer((await theirs.openFile(executable, soon())).content)).equals(content));
    }

    const shells: readonly [string, Readonly<Record<string, string>>, ...RealPart[]][] = [
        ["/bin/sh", { ".profile": noise }],
        ["/bin/bash", { ".bashrc": noise, ".bash_logout": "echo bye\n" }],
        ["/usr/bin/fish", { ".config/fish/config.fish": noise }, "fish"],
        ["/bin/tcsh", { ".cshrc": "echo 'Welcome to Example Corp'\n" }, "tcsh"],
    ];
    for (const [shell, profile, ...parts] of shells) {
        it(`works with ${shell} and a noisy profile, without and with a sudo password`, async function () {
            skipWithout(this, ...parts);
            await works(user({ shell, profile, sudo: "nopasswd" }));
            const withPassword = user({ shell, profile, sudo: "password" });
            await works(withPassword, withPassword.password);
        });
    }

    it("never lets a password line become a command, where sudo does not ask for it", async () => {
        const trap = join(scene.directory, "executed");
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
            openHost(HOST, scene.sshd.connection({ user: asks.name, ...changes })).exists("/", soon());
        await assert.rejects(failure({}), /sudo asks .* for a password.*\n.*\n?.*connection\.sudoPassword/);
        await assert.rejects(failure({ sudoPassword: "not-the-word" }), (error: Error) => {
            assert.match(error.message, /does not accept the password/);
            assert.ok(!error.message.includes("not-the-word"));
            return true;
        });
        const none = user({ sudo: "none" });
        await assert.rejects(failure({ user: none.name, sudoPassword: none.password }), /cannot run a shell as root/);
    });

    it("logs in by password, also where the server asks by keyboard-interactive", async () => {
        const someone = user({ sudo: "nopasswd" });
        const { privateKey: _, ...login } = scene.sshd.connection({ user: someone.name, password: someone.password });
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
