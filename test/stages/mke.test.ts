import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { MkeClient, type MkeKube, type PatchOperation } from "../../provider/adapters/kube/mke";
import { addHost, removeHost } from "../../provider/decide/mke-hosts";
import { Deadline } from "../../provider/deadline";
import { ApiError, LockError, RefusedError, TimeoutError } from "../../provider/errors";
import { checkVersions } from "../../provider/stages/check-versions";
import { redistributeWorkloads, waitForAddons, waitForRelease } from "../../provider/stages/scale-mke";
import { nothingToDo } from "../../provider/stages/stage";
import { foreseeRegistration, updateMkeConfig } from "../../provider/stages/update-mke-config";
import { cluster } from "../decide/build";
import { only } from "../support/fake-calls";
import { fakeMke, mkeConfig, type MkeObjects, workload } from "../support/fake-mke";
import { type Scene, scene, type SceneOptions } from "../support/fake-operation";
import { warningOf } from "../support/outcome";

const soon = (): Deadline => Deadline.after(5000);
const OTHER = { role: "controller+worker", ssh: { address: "10.0.0.1", keyPath: "/k" } };
const OWN = { role: "controller+worker", ssh: { address: "10.0.0.3", user: "root", port: 22, keyPath: "/k" } };

interface MkeScene extends Scene {
    readonly mke: MkeObjects;
}

function mkeScene(objects: MkeObjects, answers: Partial<MkeKube> = {}, options: SceneOptions = {}): MkeScene {
    const world = scene({ cluster: cluster({ mke: true }), ...options });
    Object.assign(world.operation.cluster.kube, { mke: fakeMke(world.calls, objects, answers) });
    return { ...world, mke: objects };
}

describe("updating MkeConfig", () => {
    it("writes the entry once and finds it the next time", async () => {
        const world = mkeScene({ config: mkeConfig({ hosts: [OTHER] }) });
        const hosts = (): unknown => world.mke.config?.hosts;
        assert.equal((await updateMkeConfig(world.operation, addHost, soon())).changed, true);
        assert.deepEqual(hosts(), [OTHER, OWN]);
        const again = await updateMkeConfig(world.operation, addHost, soon());
        assert.deepEqual(again, { changed: false, outcome: nothingToDo("listed already") });
        assert.equal((await updateMkeConfig(world.operation, removeHost, soon())).changed, true);
        assert.deepEqual(hosts(), [OTHER]);
        assert.equal((await updateMkeConfig(world.operation, removeHost, soon())).changed, false);
        assert.equal(only(world.calls, "mke patchConfig").length, 2);
    });

    it("decides anew on what somebody else wrote meanwhile", async () => {
        const theirs = { role: "worker", ssh: { address: "10.0.0.9" } };
        const objects: MkeObjects = { config: mkeConfig({ hosts: [OWN, OTHER] }) };
        const own = fakeMke([], objects);
        let faster = true;
        const patchConfig = (resourceVersion: string, operations: readonly PatchOperation[]): Promise<boolean> => {
            if (faster) objects.config = mkeConfig({ resourceVersion: "11", hosts: [theirs, OWN, OTHER] });
            faster = false;
            return own.patchConfig(resourceVersion, operations);
        };
        const world = mkeScene(objects, { patchConfig });
        await updateMkeConfig(world.operation, removeHost, soon());
        assert.deepEqual(objects.config?.hosts, [theirs, OTHER]);
    });

    it("waits while the webhook is away, and ends with what was last seen", async () => {
        let away = 2;
        const failure = new ApiError({ stage: "asking", what: "failed calling webhook", code: 500, retryable: true });
        const objects: MkeObjects = { config: mkeConfig({ hosts: [OTHER] }) };
        const own = fakeMke([], objects);
        const patchConfig: MkeKube["patchConfig"] = async (at, operations) => {
            if ((away -= 1) >= 0) throw failure;
            return own.patchConfig(at, operations);
        };
        const world = mkeScene(objects, { patchConfig });
        assert.equal((await updateMkeConfig(world.operation, addHost, soon())).changed, true);

        const never = mkeScene(
            { config: mkeConfig({ hosts: [OTHER] }) },
            { patchConfig: () => Promise.reject(failure) },
        );
        await assert.rejects(
            updateMkeConfig(never.operation, addHost, Deadline.after(50)),
            (error: Error) => error instanceof TimeoutError && /failed calling webhook/.test(error.message),
        );
    });

    it("writes nothing once the lock is lost: a stale entry would have MKE set a host up, or forget one", async () => {
        const world: MkeScene = mkeScene(
            { config: mkeConfig({ hosts: [OTHER] }) },
            {
                patchConfig: () => {
                    world.loseLock();
                    return Promise.resolve(false);
                },
            },
        );
        await assert.rejects(updateMkeConfig(world.operation, addHost, soon()), LockError);
        assert.equal(only(world.calls, "mke patchConfig").length, 1);
    });

    it("fails at once with what a webhook says no to", async () => {
        const denied = new ApiError({ stage: "asking", what: "denied the request: too many", code: 403 });
        const objects: MkeObjects = { config: mkeConfig({ hosts: [OTHER] }) };
        const world = mkeScene(objects, { patchConfig: () => Promise.reject(denied) });
        await assert.rejects(updateMkeConfig(world.operation, addHost, soon()), denied);
    });

    it("has nothing to do where the CRD has no object", async () => {
        const world = mkeScene({});
        const nothing = nothingToDo("there is no MkeConfig mke in namespace mke");
        assert.deepEqual((await updateMkeConfig(world.operation, addHost, soon())).outcome, nothing);
        assert.deepEqual(await foreseeRegistration(world.operation), nothing);
    });

    it("is refused before anything is changed where the entry could not be written", async () => {
        const world = mkeScene({ config: mkeConfig({ hosts: [{ ...OWN, role: "worker" }] }) });
        await assert.rejects(
            foreseeRegistration(world.operation),
            (error: Error) => error instanceof RefusedError && /Nothing was changed/.test(error.message),
        );
        assert.deepEqual(only(world.calls, "mke patchConfig"), []);
    });
});

