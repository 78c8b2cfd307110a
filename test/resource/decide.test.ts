import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import { silentLog } from "../../provider/log";
import {
    decideAdd,
    decideRebuild,
    decideRemove,
    decideRepair,
    decideSettled,
    knowledgeOf,
    refuseIfSaid,
} from "../../provider/resource/decide";
import type { Situation } from "../../provider/resource/look";
import { newToken, rememberToken } from "../../provider/resource/ownership";
import type { Session } from "../../provider/resource/session";
import { TIMEOUT_DEFAULTS } from "../../provider/resource/defaults";
import {
    address,
    blankHost,
    cluster,
    controllerHost,
    marker,
    member,
    memberId,
    node,
    OWNER,
    record,
    TOKEN,
    workerHost,
} from "../decide/build";
import { refused } from "../decide/situations";
import { type SceneOptions, scene } from "../support/fake-operation";

const session = ({ inputs = {}, ...options }: SceneOptions = {}): Session => {
    const { operation } = scene({ ...options, inputs: { owner: OWNER, ...inputs } });
    return { ...operation, alone: false, close: () => undefined };
};

const situation = (change: Partial<Situation> = {}): Situation => ({
    host: controllerHost("c3"),
    unreachable: undefined,
    otherHostKey: false,
    cluster: cluster(),
    nodeName: "c3",
    peerAddress: address("c3"),
    targetEtcd: undefined,
    ...change,
});

const knowledge = knowledgeOf({ memberId: "f03", machineId: "machine-c3", token: TOKEN });

describe("a host that k0sctl works on", () => {
    const locked = (change: Partial<Situation> = {}): Situation => {
        const { host } = situation(change);
        assert.ok(host);
        return situation({ host: { ...host, k0sctlLock: { holder: "laptop-123", ageSeconds: 7 } }, ...change });
    };

    it("is refused by the name of the lock's holder, for add and remove, and looked at again", () => {
        for (const plan of [decideAdd(session(), locked(), knowledge), decideRemove(session(), locked(), knowledge)]) {
            const { what, topic, lookAgain } = refused(plan);
            assert.deepEqual([topic, lookAgain], ["lock-held", true]);
            assert.match(what, /laptop-123/);
        }
    });

    it("is like any other once the lock is not touched any more", () => {
        assert.equal(decideRemove(session(), situation(), knowledge).kind, "remove");
    });
});

describe("what is known from an earlier run", () => {
    it("has the member ID as a number", () => {
        assert.deepEqual(knowledge, {
            state: { memberId: memberId("c3"), machineId: "machine-c3", token: TOKEN },
            record: undefined,
        });
    });

    it("is nothing for a fresh resource, besides what the lock tells", () => {
        const told = record("add");
        assert.deepEqual(knowledgeOf({}, told), { state: {}, record: told });
    });
});

describe("a decision", () => {
    const patience = { inputs: { timeouts: TIMEOUT_DEFAULTS }, log: silentLog };

    it("is made on one look where nothing will pass by itself", async () => {
        let looks = 0;
        const look = async (): Promise<Situation> => situation({ nodeName: `look ${(looks += 1)}` });
        const { situation: seen } = await decideSettled(patience, look, () => ({
            lookAgain: false,
        }));
        assert.equal(seen.nodeName, "look 1");
    });

    it("is made again on another look while what was seen may pass by itself", async () => {
        let looks = 0;
        const look = async (): Promise<Situation> => situation({ nodeName: `look ${(looks += 1)}` });
        const settled = await decideSettled(patience, look, ({ nodeName }) => ({
            lookAgain: nodeName === "look 1",
        }));
        assert.equal(settled.situation.nodeName, "look 2");
        assert.equal(settled.plan.lookAgain, false);
    });
});

