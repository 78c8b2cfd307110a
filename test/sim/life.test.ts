import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller, worker } from "../../provider";
import { parse } from "yaml";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { impatientLocks } from "../support/interruption";
import { startSimulation, type Simulation } from ".";
import { created } from "./program-of";
import type { K0sConfig } from "./scene";

const SPEED = 60;
const NAMES = ["c1", "c2", "c3", "w1"];

interface Network {
    /** k0s.yaml of the first controller, given its own address. */
    readonly config: (own: string) => K0sConfig;
    readonly addressOf?: (index: number) => string;
    /** `spec.api` of each controller's own k0s.yaml. */
    readonly api: (own: string) => object;
}

const NETWORKS: Readonly<Record<string, Network>> = {
    "whose API servers listen on their own address alone": {
        config: (address) => ({ spec: { api: { address, onlyBindToAddress: true } } }),
        api: (address) => ({ address, onlyBindToAddress: true }),
    },
    "whose API servers have a bind-address": {
        config: (address) => ({ spec: { api: { address, extraArgs: { "bind-address": address } } } }),
        api: (address) => ({ address, extraArgs: { "bind-address": address } }),
    },
    "with API and port of its own": {
        config: (address) => ({ spec: { api: { address, port: 7443, onlyBindToAddress: true } } }),
        api: (address) => ({ address, port: 7443, onlyBindToAddress: true }),
    },
};

describe("the whole life of nodes in a cluster", function () {
    this.timeout("10m");
    impatientLocks();
    let sim: Simulation;

    afterEach(async () => {
        await sim.close();
        closeAll();
        forgetControllers();
    });

    const inputs = (name: string): Bag => ({
        host: sim.find(name).address,
        connection: sim.connectionArgs(name),
        cluster: {
            controllers: ["c1", "c2", "c3"]
                .filter((one) => one !== name)
                .map((one) => ({ host: sim.find(one).address, connection: sim.connectionArgs(one) })),
        },
        owner: `organization/project/stack/${name}`,
        preflight: { os: false, minDiskMiB: false },
        ...(name === "w1" ? {} : { allowStrandedWorkers: true, backup: { skip: true } }),
    });

    for (const [which, { config, addressOf, api }] of Object.entries(NETWORKS)) {
        it(which, async () => {
            sim = await startSimulation({ speed: SPEED, wobble: false });
            NAMES.forEach((name, index) => sim.host(name, { address: addressOf?.(index) ?? `10.70.0.${11 + index}` }));
            const { address } = sim.find("c1");
            sim.bootstrapController("c1", config(address));
            const kindOf = (name: string) => (name === "w1" ? worker : controller);
            const nodes = new Map<string, { id: string; outs: Bag }>();
            const add = async (name: string): Promise<void> => {
                nodes.set(name, await created(kindOf(name), inputs(name)));
            };
            for (const name of NAMES) await add(name);
            assert.deepEqual(sim.memberNames(), ["c1", "c2", "c3"]);
            for (const name of ["c1", "c2", "c3"]) {
                const { files, address: own } = sim.find(name);
                const { spec } = parse(files.text("/etc/k0s/k0s.yaml") ?? "") as { spec: { api: Bag } };
                const { k0sApiPort: _, ...found } = spec.api;
                assert.deepEqual({ port: 6443, ...found }, { port: 6443, ...api(own) }, name);
            }
            for (const [name, { id, outs }] of nodes) {
                const { props } = await kindOf(name).read(id, outs);
                assert.deepEqual([props?.["status"], props?.["drift"]], ["ready", []], name);
            }
            // replaced, with itself as its successor: away, and there again
            for (const name of ["w1", "c3", "c1"]) {
                const { id = "", outs = {} } = nodes.get(name) ?? {};
                await kindOf(name).delete(id, outs);
                await add(name);
            }
            const { id = "", outs = {} } = nodes.get("c2") ?? {};
            await controller.delete(id, outs);
            assert.deepEqual(sim.memberNames(), ["c1", "c3"]);
            sim.assertInvariants();
        });
    }

    it("finds the others through its own API on another port than 6443, where the one that the program names is off", async () => {
        sim = await startSimulation({ speed: SPEED, wobble: false });
        for (const name of ["c1", "c2", "c3"]) sim.host(name, { address: `10.70.0.1${name.slice(1)}` });
        sim.bootstrapController("c1", { spec: { api: { port: 7443 } } });
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker", { spec: { api: { port: 7443 } } });
        const { address: host } = sim.find("c1");
        const connection = { ...sim.connectionArgs("c1"), perDialTimeout: 1, dialErrorLimit: 0 };
        const cluster = { controllers: [{ host, connection }] };
        const { id, outs } = await created(controller, { ...inputs("c3"), cluster });
        sim.find("c1").powerOff();
        forgetControllers();
        const { props } = await controller.read(id, outs);
        assert.equal(props?.["status"], "ready", String(props?.["drift"]));
    });
});
