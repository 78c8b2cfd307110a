import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { controller, worker } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { artifact } from "../support/registry-content";
import { fakeRegistry, LOGIN, REPOSITORY } from "../support/registry-server";
import { K0S_VERSION, k0sProgram, RESOURCES, type Simulation, startSimulation } from ".";
import type { KubeObject } from "./model/store";
import { hostEntry, MKE_CONFIGS, SimMke } from "./mke";
import { checked, created } from "./program-of";

const RESTARTED = "kubectl.kubernetes.io/restartedAt";

/** The provider on an MKE cluster of two controllers and a worker, which somebody made with mkectl. */
describe("the provider on a simulated MKE cluster", () => {
    let sim: Simulation;
    let mke: SimMke;
    /** Everybody's entries; the last belongs to a machine that is none of ours. */
    const others = [hostEntry("10.77.0.11"), hostEntry("10.77.0.12"), hostEntry("10.77.0.99", "worker")];

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 30 });
        for (const index of [1, 2, 3]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1");
        sim.addSettled("c2", "controller+worker");
        mke = new SimMke(sim.cluster, others);
    });

    afterEach(async () => {
        closeAll();
        forgetControllers();
        await sim.close();
    });

    function inputs(name: string, more: Bag): Bag {
        return {
            host: sim.find(name).address,
            connection: sim.connectionArgs(name),
            cluster: {
                controllers: ["c1", "c2"].map((one) => ({
                    host: sim.find(one).address,
                    connection: sim.connectionArgs(one),
                })),
            },
            owner: `test/${name}`,
            ...more,
        };
    }

    async function create(kind: typeof controller, name: string, more: Bag = {}): Promise<{ id: string; outs: Bag }> {
        return created(kind, inputs(name, more));
    }

    const addresses = (): unknown[] => mke.hosts.map((host) => (host as { ssh: { address: string } }).ssh.address);
    const writes = (): string[] =>
        sim.events
            .filter(({ kind, what }) => kind === "api-write" && what.includes("mkeconfigs"))
            .map(({ what }) => what);
    const restarted = (namespace: string, name: string): boolean =>
        JSON.stringify(mke.deployment(namespace, name).spec?.["template"] ?? {}).includes(RESTARTED);

    it("lists a controller, lets the add-ons scale and spread, and takes all of it back", async () => {
        const { id, outs } = await create(controller, "c3", { labels: { zone: "a" } });
        const { host, port, user } = sim.bastion;
        assert.deepEqual(mke.hosts, [
            ...others,
            {
                role: "controller+worker",
                ssh: {
                    ...{ address: "10.77.0.13", user: "root", port: 22, keyPath: "/keys/cluster.pem" },
                    bastion: { address: host, user, port, keyPath: "/keys/cluster.pem" },
                },
            },
        ]);
        assert.equal(mke.deployment("mke", "dex").status?.["readyReplicas"], 3);
        assert.ok(restarted("mke", "dex") && restarted("k0rdent", "kcm"));
        // the release was away when the controller had joined, and the webhook never met that
        assert.deepEqual(mke.rejected, []);
        sim.assertInvariants();

        await controller.delete(id, outs);
        assert.deepEqual(mke.hosts, others);
        assert.equal(mke.deployment("k0rdent", "kcm").status?.["readyReplicas"], 2);
        sim.assertInvariants();
    });

    it("lists a worker, restarts nothing, and takes its entry out again", async () => {
        const more = { mke: { keyPath: "/keys/worker.pem" }, installFlags: ["--debug"], privateAddress: "10.77.0.31" };
        const { id, outs } = await create(worker, "w1", more);
        assert.deepEqual(addresses(), ["10.77.0.11", "10.77.0.12", "10.77.0.99", "10.77.0.31"]);
        const own = mke.hosts[3] as { role: string; ssh: { keyPath: string }; installFlags: unknown };
        assert.deepEqual([own.role, own.ssh.keyPath, own.installFlags], ["worker", "/keys/worker.pem", ["--debug"]]);
        assert.equal(restarted("mke", "dex"), false);
        await worker.delete(id, outs);
        assert.deepEqual(mke.hosts, others);
    });

    it("writes nothing for a node that is listed already, and its removal is the same twice", async () => {
        await create(worker, "w1");
        assert.equal(writes().length, 1);
        const { id, outs } = await create(worker, "w1");
        assert.equal(writes().length, 1);
        await worker.delete(id, outs);
        assert.equal(writes().length, 2);
        await worker.delete(id, outs);
        assert.equal(writes().length, 2);
        assert.deepEqual(mke.hosts, others);
    });

    it("keeps what somebody else wrote at the same moment", async () => {
        const theirs = hostEntry("10.77.0.98", "worker");
        mke.faster = () => mke.edit((spec) => (spec["hosts"] = [theirs, ...(spec["hosts"] as unknown[])]));
        const { id, outs } = await create(worker, "w1");
        assert.deepEqual(addresses(), ["10.77.0.98", "10.77.0.11", "10.77.0.12", "10.77.0.99", "10.77.0.31"]);
        mke.faster = () => mke.edit((spec) => (spec["hosts"] = (spec["hosts"] as unknown[]).slice(1)));
        await worker.delete(id, outs);
        assert.deepEqual(mke.hosts, others);
    });

    it("waits for a webhook that is away", async () => {
        mke.webhook = "away";
        const adding = create(worker, "w1");
        await sim.until("a write was turned away", () => mke.rejected.length > 0);
        mke.webhook = undefined;
        await adding;
        assert.equal(addresses().at(-1), "10.77.0.31");
    });

    it("fails with the webhook's words, and the next run does only what is left", async () => {
        mke.webhook = { denies: "hosts: the licence ends at three" };
        let failed: Bag | undefined;
        await assert.rejects(
            create(worker, "w1"),
            (error: Error & { properties?: Bag; id?: string; reasons?: string[] }) => {
                failed = error.properties;
                assert.match(
                    `${error.message} ${error.reasons?.join()}`,
                    /admission webhook "mkeconfig\.mke\.mirantis\.com" denied the request: hosts: the licence ends at three/,
                );
                return true;
            },
        );
        assert.deepEqual(mke.hosts, others);
        assert.equal(sim.find("w1").units.get("k0sworker")?.active, "active");

        mke.webhook = undefined;
        const { outs } = await worker.update("id", failed ?? {}, await checked(worker, inputs("w1", {})));
        assert.equal(outs["status"], "ready");
        assert.equal(addresses().at(-1), "10.77.0.31");
    });

    it("keeps a controller in state until its entry is gone, and then does what follows a change of members", async () => {
        const { id, outs } = await create(controller, "c3");
        for (const [namespace, name] of [
            ["mke", "dex"],
            ["k0rdent", "kcm"],
        ] as const) {
            const unmarked = (object: KubeObject): void => {
                delete object.spec?.["template"];
            };
            sim.cluster.store.update(RESOURCES.deployments, name, unmarked, namespace);
        }
        mke.webhook = { denies: "hosts: frozen" };
        for (const run of ["the first", "a second"]) {
            await assert.rejects(controller.delete(id, outs), { message: /hosts: frozen/ }, run);
            assert.equal(addresses().at(-1), "10.77.0.13");
            assert.deepEqual((await controller.read(id, outs)).props?.["drift"], [
                "k0s is not installed",
                "etcd does not list it as a member",
            ]);
        }
        mke.webhook = undefined;
        await controller.delete(id, outs);
        assert.deepEqual(mke.hosts, others);
        assert.ok(restarted("mke", "dex") && restarted("k0rdent", "kcm"));
        assert.deepEqual(await controller.read(id, outs), {});
        sim.assertInvariants();
    });

    it("changes nothing where the entry could not be written", async () => {
        mke.edit((spec) => (spec["hosts"] = [hostEntry("10.77.0.31", "controller+worker")]));
        await assert.rejects(create(worker, "w1"), /MkeConfig lists 10\.77\.0\.31 with role "controller\+worker"/);
        assert.equal(sim.find("w1").units.installed, undefined);
        assert.deepEqual(writes(), []);
    });

    it("installs with the flag of an external cloud provider", async () => {
        mke.edit((spec) => (spec["cloudProvider"] = { enabled: true, provider: "aws" }));
        await create(worker, "w1");
        assert.ok(sim.find("w1").units.installed?.args.includes("--enable-cloud-provider"));
    });

    it("brings k0s from MkeConfig's registry, and no login of it to the host", async () => {
        const registry = await fakeRegistry("basic");
        try {
            await registry.push("v1", artifact({ content: k0sProgram(K0S_VERSION), title: "k0s" }));
            const auths = { [registry.name]: LOGIN };
            sim.cluster.store.create(RESOURCES.secrets, {
                metadata: { name: "pull", namespace: "mke" },
                data: { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") },
            });
            const imageRegistry = { url: registry.name, caData: registry.ca, credentialsSecretName: "pull" };
            mke.edit((spec) => (spec["registries"] = { imageRegistry }));
            await create(worker, "w1", { k0s: { ociArtifact: `${registry.name}/${REPOSITORY}:v1` } });
            assert.equal(sim.find("w1").units.get("k0sworker")?.active, "active");
            assert.ok(registry.requests.some((line) => line.startsWith("storage")));
            const seen = JSON.stringify(sim.events);
            assert.ok(!seen.includes(LOGIN.password));
        } finally {
            await registry.close();
        }
    });

    it("starts nothing while an upgrade is unfinished", async () => {
        mke.edit((spec) => (spec["version"] = "v4.2.2"));
        sim.cluster.store.update(
            MKE_CONFIGS,
            "mke",
            (object) => (object.status = { observedGeneration: 2, version: "v4.2.1" }),
            "mke",
        );
        await assert.rejects(create(worker, "w1"), /MkeConfig wants version v4\.2\.2, its status says v4\.2\.1/);
        assert.equal(sim.find("w1").units.installed, undefined);
    });
});