describe("waiting for the MkeRelease", () => {
    const release = (ready: boolean) => ({
        name: "mke-4.2.1",
        version: "v4.2.1",
        ready,
        state: "Ready=False webhook away",
    });

    it("outlasts its disruption", async () => {
        const objects: MkeObjects = { config: mkeConfig({ hosts: [OTHER] }) };
        let looks = 0;
        const world = mkeScene(objects, { releases: async () => [release((looks += 1) > 2)] });
        assert.equal(await waitForRelease(world.operation, addHost, soon()), "mke-4.2.1");
        assert.equal(looks, 3);
    });

    it("ends with what the release says", async () => {
        const world = mkeScene({ config: mkeConfig({ hosts: [OTHER] }), releases: [release(false)] });
        await assert.rejects(
            waitForRelease(world.operation, addHost, Deadline.after(20)),
            /mke-4\.2\.1 is not Ready: Ready=False webhook away/,
        );
    });

    it("waits for none that cannot be told, and for none where nothing is to be written", async () => {
        const unknown = mkeScene({ config: mkeConfig({ hosts: [OTHER], version: "v9" }), releases: [release(false)] });
        assert.equal(await waitForRelease(unknown.operation, addHost, soon()), "no MkeRelease is known to be v9");
        const listed = mkeScene({ config: mkeConfig({ hosts: [OWN] }), releases: [release(false)] });
        assert.deepEqual(await waitForRelease(listed.operation, addHost, soon()), nothingToDo("not needed"));
    });
});

describe("MKE's add-ons", () => {
    it("are at rest at once where the operator says that it looked", async () => {
        const world = mkeScene({ config: mkeConfig({ observedGeneration: 1 }), workloads: [workload("a")] });
        assert.equal(await waitForAddons(world.operation, soon(), 60_000), "1 workload at rest");
    });

    it("must stay at rest for a while where nothing says so", async () => {
        const objects: MkeObjects = { config: mkeConfig(), workloads: [workload("a")] };
        const world = mkeScene(objects);
        assert.match(
            warningOf(await waitForAddons(world.operation, Deadline.after(30), 60_000)),
            /not complete, going on: .* not for long enough/,
        );
        assert.equal(await waitForAddons(world.operation, soon(), 1), "1 workload at rest");
    });

    it("that do not scale are told of, and the operation goes on", async () => {
        const world = mkeScene({ config: mkeConfig(), workloads: [workload("a", { updated: 1 })] });
        assert.match(
            warningOf(await waitForAddons(world.operation, Deadline.after(20))),
            /not complete, going on: .*mke\/a has 1 of 2 replicas updated/,
        );
    });

    it("spread by a restart of what charts deployed, in both namespaces", async () => {
        const restarts: string[] = [];
        const world = mkeScene(
            {
                config: mkeConfig({ observedGeneration: 1 }),
                workloads: [workload("a"), workload("b", { namespace: "k0rdent" }), workload("mine", { labels: {} })],
            },
            { restart: async ({ name }, at) => void restarts.push(`${name} ${at}`) },
        );
        assert.equal(await redistributeWorkloads(world.operation, soon()), "2 workloads restarted");
        assert.match(restarts.join(), /^a \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,b \d{4}/);
    });

    it("that cannot be restarted are told of, and the operation goes on", async () => {
        const failure = new ApiError({ stage: "asking", what: "500", code: 500, retryable: true });
        const world = mkeScene(
            { config: mkeConfig(), workloads: [workload("a")] },
            { restart: () => Promise.reject(failure) },
        );
        assert.equal(warningOf(await redistributeWorkloads(world.operation, soon())), "not complete, going on: 500");
    });
});

describe("comparing versions", () => {
    it("refuses with the runbook's topic, for an add and for a removal", async () => {
        const plans = [{ name: "autopilot", state: "Schedulable" }];
        for (const installs of [true, false]) {
            const world = mkeScene({ config: mkeConfig(), plans });
            await assert.rejects(checkVersions(world.operation, installs), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.equal(error.topic, "version-mismatch");
                assert.match(error.message, /plan autopilot is unfinished \(Schedulable\)/);
                return true;
            });
        }
    });

    it("looks at the version that would be installed only for an add", async () => {
        const { operation } = scene();
        const k0s = { ...operation.inputs.k0s, version: "v1.35.4+k0s.0" };
        await assert.rejects(
            checkVersions(scene({ inputs: { k0s } }).operation, true),
            /v1\.35\.4\+k0s\.0 would be installed/,
        );
        assert.equal(await checkVersions(scene({ inputs: { k0s } }).operation, false), "alike");
    });

    it("does not ask for MkeConfig where there is none", async () => {
        const world = scene();
        await checkVersions(world.operation, true);
        assert.deepEqual(only(world.calls, "mke"), ["mke plans"]);
    });
});

describe("a patch of MkeConfig that the API server finds invalid", () => {
    const invalid = new ApiError({ stage: "asking", what: "422", code: 422 });
    const client = (now: string): MkeClient =>
        new MkeClient({
            find: async () => ({ metadata: { name: "mke", resourceVersion: now } }),
            list: async () => [],
            change: () => Promise.reject(invalid),
        });

    it("is a conflict where the object has changed, and an error where it has not", async () => {
        assert.equal(await client("11").patchConfig("10", []), false);
        await assert.rejects(client("10").patchConfig("10", []), invalid);
    });
});
