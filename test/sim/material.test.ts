import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { controller, worker } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { type SimHost, type Simulation, startSimulation } from ".";
import { checked, created } from "./program-of";

const ENCRYPTION = "/var/lib/k0s/encryption.cfg";
const POLICY = "/etc/k0s/audit-policy.yaml";
const AUDIT_LOG = "/var/log/k0s/audit/audit.log";
const SECRET =
    "kind: EncryptionConfiguration\nresources: [{ providers: [{ secretbox: { keys: [{ secret: c2VjcmV0 }] } }] }]";
const CERTS = "/etc/containerd/certs.d/registry.example.com";
const UNIT = "/etc/systemd/system/etcd-maintenance.service";
const MAINTENANCE = "/usr/local/bin/etcd-maintenance";

const extraArgs = {
    "encryption-provider-config": ENCRYPTION,
    "audit-policy-file": POLICY,
    "audit-log-path": AUDIT_LOG,
};

/** A cluster whose first controller has what MKE 4 puts there. */
describe("what a simulated cluster holds beside k0s", () => {
    let sim: Simulation;
    let c1: SimHost;
    let c2: SimHost;
    let w1: SimHost;

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 30 });
        c1 = sim.host("c1", { address: "10.77.0.11" });
        c2 = sim.host("c2", { address: "10.77.0.12" });
        w1 = sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1", { spec: { api: { extraArgs } } });
        for (const name of ["etcd", "kube-apiserver"]) c1.users.add(name);
        c1.files.write(POLICY, "rules: []", 0o644);
        c1.files.write(ENCRYPTION, SECRET, 0o600);
        c1.files.own(ENCRYPTION, { user: "kube-apiserver", group: "root", mode: 0o600 });
        c1.files.mkdir("/var/log/k0s/audit");
        c1.files.own("/var/log/k0s/audit", { user: "kube-apiserver", group: "kube-apiserver", mode: 0o700 });
    });

    afterEach(async () => {
        closeAll();
        forgetControllers();
        await sim.close();
    });

    const inputs = (host: SimHost, more: Bag = {}): Bag => ({
        host: host.address,
        connection: sim.connectionArgs(host.name),
        cluster: { controllers: [{ host: c1.address, connection: sim.connectionArgs("c1") }] },
        owner: `test/${host.name}`,
        ...more,
    });

    async function create(kind: typeof controller, host: SimHost, more: Bag = {}): Promise<{ id: string; outs: Bag }> {
        return created(kind, inputs(host, more));
    }

    /** What Pulumi keeps of it. */
    async function interruptedJoin(): Promise<{ readonly id: string; readonly properties: Bag }> {
        c2.failing.set("install-service", "no space left on device");
        let kept: { readonly id: string; readonly properties: Bag } | undefined;
        await create(controller, c2).catch((error: unknown) => {
            kept = error as typeof kept;
        });
        assert.ok(kept?.id);
        return kept;
    }

    const filesOf = ({ files }: SimHost): string[] =>
        [
            ENCRYPTION,
            POLICY,
            "/var/log/k0s",
            `${CERTS}/ca.crt`,
            UNIT,
            MAINTENANCE,
            "/etc/k0s",
            "/etc/pulumi-mke",
        ].filter((path) => files.exists(path));

    it("arrives on a new controller with mode and owner, and is gone after its removal", async () => {
        const { id, outs } = await create(controller, c2);
        assert.equal(c2.files.text(ENCRYPTION), SECRET);
        assert.deepEqual(c2.files.owner(ENCRYPTION), { user: "kube-apiserver", group: "root", mode: 0o600 });
        assert.equal(c2.files.owner("/var/log/k0s/audit").user, "kube-apiserver");
        assert.equal(c2.files.owner("/var/log/k0s/audit").mode, 0o700);
        assert.equal(c2.files.text(POLICY), "rules: []");
        assert.ok(!c2.files.exists(AUDIT_LOG));
        await controller.delete(id, outs);
        assert.deepEqual(filesOf(c2), []);
        assert.equal(c1.files.text(ENCRYPTION), SECRET);
        sim.assertInvariants();
    });

    it("stops the join where a file is on neither side, with nothing changed and no secret told", async () => {
        c1.files.remove(POLICY);
        await assert.rejects(create(controller, c2), (error: Error) => {
            assert.match(error.message, /audit-policy\.yaml \(spec\.api\.extraArgs\.audit-policy-file\)/);
            assert.match(error.message, /runbook\.md#configuration-files/);
            assert.ok(!error.message.includes("c2VjcmV0"));
            return true;
        });
        assert.deepEqual(filesOf(c2), []);
        assert.equal(c2.units.installed, undefined);
        assert.equal(sim.members().length, 1);
        sim.assertInvariants();
    });

    it("does not make a host foreign on which an interrupted join has left it", async () => {
        const kept = await interruptedJoin();
        assert.equal(c2.files.text(ENCRYPTION), SECRET);
        c2.failing.clear();
        const { outs } = await controller.update(kept.id, kept.properties, await checked(controller, inputs(c2)));
        assert.equal(outs["status"], "ready");
        assert.equal(c2.files.owner(ENCRYPTION).user, "kube-apiserver");
        await controller.delete(kept.id, outs);
        assert.deepEqual(filesOf(c2), []);
    });

    it("is taken away also when the node is removed before k0s was installed", async () => {
        const kept = await interruptedJoin();
        await controller.delete(kept.id, kept.properties);
        assert.deepEqual(filesOf(c2), []);
        sim.assertInvariants();
    });

    it("has registry certificates for workers too", async () => {
        c1.files.write(`${CERTS}/ca.crt`, "CA", 0o644);
        const { id, outs } = await create(worker, w1);
        assert.deepEqual(filesOf(w1), [`${CERTS}/ca.crt`, "/etc/k0s", "/etc/pulumi-mke"]);
        await worker.delete(id, outs);
        assert.deepEqual(filesOf(w1), []);
    });

    it("has an etcd maintenance service for controllers", async () => {
        c1.files.write(MAINTENANCE, "program", 0o755);
        c1.files.write(UNIT, `[Service]\nExecStart=${MAINTENANCE} serve\n`);
        const { id, outs } = await create(controller, c2);
        assert.deepEqual([c2.files.text(MAINTENANCE), c2.files.exists(UNIT)], ["program", true]);
        await controller.delete(id, outs);
        assert.deepEqual(filesOf(c2), []);
        const done = sim.events
            .filter(({ what, host }) => host === "c2" && what.startsWith("unit "))
            .map(({ what }) => what);
        assert.deepEqual(
            done,
            ["up", "down", "forget"].map((action) => `unit etcd-maintenance.service ${action}`),
        );
    });
});
