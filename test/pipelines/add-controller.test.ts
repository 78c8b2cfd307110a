import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { EngineGoneError } from "../../provider/engine";
import { CommandError, RefusedError } from "../../provider/errors";
import type { EtcdMemberObject } from "../../provider/facts/cluster";
import { addController, continueController } from "../../provider/pipelines/add-controller";
import { blankHost, cluster, controllerHost, etcdMember, member, memberId } from "../decide/build";
import { only } from "../support/fake-calls";
import { listed } from "../support/fake-etcd";
import { ownServers, type Scene, type SceneOptions, stagesOf } from "../support/fake-operation";
import { freePort } from "../support/program";
import { joining } from "./joining";

const two = cluster({}, ["c1", "c2"]);
const argv = process.argv;

afterEach(() => void (process.argv = argv));

const add = ({ operation }: Scene, stale?: EtcdMemberObject): Promise<bigint> =>
    addController(operation, [operation.cluster.helper], stale);

/** What was changed anywhere, and what was proven between. */
const steps = ({ calls }: Scene): string[] =>
    calls
        .filter((call) => /^lock|(write|put|install|service|Token|annotate|label|patch|delete|remove)/.test(call))
        .filter((call) => !/serviceState/.test(call))
        .map((call) => call.replace(/ (--|\{).*$/, ""));

const CHECKS = ["pre-flight", "comparing versions", "checking the cluster", "checking reachability"];
const MATERIAL = ["copying configuration files", "copying registry settings"];
const SETTLING = [
    "verifying the etcd cluster",
    "waiting for the API server",
    "waiting for the EtcdMember",
    "waiting for the Node",
    "un-cordoning",
    "verifying etcd",
    "post-operation backup",
    "marking the node",
];

describe("adding a controller", () => {
    it("checks, records, installs, joins, verifies and marks, in this order, and answers the member's ID", async () => {
        const world = joining();
        assert.equal(await add(world), memberId("c3"));
        assert.deepEqual(stagesOf(world), [
            ...CHECKS,
            "checking configuration files",
            "pre-operation backup",
            "recording the operation",
            ...MATERIAL,
            "staging k0s",
            "labelling for SELinux",
            "writing configuration",
            "installing k0s",
            "starting k0s",
            "joining etcd",
            ...SETTLING,
        ]);
    });

    it("asks for the source of its program before anything is written, and joins nothing without it", async () => {
        const { k0s } = joining().operation.inputs;
        const inputs = { k0s: { ...k0s, downloadUrl: "https://get.example.com/k0s" } };
        const world = joining({ inputs });
        await add(world);
        const stages = stagesOf(world);
        assert.equal(stages.indexOf("verifying the registry"), CHECKS.indexOf("comparing versions") + 1);
        const reach = (): Promise<never> =>
            Promise.reject(new CommandError({ stage: "s", host: "c3", what: "no way" }));
        const without = joining({ inputs, target: { reach } });
        await assert.rejects(add(without), /no way/);
        assert.deepEqual(steps(without), []);
    });

    it("records before its first change, proves lock and members before the start, and retires the token after the join", async () => {
        const world = joining();
        await add(world);
        assert.deepEqual(steps(world), [
            "lock record add",
            "c3 writeMarker controller add",
            "c3 putExecutable /usr/local/bin/k0s 3 ab12",
            "c3 writeFile /etc/k0s/k0s.yaml 600",
            "lock stretch 900",
            "c1 createJoinToken controller",
            "c3 writeFile /etc/k0s/k0stoken 600",
            "c3 installService controller",
            "lock prove",
            "lock prove",
            "lock prove",
            "c3 service enable controller",
            "c3 service start controller",
            "c1 invalidateJoinToken abcdef",
            "c3 writeFile /etc/k0s/k0stoken 600",
            "lock stretch 60",
            "lock prove",
            "lock prove",
            "kube annotateNode c3",
            "c3 writeMarker controller settled",
        ]);
    });

    const failing: Readonly<Record<string, SceneOptions>> = {
        "pre-flight": { hostFacts: blankHost("c3", { cpus: 0 }) },
        "checking the cluster": { cluster: { ...two, members: [member("c1"), member("c2", { name: "" })] } },
        "checking reachability": { helper: { reach: async () => "blocked" } },
    };
    for (const [stage, options] of Object.entries(failing)) {
        it(`writes nothing anywhere when ${stage} refuses`, async () => {
            const world = joining(options);
            await assert.rejects(add(world, etcdMember("c3", { joined: "False" })), RefusedError);
            assert.equal(stagesOf(world).at(-1), stage);
            assert.deepEqual(steps(world), []);
            assert.equal(world.operation.progress.hostChanged, false);
        });
    }

    it("deletes the object of an earlier member once all checks have passed", async () => {
        const stale = etcdMember("c3", { joined: "False", uid: "old", memberId: 0xe03n });
        const world = joining({ cluster: { ...two, etcdMembers: [...two.etcdMembers, stale] } });
        await add(world, stale);
        const stages = stagesOf(world);
        const at = stages.indexOf("deleting the stale EtcdMember");
        assert.deepEqual(stages.slice(at - 1, at + 2), [
            "checking configuration files",
            "deleting the stale EtcdMember",
            "pre-operation backup",
        ]);
        assert.deepEqual(only(world.calls, "kube deleteEtcdMember"), ["kube deleteEtcdMember c3 old"]);
    });

    it("does not start k0s when the members changed since the decision, and retires the token", async () => {
        const world: Scene = joining({
            target: {
                installService: async () => {
                    world.etcd.members = [...world.etcd.members, listed(member("c9"))];
                },
            },
        });
        await assert.rejects(add(world), /the etcd members changed since the decision/);
        assert.deepEqual(only(world.calls, "c3 service "), []);
        assert.deepEqual(only(world.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);
    });

    it("does not start k0s when a member is not healthy any more", async () => {
        let healthy = true;
        const world = joining({
            target: { installService: async () => void (healthy = false) },
            others: { isReady: async () => healthy },
        });
        await assert.rejects(add(world), { name: "RefusedError", topic: "quorum" });
        assert.deepEqual(only(world.calls, "c3 service "), []);
    });

    it("does not start k0s without the lock", async () => {
        const world: Scene = joining({ target: { installService: async () => world.loseLock() } });
        await assert.rejects(add(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "c3 service "), []);
        assert.deepEqual(only(world.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);
    });

    it("starts no further stage when the engine is gone, and retires the token", async () => {
        const port = await freePort();
        const dead = ["node", "/x/cmd/dynamic-provider/index.js", `127.0.0.1:${port}`];
        const world = joining({ target: { installService: async () => void (process.argv = dead) } });
        await assert.rejects(add(world), EngineGoneError);
        assert.equal(stagesOf(world).at(-1), "installing k0s");
        assert.deepEqual(only(world.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);
    });

    it("that fails in the join retires the token and leaves the record on the host", async () => {
        const failed = { active: "failed", sub: "failed", restarts: 0 };
        const world = joining({ target: { service: async () => undefined, serviceState: async () => failed } });
        await assert.rejects(add(world), CommandError);
        assert.deepEqual(steps(world).slice(-2), [
            "c1 invalidateJoinToken abcdef",
            "c3 writeFile /etc/k0s/k0stoken 600",
        ]);
        assert.deepEqual(only(world.calls, "c3 writeMarker"), ["c3 writeMarker controller add"]);
    });

    it("marks nothing when the new etcd serves another cluster", async () => {
        const world = joining();
        ownServers(world, { clusterId: 0xbadn });
        await assert.rejects(add(world), RefusedError);
        assert.deepEqual(only(world.calls, "kube annotate", "c3 writeMarker controller settled"), []);
    });

    it("touches no Node where the controller runs no kubelet", async () => {
        const world = joining({ inputs: { role: "controller" } });
        await add(world);
        assert.deepEqual(only(world.calls, "kube annotate", "kube label", "kube node "), []);
        assert.equal(only(world.calls, "c3 writeMarker controller settled").length, 1);
    });
});

describe("going on with an interrupted join", () => {
    const own = member("c3", { name: "", learner: true });
    const halfJoined = (): Scene => joining({ cluster: { ...two, members: [...two.members, own] } });

    it("starts the service and waits as a join does, without a token or an installation", async () => {
        const world = halfJoined();
        assert.equal(await continueController(world.operation, own), memberId("c3"));
        assert.deepEqual(stagesOf(world), ["starting k0s", "joining etcd", ...SETTLING]);
        assert.deepEqual(steps(world).slice(0, 4), [
            "lock stretch 900",
            "lock prove",
            "c3 service enable controller",
            "c3 service start controller",
        ]);
        assert.deepEqual(only(world.calls, "c1 createJoinToken", "c3 installService"), []);
    });

    it("blanks the token that the interrupted one left", async () => {
        const hostFacts = controllerHost("c3", { tokenFile: "token" });
        const world = joining({ cluster: { ...two, members: [...two.members, own] }, hostFacts });
        world.files.set("/etc/k0s/k0stoken", "left");
        await continueController(world.operation, own);
        assert.match(world.files.get("/etc/k0s/k0stoken") ?? "", /^# used/);
    });
});