describe("a decision that is waited for", () => {
    it("is told with what was found, for an add, a removal and a repair alike", async () => {
        const starting = { ...controllerHost("c3"), status: { state: "silent", reason: "no socket" } as const };
        const learning = cluster({
            members: [member("c1"), member("c2"), member("c3", { learner: true })],
            etcdMembers: [],
        });
        for (const [decide, seen, said] of [
            [decideRemove, situation({ host: starting }), /scenario 6, /],
            [decideRemove, situation({ cluster: learning }), /VerdictHazardCRMissing|c3 .*learner/],
            [decideRepair, situation({ host: starting }), /k0s does not answer, although k0scontroller is started/],
        ] as const) {
            const lines: string[] = [];
            const patience = {
                inputs: { timeouts: TIMEOUT_DEFAULTS },
                log: { line: (line: string) => void lines.push(line) },
            };
            const first = decide(session(), seen, knowledge);
            assert.ok(first?.lookAgain);
            const plans = [first];
            await decideSettled(
                patience,
                async () => seen,
                () => plans.pop() ?? { lookAgain: false },
            );
            assert.match(lines.join("\n"), /^this may pass by itself, looking again for up to 30 s: /);
            assert.match(lines.join("\n"), said);
            assert.doesNotMatch(lines.join("\n"), /what was found/);
        }
    });
});

describe("deciding an add", () => {
    it("refuses a host that does not answer, in the words of its connection", () => {
        const silent = situation({ host: undefined, unreachable: "connection timed out" });
        assert.match(refused(decideAdd(session(), silent, knowledge)).what, /does not answer: connection timed out/);
    });

    it("goes by the limits of the program", () => {
        const blank = situation({ host: blankHost("c3"), cluster: cluster({}, ["c1", "c2"]) });
        const plan = decideAdd(session(), blank, knowledgeOf({ token: TOKEN }));
        assert.equal(plan.kind, "add");
        const limited = { ...session().inputs.cluster, maxControllers: 2 };
        const plan2 = decideAdd(session({ inputs: { cluster: limited } }), blank, knowledgeOf({ token: TOKEN }));
        assert.match(refused(plan2).what + refused(plan2).evidence.join(), /maxControllers/);
    });

    it("goes by who serves the target's own etcd", () => {
        const foreign = situation({ targetEtcd: { clusterId: 0xbadn, memberIds: [1n] } });
        assert.equal(refused(decideAdd(session(), foreign, knowledge)).topic, "second-cluster");
    });
});

describe("deciding a removal", () => {
    it("leaves a node alone whose newer owner was made in this process", () => {
        const token = newToken();
        const host = controllerHost("c3", { marker: marker("c3", "controller", { token }) });
        assert.equal(decideRemove(session(), situation({ host }), knowledge).kind, "leave-alone");
    });

    it("leaves a node alone whose newer owner is in the state, made by an update that ended early", () => {
        rememberToken({ token: "of the replacement" });
        const host = controllerHost("c3", { marker: marker("c3", "controller", { token: "of the replacement" }) });
        assert.equal(decideRemove(session(), situation({ host }), knowledge).kind, "leave-alone");
    });

    it("refuses a node whose newer owner was made elsewhere", () => {
        const host = controllerHost("c3", { marker: marker("c3", "controller", { token: "of another process" }) });
        assert.equal(decideRemove(session(), situation({ host }), knowledge).kind, "refuse");
    });

    it("strands no workers, whose way to the API is in the cluster's configuration", () => {
        const through = (server: string) => {
            const served = node("w1", { annotations: { "pulumi-mke/api-server": `https://${server}:6443` } });
            return situation({ cluster: cluster({ nodes: [...cluster().nodes, served] }) });
        };
        const external = session({ config: { spec: { api: { externalAddress: "k8s.example.com:8443" } } } });
        for (const [some, server] of [
            [session(), address("c3")],
            [external, address("c3")],
            [session(), "k8s.example.com"],
        ] as const) {
            assert.equal(refused(decideRemove(some, through(server), knowledge)).topic, "stranded-workers");
        }
        assert.equal(decideRemove(external, through("k8s.example.com"), knowledge).kind, "remove");
    });
});

describe("a refusal", () => {
    const refusal = { kind: "refuse", what: "two members", evidence: ["here", "there"], lookAgain: false } as const;

    it("is an error with its evidence and the section of the runbook", () => {
        assert.throws(
            () => refuseIfSaid({ ...refusal, topic: "ghost-member" }, "10.0.0.3"),
            (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.match(
                    error.message,
                    /^deciding on 10\.0\.0\.3: two members\n {2}here\n {2}there\nNothing was changed/,
                );
                assert.equal(error.topic, "ghost-member");
                return true;
            },
        );
    });

    it("is no plan, and a plan is no refusal", () => {
        assert.doesNotThrow(() => refuseIfSaid({ kind: "add" }, "10.0.0.3"));
        assert.throws(() => refuseIfSaid(refusal, "10.0.0.3"), RefusedError);
    });
});

