import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type Simulation, startSimulation, TIMING } from ".";
import { decodeProgram, encodeProgram } from "../../provider/adapters/host/program";
import { isReady } from "./k0s/kubelet";
import { EtcdError } from "./model/etcd";
import { RESOURCES } from "./model/store";
import { runProgram } from "./programs";
import type { ProgramOutput } from "./programs/program";

describe("faults of a simulated cluster", () => {
    let sim: Simulation;

    beforeEach(async () => {
        sim = await startSimulation({ speed: 0 });
        for (const index of [1, 2, 3]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1");
    });

    afterEach(() => sim.close());

    function withThree(): void {
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        sim.advance(5);
    }

    function idOf(name: string): bigint {
        return sim.members().find((member) => member.name === name)?.id ?? 0n;
    }

    function isNodeReady(name: string): boolean {
        return isReady(sim.cluster.store.get(RESOURCES.nodes, name)?.status);
    }

    /** The end of a promise that waits for simulated time. */
    async function settledAfter<T>(promise: Promise<T>, seconds: number): Promise<T | Error> {
        const caught = promise.catch((error: unknown) => error as Error);
        sim.advance(seconds);
        return caught;
    }

    function run(name: string, program: string, values: Record<string, string>): Promise<ProgramOutput> {
        return runProgram(sim.find(name), decodeProgram(encodeProgram(program, values, ":")));
    }

    it("etcd refuses to commit without a majority, and goes on when one is back", async () => {
        withThree();
        sim.find("c2").powerOff();
        sim.assertInvariants(/ghost/);
        sim.find("c3").powerOff();
        sim.advance(TIMING.writeGap);
        const answer = await settledAfter(sim.cluster.etcd.committed(idOf("c1")), TIMING.etcdRequest);
        assert.ok(answer instanceof EtcdError);
        assert.match(answer.message, /request timed out/);
        assert.throws(() => sim.assertInvariants(), /no quorum/);
        sim.find("c2").powerOn();
        await sim.until("c2 serves", () => sim.cluster.etcd.leaderId !== undefined, 60);
        assert.equal(sim.cluster.etcd.hasQuorum(idOf("c1")), true);
    });

    it("writes stop for seven seconds when the etcd leader goes, and one of them fails", async () => {
        withThree();
        sim.removeMemberFromOutside(sim.cluster.etcd.leaderId ?? 0n);
        const ends: string[] = [];
        for (const name of ["first", "second"]) {
            sim.cluster.etcd.committed(idOf("c2")).then(
                () => ends.push(`${name} done`),
                (error: unknown) => ends.push(`${name}: ${(error as Error).message}`),
            );
        }
        sim.advance(TIMING.writeGap - 0.1);
        await nextTurn();
        assert.deepEqual(ends, []);
        sim.advance(0.2);
        await nextTurn();
        assert.deepEqual(ends.sort(), ["first: etcdserver: leader changed", "second done"]);
    });

    it("writes go on when leadership was moved before the leader goes", async () => {
        withThree();
        const leader = sim.cluster.etcd.leaderId ?? 0n;
        sim.cluster.etcd.moveLeader(leader, idOf("c2"));
        sim.removeMemberFromOutside(leader);
        await sim.cluster.etcd.committed(idOf("c2"));
    });

    it("the k0s leader hands over before it leaves", async () => {
        withThree();
        const leader = (): string | undefined => sim.cluster.leader.holder?.host.name;
        assert.equal(leader(), "c1");
        sim.requestLeave("c1");
        await sim.until("c1 has left", () => idOf("c1") === 0n, 30);
        assert.notEqual(leader(), "c1");
        assert.equal(sim.members().length, 2);
    });

    it("the only controller does not leave", () => {
        sim.advance(5);
        sim.requestLeave("c1");
        sim.advance(60);
        assert.equal(sim.members().length, 1);
        const object = sim.cluster.store.get(RESOURCES.etcdMembers, "c1");
        assert.match(String(object?.status?.["message"]), /^The only active controller cannot leave/);
    });

    it("etcd refuses a removal that would leave too few live voters", () => {
        withThree();
        sim.find("c3").powerOff();
        assert.throws(() => sim.removeMemberFromOutside(idOf("c2")), /unhealthy cluster/);
        sim.removeMemberFromOutside(idOf("c3"));
        assert.equal(sim.members().length, 2);
    });

    it("a controller that etcd forgot still looks healthy from the host", async () => {
        withThree();
        sim.removeMemberFromOutside(idOf("c3"));
        sim.advance(60);
        const probed = (await run("c3", "probe", PROBE)).stdout.toString();
        assert.match(probed, /^unit-controller\tyes active running 0$/m);
        assert.match(probed, /^status-role\tcontroller$/m);
        assert.equal(isNodeReady("c3"), true);
    });

    it("after its leave a unit stays active, its status silent, its Node turns NotReady", async () => {
        withThree();
        sim.requestLeave("c3");
        sim.advance(30);
        const probed = (await run("c3", "probe", PROBE)).stdout.toString();
        assert.match(probed, /^unit-controller\tyes active running 0$/m);
        assert.match(probed, /^status-silent\t/m);
        assert.match(probed, /^run-lock\theld$/m);
        assert.equal(isNodeReady("c3"), true);
        sim.advance(30);
        assert.equal(isNodeReady("c3"), false);
    });

    it("reset is refused while k0s runs, and leaves the configuration when it does not", async () => {
        const values = { K0S: "/usr/local/bin/k0s", DATA_DIR: "/var/lib/k0s", KUBELET_ROOT_DIR: "" };
        const refused = (await run("c1", "reset", values)).stdout.toString();
        assert.equal(refused, "1\nError: another k0s process is still running, please stop k0s before reset");
        sim.find("c1").stopService();
        assert.match((await run("c1", "reset", values)).stdout.toString(), /^0\n/);
        assert.equal(sim.find("c1").files.exists("/var/lib/k0s"), false);
        assert.equal(sim.find("c1").files.isFile("/etc/k0s/k0s.yaml"), true);
        assert.equal(sim.find("c1").units.installed, undefined);
    });

    it("a controller without token and data makes a cluster of its own", async () => {
        withThree();
        const host = sim.find("c3");
        sim.removeMemberFromOutside(idOf("c3"));
        host.stopService();
        host.files.removeTree("/var/lib/k0s/etcd");
        host.units.remove("k0scontroller");
        host.units.install("k0scontroller", ["/usr/local/bin/k0s", "controller", "--enable-worker=true"]);
        host.startService();
        await sim.until("it is ready", () => sim.world.clusters[1]?.etcd.works === true, 60);
        assert.equal(sim.world.clusters[1]?.pki, sim.cluster.pki);
        assert.throws(() => sim.assertInvariants(), /2 clusters/);
    });

    it("a controller on cgroup v1 restarts for ever and says why in its journal", async () => {
        sim.host("old", { address: "10.77.0.41", cgroup: 1 });
        sim.startJoin("old", "controller+worker", "c1");
        sim.advance(25);
        const unit = sim.find("old").units.installed;
        assert.equal(unit?.restarts, 2);
        assert.match(unit.journal.at(-1) ?? "", /cgroup v1 is not supported/);
        assert.equal(
            (await run("old", "service-state", { SERVICE: "k0scontroller" })).stdout,
            "activating auto-restart 2",
        );
    });

    it("a worker joins in seconds, and its Node stays when only the cluster forgets it", async () => {
        sim.startJoin("w1", "worker", "c1");
        await sim.until("its Node is Ready", () => isNodeReady("w1"), 4);
        sim.cluster.store.delete(RESOURCES.nodes, "w1");
        sim.advance(60);
        assert.equal(sim.cluster.store.get(RESOURCES.nodes, "w1"), undefined);
        sim.find("w1").stopService();
        sim.find("w1").startService();
        await sim.until("its Node is back", () => isNodeReady("w1"), 5);
    });

    it("a machine that was wiped shows another machine id and host key", () => {
        const host = sim.find("w1");
        const before = { id: host.machineId, key: host.hostKey };
        host.wipe();
        assert.notEqual(host.machineId, before.id);
        assert.notEqual(host.hostKey, before.key);
    });

    it("a firewall between two of two members costs the quorum", () => {
        sim.addSettled("c2", "controller+worker");
        sim.find("c2").firewall({ port: 2380, from: "10.77.0.11" });
        assert.equal(sim.cluster.etcd.works, false);
        sim.find("c2").clearFirewall();
        assert.equal(sim.cluster.etcd.works, true);
    });
});

function nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
}

const PROBE = { DATA_DIR: "/var/lib/k0s", K0S: "/usr/local/bin/k0s", KUBELET_ROOT_DIR: "", MARKER: "/none" };
