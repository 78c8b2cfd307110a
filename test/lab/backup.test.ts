import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MkeControllerNode } from "pulumi-mke";
import { openWithAge } from "../support/age";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { temporaryFolder } from "../support/program";
import { answers, ENCRYPTION, encryptSecretsOf, until } from "./encryption";
import { membersSeenFrom, readyNodes } from "./inspect";
import { bootMachine, destroyLab, labKey, type Machine, on, send, startFirstController } from "./machines";

const NETWORK = (process.env["LAB_GATEWAY"] ?? "10.77.0.1").replace(/\d+$/, "");
const b1: Machine = { name: "b1", address: `${NETWORK}31` };
const b2: Machine = { name: "b2", address: `${NETWORK}32` };

const FLAGS = [
    "--ignore-pre-flight-checks=true",
    "--profile=lab",
    "--disable-components=konnectivity-server,coredns,kube-proxy,network-provider,metrics-server,helm,update-prober,windows-node",
];
const PASSPHRASE = "four words, one lab, no secret";

const pulumi = findPulumi();
const binary = process.env["K0S_BINARY"];
if (binary === undefined) {
    console.log("lab: backups skipped, K0S_BINARY does not name a k0s binary");
} else if (pulumi === undefined) {
    console.log("lab: backups skipped, there is no Pulumi CLI on PATH or in ~/.pulumi");
} else {
    describeBackups(pulumi, binary);
}

function describeBackups(cli: string, k0s: string): void {
    describe("a backup of a real k0s, made by a join", function () {
        this.timeout("15m");
        this.bail(true);
        const folder = temporaryFolder("lab-backups");
        const directory = join(folder.path, "backups");
        let engine: Engine;
        let privateKey: string;

        before(async () => {
            await destroyLab();
            for (const machine of [b1, b2]) await bootMachine(machine);
            await startFirstController(b1);
            await encryptSecretsOf(b1, [b2]);
            await on(b1, "k0s kubectl create secret generic made-before --from-literal=word=kept");
            privateKey = await labKey();
            engine = await Engine.start(cli, { name: "backup", show: (text) => process.stdout.write(text) });
        });

        after(async () => {
            await engine.close();
            await destroyLab();
            folder.remove();
        });

        it("lies where Pulumi ran, before and after, and nowhere else", async () => {
            await engine.up(() => {
                const connection = { user: "root", privateKey };
                new MkeControllerNode("b2", {
                    cluster: { controllers: [{ host: b1.address, connection }] },
                    host: b2.address,
                    connection,
                    installFlags: FLAGS,
                    preflight: { cgroupV2: false, minDiskMiB: false as const },
                    backup: { directory, passphrase: PASSPHRASE },
                });
                return Promise.resolve();
            });
            assert.equal((await membersSeenFrom(b1)).length, 2);
            const [before = "", after = "", ...others] = readdirSync(directory).sort();
            console.log(`  ${before}\n  ${after}`);
            assert.match(before, /^\d{8}T\d{6}Z-b2-add\.tar\.gz\.age$/);
            assert.match(after, /^post_\d{8}T\d{6}Z-b2-add\.tar\.gz\.age$/);
            assert.deepEqual(others, []);
            for (const name of [before, after]) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600);
            assert.equal(await on(b1, "ls -A /var/lib/pulumi-mke/backups"), "");
            assert.ok(!engine.output.join("").includes(PASSPHRASE));
            assert.ok(!(await engine.stateFiles()).includes(PASSPHRASE));
        });

        it("restores the cluster on a fresh machine of the same address, with what its k0s.yaml refers to", async () => {
            const [name = ""] = readdirSync(directory).sort();
            const { decrypted, skipped } = await openWithAge(join(directory, name), PASSPHRASE);
            if (skipped !== undefined) console.log(`  not opened with the age tool: ${skipped}`);
            const archive = join(folder.path, "backup.tar.gz");
            writeFileSync(archive, decrypted, { mode: 0o600 });

            await destroyLab();
            await bootMachine(b1);
            await send(b1, k0s, "/usr/local/bin/k0s");
            await send(b1, archive, "/root/backup.tar.gz");
            // As docs/backups.md has it.
            await on(b1, "chmod 755 /usr/local/bin/k0s && mkdir -p /etc/k0s");
            await on(b1, "k0s restore --config-out /etc/k0s/k0s.yaml /root/backup.tar.gz");
            await on(b1, "tar -xzOf /root/backup.tar.gz pulumi-mke/k0scontroller.service | grep ^ExecStart=");
            await on(b1, `k0s install controller --config /etc/k0s/k0s.yaml --enable-worker ${FLAGS.join(" ")}`);
            await on(b1, "tar -xzpf /root/backup.tar.gz -C / --strip-components=2 --no-overwrite-dir pulumi-mke/files");
            await on(b1, "systemctl start k0scontroller");
            await answers(b1);

            const secret = await on(b1, "k0s kubectl get secret made-before -o jsonpath='{.data.word}' | base64 -d");
            assert.equal(secret, "kept");
            assert.deepEqual(
                (await membersSeenFrom(b1)).map((member) => member.name),
                ["b1"],
            );
            assert.equal((await on(b1, `stat -c '%a %U' ${ENCRYPTION}`)).trim(), "640 kube-apiserver");
            await until(async () => (await readyNodes(b1)).join() === "b1");
        });
    });
}