describe("deciding a rebuild", () => {
    const gone = situation({
        host: blankHost("c3"),
        cluster: cluster({ members: [member("c1"), member("c2"), member("c3", { health: "unhealthy" })] }),
    });
    const decide = (inputs: SceneOptions["inputs"], seen: Situation = gone) => {
        const off = { os: false, minCpus: false, minMemoryMiB: false, minDiskMiB: false } as const;
        const preflight = { ...off, cgroupV2: false, maxClockSkew: false } as const;
        return decideRebuild(session({ inputs: { preflight, ...inputs } }), seen, knowledge);
    };

    it("takes nothing out that could not come back: not below the oldest k0s, nor onto a host that pre-flight refuses", () => {
        assert.equal(decide({}).kind, "remove");
        const { installPath } = scene().operation.inputs.k0s;
        const old = refused(decide({ k0s: { installPath, version: "v1.33.9+k0s.0" } }));
        assert.match(old.what, /^it cannot be added again: k0s v1\.33\.9/);
        assert.equal(old.topic, "version-mismatch");
        const weak = situation({
            ...gone,
            host: blankHost("c3", { os: { id: "plan9", idLike: [], versionId: "", name: "Plan 9" } }),
        });
        const preflight = { os: true, minCpus: 1, minMemoryMiB: 1, minDiskMiB: 9e9, cgroupV2: true, maxClockSkew: 30 };
        assert.match(refused(decide({ preflight }, weak)).what, /^it cannot be added again: operating system Plan 9/);
        assert.equal(decide({ preflight }).kind, "remove", "the disk is full of what the reset takes away");
    });
});

describe("a refusal after an earlier run of ours that did not end", () => {
    const refusing = { ...situation(), cluster: cluster({ members: [member("c1"), member("c3")] }, ["c1", "c3"]) };
    const limited = { minControllers: 2, maxControllers: 7, controllers: [] };

    it("says only of this run that nothing was changed", () => {
        const asked = session({ inputs: { cluster: limited } });
        const messageOf = (plan: { readonly kind: string }): string => {
            try {
                refuseIfSaid(plan, "10.0.0.3");
            } catch (error) {
                return (error as Error).message;
            }
            return "";
        };
        assert.match(messageOf(decideRemove(asked, refusing, knowledge)), /\nNothing was changed\./);
        for (const kind of ["remove", "reinstall"] as const) {
            const begun = { ...knowledge, record: record(kind) };
            assert.match(messageOf(decideRemove(asked, refusing, begun)), /\nNothing more was changed\./);
            const mark = controllerHost("c3", { marker: marker("c3", "controller", { operation: record(kind) }) });
            const marked = { ...refusing, host: mark };
            assert.match(messageOf(decideRemove(asked, marked, knowledge)), /\nNothing more was changed\./);
        }
        const others = { ...knowledge, record: record("remove", { owner: "organization/other/dev/x" }) };
        assert.match(messageOf(decideRemove(asked, refusing, others)), /\nNothing was changed\./);
    });
});

describe("deciding a repair", () => {
    it("cannot be done for a host that does not answer", () => {
        assert.equal(decideRepair(session(), situation({ host: undefined }), knowledge), undefined);
    });

    it("finds nothing to do on a healthy node", () => {
        const marked = cluster({ nodes: cluster().nodes.map((one) => ({ ...one, annotations: annotations() })) });
        assert.deepEqual(decideRepair(session(), situation({ cluster: marked }), knowledge)?.drift, []);
    });

    it("knows the worker's own role", () => {
        const seen = { host: workerHost("w1"), nodeName: "w1", peerAddress: address("w1") };
        const nodes = [node("w1", { ready: false, annotations: annotations() })];
        const known = knowledgeOf({ machineId: "machine-w1", token: TOKEN });
        const repair = decideRepair(
            session({ name: "w1" }),
            situation({ ...seen, cluster: cluster({ nodes }) }),
            known,
        );
        assert.deepEqual([repair?.action, repair?.drift], ["wait-ready", ["Node w1 is NotReady"]]);
    });
});

function annotations(): Record<string, string> {
    return { "pulumi-mke/owner": OWNER, "pulumi-mke/token": TOKEN };
}
