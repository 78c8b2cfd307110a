import assert from "node:assert/strict";
import { MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { type Balancer, startBalancer } from "./balancer";
import { makeLeader, membersSeenFrom, memberTable, namesOf, readyNodes, tracesOn } from "./inspect";
import { bootMachine, destroyLab, labKey, type Machine, on, startFirstController } from "./machines";

const EXTERNAL = "10.77.0.1";
const c1: Machine = { name: "c1", address: "10.77.0.11" };
const c2: Machine = { name: "c2", address: "10.77.0.12" };
const c3: Machine = { name: "c3", address: "10.77.0.13" };
const w1: Machine = { name: "w1", address: "10.77.0.21" };

/** What this kind of machine needs: no images can be pulled, and cgroup v1 is common on hosts of machines in machines. */
const WORKER_FLAGS = ["--ignore-pre-flight-checks=true", "--profile=lab"];
const CONTROLLER_FLAGS = [
    ...WORKER_FLAGS,
    "--disable-components=konnectivity-server,coredns,kube-proxy,network-provider,metrics-server,helm,update-prober,windows-node",
];

const pulumi = findPulumi();
if (process.env["K0S_BINARY"] === undefined) {
    console.log("lab: skipped, K0S_BINARY does not name a k0s binary");
} else if (pulumi === undefined) {
    console.log("lab: skipped, there is no Pulumi CLI on PATH or in ~/.pulumi");
} else {
    describeLab(pulumi);
}

function describeLab(cli: string): void {
    describe("pulumi up on real machines with a real k0s", function () {
        this.timeout("30m");
        this.bail(true);
        let engine: Engine;
        let balancers: readonly Balancer[] = [];
        let privateKey: string;

        before(async () => {
            await destroyLab();
            for (const machine of [c1, c2, c3, w1]) await bootMachine(machine);
            const controllers = [c1, c2, c3];
            balancers = await Promise.all(
                [6443, 9443].map((port) =>
                    startBalancer({ host: EXTERNAL, port }, () =>
                        controllers.map(({ address }) => ({ host: address, port })),
                    ),
                ),
            );
            await startFirstController(c1, EXTERNAL);
            privateKey = await labKey();
            console.log(`lab: k0s ${(await on(c1, "k0s version")).trim()}`);
            engine = await Engine.start(cli, { name: "lab", show: (text) => process.stdout.write(text) });
        });

        after(async () => {
            await engine.close();
            await Promise.all(balancers.map((balancer) => balancer.close()));
            await destroyLab();
        });

        const program = (controllers: readonly Machine[], workers: readonly Machine[]) => () => {
            const connection = { user: "root", privateKey };
            const cluster = { controllers: [c1, c2, c3].map(({ address }) => ({ host: address, connection })) };
            const preflight = { cgroupV2: false, minDiskMiB: false as const };
            for (const { name, address } of controllers) {
                new MkeControllerNode(name, {
                    cluster,
                    host: address,
                    connection,
                    installFlags: CONTROLLER_FLAGS,
                    preflight,
                });
            }
            for (const { name, address } of workers) {
                new MkeWorkerNode(name, {
                    cluster,
                    host: address,
                    connection,
                    installFlags: WORKER_FLAGS,
                    preflight,
                    labels: { zone: "a" },
                });
            }
            return Promise.resolve();
        };

        const showMembers = async (): Promise<void> => {
            console.log(memberTable(await membersSeenFrom(c1)));
        };

        const assertMembers = async (machines: readonly Machine[]): Promise<void> => {
            const members = await membersSeenFrom(c1);
            assert.deepEqual(
                members.map(({ name, learner }) => ({ name, learner })).sort((a, b) => a.name.localeCompare(b.name)),
                machines.map(({ name }) => ({ name, learner: false })),
            );
            assert.deepEqual(
                await namesOf(c1, "etcdmembers"),
                machines.map(({ name }) => name),
            );
            assert.deepEqual(
                await namesOf(c1, "controlnodes"),
                machines.map(({ name }) => name),
            );
        };

        it("joins two controllers and a worker to the first controller", async () => {
            await engine.up(program([c2, c3], [w1]));
            await showMembers();
            await assertMembers([c1, c2, c3]);
            assert.deepEqual(await readyNodes(c1), ["c1", "c2", "c3", "w1"]);
        });

        it("changes nothing when run again", async () => {
            const { changes } = await engine.up(program([c2, c3], [w1]));
            assert.deepEqual(changes, { same: 4 });
        });

        it("shows on refresh that k0s was stopped on the worker, and starts it again", async () => {
            await on(w1, "systemctl stop k0sworker");
            await engine.refresh();
            const drifted = await engine.outputsOf("w1");
            assert.equal(drifted["status"], "degraded");
            assert.notDeepEqual(drifted["drift"], []);
            await engine.up(program([c2, c3], [w1]));
            assert.equal((await on(w1, "systemctl is-active k0sworker")).trim(), "active");
            assert.equal((await engine.outputsOf("w1"))["status"], "ready");
            assert.deepEqual((await engine.up(program([c2, c3], [w1]))).changes, { same: 4 });
        });

        it("takes out a controller that is removed from the program, and resets its machine", async () => {
            await engine.up(program([c2], [w1]));
            await showMembers();
            await assertMembers([c1, c2]);
            assert.deepEqual(await readyNodes(c1), ["c1", "c2", "w1"]);
            assert.deepEqual(await tracesOn(c3), []);
        });

        it("joins the same machine again", async () => {
            await engine.up(program([c2, c3], [w1]));
            await showMembers();
            await assertMembers([c1, c2, c3]);
        });

        it("takes out the etcd leader", async () => {
            await makeLeader([c1, c2, c3], c2);
            await engine.up(program([c3], [w1]));
            await showMembers();
            await assertMembers([c1, c3]);
            assert.deepEqual(await tracesOn(c2), []);
        });

        it("removes everything again but the first controller", async () => {
            await engine.destroy();
            await showMembers();
            await assertMembers([c1]);
            assert.deepEqual(await readyNodes(c1), ["c1"]);
            assert.deepEqual(await tracesOn(c3), []);
            assert.deepEqual(await tracesOn(w1), []);
        });
    });
}
