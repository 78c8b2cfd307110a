import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { parse } from "yaml";
import { controller, type NodeProvider, worker } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { impatientLocks } from "../support/interruption";
import { RESOURCES, type Simulation, startSimulation } from ".";
import { peerUrl } from "./model/etcd";
import { created, programOf } from "./program-of";

const FLAGS = ["--feature-gates=IPv6SingleStack=true"];
/** single-stack-ipv6.md of k0s. */
const NETWORK = { podCIDR: "fd10::/108", serviceCIDR: "fd20::/108" };
const ADDRESSES = { c1: "fd00::11", c2: "fd00::12", c3: "fd00::13", w1: "fd00::31" };

interface Resource {
    readonly id: string;
    readonly outs: Bag;
}

interface Writing {
    /** `spec.api` of a controller's k0s.yaml. */
    readonly api: (address: string) => Bag;
    /** How the program writes an address. */
    readonly written?: (address: string) => string;
}

const WRITINGS: Readonly<Record<string, Writing>> = {
    "whose API servers listen on all addresses": { api: (address) => ({ address }) },
    "whose API servers listen on their own address alone": {
        api: (address) => ({ address, onlyBindToAddress: true }),
    },
    "where the program does not write addresses as the machines do": {
        api: (address) => ({ address }),
        written: (address) => address.replace("fd00:", "FD00:0:0:"),
    },
};

describe("the whole life of nodes in a cluster that has IPv6 alone,", function () {
    this.timeout("10m");
    impatientLocks();
    let sim: Simulation;

    afterEach(async () => {
        await sim.close();
        closeAll();
        forgetControllers();
    });

    const kindOf = (name: string): NodeProvider => (name.startsWith("w") ? worker : controller);
    const assertSteady = async (resources: Readonly<Record<string, Resource>>): Promise<void> => {
        for (const [name, { id, outs }] of Object.entries(resources)) {
            const { props } = await kindOf(name).read(id, outs);
            assert.deepEqual([props?.["status"], props?.["drift"]], ["ready", []], name);
        }
    };
    const assertMembers = (...names: (keyof typeof ADDRESSES)[]): void => {
        const urls = sim.members().map(({ peerAddress }) => peerUrl(peerAddress));
        assert.deepEqual(
            urls.sort(),
            names.map((name) => `https://[${ADDRESSES[name]}]:2380`),
        );
    };
    const apiOf = (name: string): Bag => {
        const { spec } = parse(sim.find(name).files.text("/etc/k0s/k0s.yaml") ?? "") as { spec: { api: Bag } };
        return spec.api;
    };

    for (const [which, { api, written = (address: string) => address }] of Object.entries(WRITINGS)) {
        it(which, async () => {
            sim = await startSimulation({ speed: 60, wobble: false });
            for (const [name, address] of Object.entries(ADDRESSES)) sim.host(name, { address });
            sim.bootstrapController("c1", { spec: { api: api(ADDRESSES.c1), network: NETWORK } }, { flags: FLAGS });
            const login = (name: string): Bag => ({
                host: written(sim.find(name).address),
                connection: sim.connectionArgs(name),
            });
            const add = (name: string, ...helpers: string[]): Promise<Resource> =>
                created(kindOf(name), {
                    ...programOf(sim, name),
                    ...login(name),
                    cluster: { controllers: helpers.map(login) },
                    preflight: { os: false, minDiskMiB: false },
                    ...(name.startsWith("w") ? {} : { backup: { skip: true } }),
                });

            const c1 = await add("c1", "c2", "c3");
            const c2 = await add("c2", "c1", "c2");
            const w1 = await add("w1", "c1", "c2");
            assertMembers("c1", "c2");
            assert.deepEqual({ port: 6443, k0sApiPort: 9443, ...api(ADDRESSES.c2) }, apiOf("c2"));
            await assertSteady({ c1, c2, w1 });

            // replaced by a machine at a new address, which is there before the old one goes
            const c3 = await add("c3", "c1", "c2");
            await controller.delete(c2.id, c2.outs);
            assertMembers("c1", "c3");
            await assertSteady({ c1, c3, w1 });
            await assert.rejects(controller.delete(c1.id, c1.outs), {
                message: /worker w1 reaches the API through fd00::11/,
            });

            await worker.delete(w1.id, w1.outs);
            await controller.delete(c3.id, c3.outs);
            assertMembers("c1");
            const nodes = sim.cluster.store.list(RESOURCES.nodes);
            assert.deepEqual(
                nodes.map(({ metadata }) => metadata.name),
                ["c1"],
            );
            for (const name of ["c2", "c3", "w1"]) assert.equal(sim.find(name).units.installed, undefined, name);
            await assertSteady({ c1 });
            sim.assertInvariants();
        });
    }
});
