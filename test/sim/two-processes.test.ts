import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Bag } from "../../provider/resource/shape";
import { type Simulation, startSimulation } from ".";
import { RESOURCES } from "./model/store";
import { type ProviderProcess, ProviderProcesses } from "./processes";
import { programOf } from "./program-of";

const CONTROL_PLANE = "pulumi-mke-control-plane";
/** Seconds: so short that a test can wait for its end, so long that no process that is only slow loses its lock. */
const LOCKS = { life: 10, joinLife: 90 };
const SPEED = 20;

/** Two `pulumi up` at a time: what they share is the cluster and the Leases in it. */
describe("two processes on one cluster", function () {
    this.timeout("5m");
    let sim: Simulation;
    let processes: ProviderProcesses;
    let one: ProviderProcess;
    let two: ProviderProcess;

    beforeEach(async () => {
        sim = await startSimulation({ speed: SPEED, wobble: false });
        for (const name of ["c1", "c2", "c3"]) sim.host(name, { address: `10.77.0.1${name.slice(1)}` });
        for (const name of ["w1", "w2"]) sim.host(name, { address: `10.77.0.3${name.slice(1)}` });
        sim.bootstrapController("c1");
        processes = await ProviderProcesses.start(LOCKS);
        [one, two] = await Promise.all([processes.another(), processes.another()]);
    });

    afterEach(async function () {
        if (this.currentTest?.state === "failed") for (const { output } of [one, two]) console.log(output.join("\n"));
        await processes.stop();
        await sim.close();
    });

    const program = (name: string, stack: string, more: Bag = {}): Bag =>
        programOf(sim, name, { owner: `organization/project/${stack}/${name}`, ...more });
    const lease = (name: string) => sim.cluster.store.get(RESOURCES.leases, name, "kube-system");
    const holderOf = (name: string): unknown => lease(name)?.spec?.["holderIdentity"];
    const says = (process: ProviderProcess, what: RegExp): boolean => process.output.some((line) => what.test(line));
    const oneSays = (what: RegExp): boolean => [one, two].some((process) => says(process, what));
    const voters = (): string[] => sim.cluster.etcd.voters.map(({ name }) => name).sort();

    /** Everything that changed a host, etcd or an object, but for the Leases themselves. */
    function changes(): { readonly at: number; readonly of: string }[] {
        const writing = /^(write-file|install-service|service|reset|clean-up|upload-begin|remove-files)$/;
        return sim.events.flatMap(({ kind, host, what }, at) => {
            if (kind === "program" && writing.test(what)) return [{ at, of: host ?? "" }];
            if (kind === "etcd-write" || (kind === "api-write" && !what.includes("/leases"))) return [{ at, of: what }];
            return [];
        });
    }

    const released = (name: string): number =>
        sim.events.findIndex(
            ({ kind, what }) => kind === "api-write" && what.startsWith("DELETE") && what.endsWith(name),
        );

    it("join two controllers one after the other", async () => {
        const joining = Promise.all([
            one.create("controller", program("c2", "mine")),
            two.create("controller", program("c3", "yours")),
        ]);
        await sim.until("the way of one is checked", () => oneSays(/checking reachability … \d+ paths/));
        // so that the other one, however slow, asks before this one has joined
        for (const name of ["c2", "c3"]) sim.find("c1").firewall({ port: 9443, from: sim.find(name).address });
        await sim.until("the other waits", () => oneSays(/waiting for the lock .*held by/));
        sim.find("c1").clearFirewall();
        const [first, second] = await joining;
        assert.ok(first.id && second.id);
        assert.deepEqual(voters(), ["c1", "c2", "c3"]);
        const end = released(CONTROL_PLANE);
        const before = new Set(
            changes()
                .filter(({ at, of }) => at < end && /^c[23]$/.test(of))
                .map(({ of }) => of),
        );
        const after = new Set(
            changes()
                .filter(({ at, of }) => at > end && /^c[23]$/.test(of))
                .map(({ of }) => of),
        );
        assert.deepEqual([before.size, after.size], [1, 1], "one host before the first lock was given back, one after");
        assert.notDeepEqual(before, after);
        sim.assertInvariants();
    });

    it("stay apart when the API is away for longer than a lock usually lives", async () => {
        const joining = one.create("controller", program("c2", "mine"));
        await sim.until("the way is checked", () => says(one, /checking reachability … \d+ paths/));
        // so that the join lasts as long as the test wants
        sim.find("c1").firewall({ port: 9443, from: sim.find("c2").address });
        await sim.until("c2 starts", () => lease(CONTROL_PLANE)?.spec?.["leaseDurationSeconds"] === LOCKS.joinLife);
        const holder = holderOf(CONTROL_PLANE);
        const waiting = two.create("controller", program("c3", "yours", { lock: { adoptStale: true } }));
        await sim.until("the other waits", () => says(two, /waiting for the lock .*organization\/project\/mine\/c2/));
        sim.find("c1").hangEtcd();
        const since = sim.now;
        await sim.until("an outage longer than a short lock", () => sim.now > since + (LOCKS.life + 1) * SPEED);
        sim.find("c1").hangEtcd(false);
        sim.find("c1").clearFirewall();
        const renewed = lease(CONTROL_PLANE)?.spec?.["renewTime"];
        await sim.until("the holder renews again", () => lease(CONTROL_PLANE)?.spec?.["renewTime"] !== renewed);
        assert.equal(holderOf(CONTROL_PLANE), holder, "nobody took it meanwhile");
        await Promise.all([joining, waiting]);
        const end = released(CONTROL_PLANE);
        assert.ok(
            changes()
                .filter(({ of }) => of === "c2")
                .every(({ at }) => at < end),
        );
        assert.ok(
            changes()
                .filter(({ of }) => of === "c3")
                .every(({ at }) => at > end),
        );
        assert.deepEqual(voters(), ["c1", "c2", "c3"]);
    });

    it("one that slept past its lock does nothing more when it wakes up", async () => {
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        const { id, properties } = await one.create("controller", program("c3", "mine", { drain: { timeout: 100 } }));
        sim.addPod("c3", { name: "db", blocked: true });
        const removing = one.delete("controller", id, properties).catch((error: unknown) => error as Error);
        // Between two rounds: a proof and the call after it can always be torn apart.
        await sim.until("the drain is stuck", () => changes().some(({ of }) => of.endsWith("/eviction")));
        one.provider.suspend();
        sim.host("c4", { address: "10.77.0.14" });
        await two.create("controller", program("c4", "yours", { lock: { adoptStale: true } }));
        assert.ok(says(two, /took over the lock pulumi-mke-control-plane of organization\/project\/mine\/c3/));
        const before = changes();
        one.provider.resume();
        const failure = await removing;
        assert.ok(failure instanceof Error);
        assert.match(failure.message, /holding the lock: its Lease pulumi-mke-control-plane /);
        assert.deepEqual(changes(), before);
        assert.deepEqual(voters(), ["c1", "c2", "c3", "c4"]);
        assert.equal(sim.find("c3").units.get("k0scontroller")?.active, "active");
    });

    it("a lock of another stack's killed run is refused, of the own stack's is taken over", async () => {
        sim.addSettled("w1", "worker");
        const { id, properties } = await one.create("worker", program("w1", "mine", { drain: { timeout: 100 } }));
        sim.addPod("w1", { name: "db", blocked: true });
        const removing = one.delete("worker", id, properties).catch((error: unknown) => error as Error);
        await sim.until("the drain is stuck", () => says(one, /draining …$/));
        await one.provider.kill();
        await removing;
        await assert.rejects(
            two.create("controller", program("c2", "yours")),
            /pulumi-mke-node-w1 is held by organization\/project\/mine\/w1\/.*it is stale.*\n.*`lock\.adoptStale: true`/,
        );
        sim.cluster.store.delete(RESOURCES.pods, "db", "default");
        await two.delete("worker", id, properties);
        assert.equal(sim.find("w1").units.installed, undefined);
    });

    it("drain one node at a time", async () => {
        const made = await Promise.all([
            one.create("worker", program("w1", "mine")),
            two.create("worker", program("w2", "yours")),
        ]);
        for (const name of ["w1", "w2"]) sim.addPod(name, { name: `app-${name}`, blocked: true });
        const removing = Promise.all(
            [one, two].map((process, index) =>
                process.delete("worker", made[index]?.id ?? "", made[index]?.properties ?? {}),
            ),
        );
        const evictions = () =>
            sim.events.flatMap(({ what }, at) => {
                const pod = /(?<pod>app-w\d)\/eviction$/.exec(what)?.groups?.["pod"];
                return pod === undefined ? [] : [{ at, pod }];
            });
        const evicted = (): string[] => [...new Set(evictions().map(({ pod }) => pod))];
        await sim.until("one drains", () => evicted().length > 0);
        await sim.until("the other waits", () => oneSays(/waiting for the lock to drain/));
        const [first = ""] = evicted();
        assert.deepEqual(evicted(), [first]);
        sim.cluster.store.delete(RESOURCES.pods, first, "default");
        await sim.until("the other drains", () => evicted().length === 2);
        const end = released("pulumi-mke-drain-0");
        assert.ok(end >= 0 && evictions().every(({ at, pod }) => (pod === first ? at < end : at > end)));
        sim.cluster.store.delete(RESOURCES.pods, evicted()[1] ?? "", "default");
        await removing;
    });
});
