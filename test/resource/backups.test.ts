import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { controller } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { BACKUP_DIRECTORY } from "../../provider/stages/backup";
import { type Simulation, startSimulation } from "../sim";
import { created } from "../sim/program-of";
import { openWithAge } from "../support/age";
import { temporaryFolder } from "../support/program";

const PASSPHRASE = "planted: pass-phrase of backups";

describe("the backups of a resource, on a simulated cluster", function () {
    this.timeout("5m");
    let sim: Simulation;
    let folder: ReturnType<typeof temporaryFolder>;
    let written: string;
    const write = process.stdout.write.bind(process.stdout);

    beforeEach(async () => {
        forgetControllers();
        folder = temporaryFolder("backups");
        sim = await startSimulation({ speed: 30 });
        for (const index of [1, 2]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.bootstrapController("c1");
        written = "";
        // Where Pulumi shows it.
        process.stdout.write = (text: string | Uint8Array): boolean => {
            written += String(text);
            return write(text);
        };
    });

    afterEach(async () => {
        process.stdout.write = write;
        closeAll();
        forgetControllers();
        await sim.close();
        folder.remove();
    });

    async function create(backup: Bag = {}): Promise<{ id: string; outs: Bag }> {
        const connected = (name: string) => ({ host: sim.find(name).address, connection: sim.connectionArgs(name) });
        const inputs = { ...connected("c2"), cluster: { controllers: [connected("c1")] }, owner: "test/c2", backup };
        return created(controller, inputs);
    }

    const kept = (): string[] => sim.find("c1").files.list(BACKUP_DIRECTORY);
    const names = (list: readonly string[]): string[] =>
        list.map((name) => name.replace(/\d{8}T\d{6}Z/, "time")).sort();
    const membersIn = (archive: Buffer): string[] =>
        (JSON.parse(gunzipSync(archive).toString()) as { members: string[] }).members.sort();

    it("stay on the controller that helped", async () => {
        const { id, outs } = await create();
        await controller.delete(id, outs);
        assert.deepEqual(names(kept()), [
            "time-c2-after-add.tar.gz",
            "time-c2-after-remove.tar.gz",
            "time-c2-before-add.tar.gz",
            "time-c2-before-remove.tar.gz",
        ]);
        assert.deepEqual(sim.find("c2").files.list(BACKUP_DIRECTORY), []);
        sim.assertInvariants();
    });

    it("come here encrypted, the first from before and the second from after, and the passphrase goes nowhere", async () => {
        const directory = join(folder.path, "mine");
        await create({ directory, passphrase: PASSPHRASE });
        const [before = "", after = ""] = readdirSync(directory).sort();
        assert.deepEqual(names([before, after]), ["post_time-c2-add.tar.gz.age", "time-c2-add.tar.gz.age"]);
        const open = async (name: string) => (await openWithAge(join(directory, name), PASSPHRASE)).decrypted;
        assert.deepEqual(membersIn(await open(before)), ["c1"]);
        assert.deepEqual(membersIn(await open(after)), ["c1", "c2"]);
        assert.deepEqual(kept(), []);
        const everywhere = [written, JSON.stringify(sim.events)];
        for (const host of sim.hosts) everywhere.push(JSON.stringify(host.files, replaceMaps));
        assert.ok(everywhere.join().includes("post-operation backup"));
        assert.ok(!everywhere.join().includes("planted"));
    });

    it("fail the operation with nothing written when the first cannot be made, and it succeeds afterwards", async () => {
        const c1 = sim.find("c1");
        c1.failing.set("backup", "the disk is full");
        await assert.rejects(
            create(),
            /^CommandError: backing up on 10\.77\.0\.11: k0s backup failed \(exit 1\)\n {2}the disk/,
        );
        const writes = sim.events.filter(({ kind, what }) => /-write$/.test(kind) && !what.includes("/leases"));
        assert.deepEqual(writes, []);
        assert.deepEqual(sim.find("c2").files.list("/etc/pulumi-mke"), []);
        c1.failing.delete("backup");
        const { id, outs } = await create();
        c1.failing.set("backup", "the disk is full");
        await assert.rejects(controller.delete(id, outs), { message: /the disk is full/ });
        assert.equal(sim.members().length, 2);
        assert.equal(sim.find("c2").units.get("k0scontroller")?.active, "active");
        c1.failing.delete("backup");
        await controller.delete(id, outs);
        assert.equal(sim.members().length, 1);
        sim.assertInvariants();
    });
});

/** Files of simulated hosts are maps of buffers. */
function replaceMaps(_key: string, value: unknown): unknown {
    if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
    const buffer = value as { type?: string; data?: number[] } | null;
    return buffer?.type === "Buffer" ? Buffer.from(buffer.data ?? []).toString("latin1") : value;
}
