import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { LEAVE_ANNOTATION, type Verdict, verdictFor, VERDICTS } from "../../provider/decide/etcd-verdict";
import { cellFor, needsVerdict, type Scenario } from "../../provider/decide/matrix";
import { type RepairAction, repairFor } from "../../provider/decide/repair";
import { REPAIRS, repairRowFor, type RepairStep } from "../../provider/decide/repair-table";
import { scenarioOf } from "../../provider/decide/scenario";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import type { NodeKind } from "../../provider/inputs";
import {
    address,
    BINARY,
    blankHost,
    CA,
    cluster,
    controllerHost,
    etcdMember,
    marker,
    member,
    NO_DATA,
    node,
    OWNER,
    stopped,
    unit,
    workerHost,
} from "./build";
import { situation } from "./repair-situation";

const SCENARIOS: readonly Scenario[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const KINDS: readonly NodeKind[] = ["worker", "controller"];

interface State {
    readonly scenario: Scenario;
    readonly verdict: Verdict | undefined;
    readonly kind: NodeKind;
}

/** Every state of the document, for both kinds. */
const STATES: readonly State[] = SCENARIOS.flatMap((scenario) =>
    KINDS.flatMap((kind): State[] =>
        needsVerdict(scenario, kind)
            ? VERDICTS.map((verdict) => ({ scenario, verdict, kind }))
            : [{ scenario, verdict: undefined, kind }],
    ),
);

const title = ({ scenario, verdict, kind }: State): string => `scenario ${scenario} ${verdict ?? ""} ${kind}`;

describe("the repair table", () => {
    it("has a row for every state of the document: 11 for workers, 91 for controllers", () => {
        assert.equal(STATES.filter(({ kind }) => kind === "worker").length, 11);
        assert.equal(STATES.filter(({ kind }) => kind === "controller").length, 91);
        for (const { scenario, verdict, kind } of STATES) assert.ok(repairRowFor(scenario, verdict, kind).words !== "");
        assert.equal(Object.keys(REPAIRS).length, 11);
    });

    it("computes verdicts where the matrix does", () => {
        for (const scenario of SCENARIOS) {
            assert.equal(!("words" in REPAIRS[scenario].controller), needsVerdict(scenario, "controller"));
        }
    });

    it("names a section of the runbook wherever it fails, and nowhere else", () => {
        for (const state of STATES) {
            const { step, topic } = repairRowFor(state.scenario, state.verdict, state.kind);
            assert.equal(topic !== undefined, step === "fail", title(state));
        }
    });

    for (const state of STATES) {
        const { scenario, verdict, kind } = state;
        const { step } = repairRowFor(scenario, verdict, kind);

        it(`contradicts the matrix nowhere in ${title(state)}`, () => {
            const add = cellFor(scenario, verdict, kind, "add").action;
            const remove = cellFor(scenario, verdict, kind, "remove").action;
            if (step === "rebuild" || step === "start") {
                assert.ok(remove.kind === "remove", "the matrix refuses the removal");
                assert.equal(cellFor(1, "VerdictClean", kind, "add").action.kind, "add");
                const leavesNothing = scenario < 2 || remove.steps.machine !== "none";
                assert.ok(leavesNothing, "the removal leaves a host that cannot be added");
                const etcdIsDone = verdict === undefined || verdict === "VerdictClean" || remove.steps.deleteObject;
                assert.ok(etcdIsDone, "the removal leaves something in etcd");
            }
            if (remove.kind === "fail") assert.equal(step, "fail");
            const sameAsAdd: Partial<Record<RepairStep, string>> = {
                nothing: "adopt",
                "wait-ready": "wait-ready",
                restart: "restart",
            };
            const expected = sameAsAdd[step];
            if (expected !== undefined) assert.equal(add.kind === "add" && add.steps.kind, expected);
        });

        it(`is what is done in ${title(state)}`, () => {
            const built = situationIn(state);
            assertIs(state, built.host, built.cluster);
            const { action } = repairFor(built);
            assert.equal(action, ACTIONS[step]);
        });
    }
});

const ACTIONS: Readonly<Record<RepairStep, RepairAction>> = {
    nothing: "nothing",
    "wait-ready": "wait-ready",
    start: "start-service",
    restart: "restart",
    rebuild: "rebuild",
    fail: "fail",
};

/** The state that was built is the one that was meant. */
function assertIs({ scenario, verdict, kind }: State, host: HostFacts, facts: ClusterFacts): void {
    const name = kind === "worker" ? "w1" : "c3";
    const seen = scenarioOf(host, facts, name);
    assert.equal(seen.kind === "scenario" ? seen.scenario : seen.what, scenario);
    if (verdict === undefined) return;
    assert.equal(verdictFor({ addresses: [address(name)], nodeName: name }, facts).verdict, verdict);
}

function situationIn(state: State): Parameters<typeof repairFor>[0] {
    const name = state.kind === "worker" ? "w1" : "c3";
    return { ...situation(name, hostIn(state.scenario, name), {}), cluster: clusterIn(state, name) };
}

function hostIn(scenario: Scenario, name: string): HostFacts {
    const healthy = name === "w1" ? workerHost(name) : controllerHost(name);
    const foreign = { ca: { ...healthy.ca, [name === "w1" ? "kubelet" : "pki"]: "sha256:99" } };
    const hosts: Readonly<Record<Scenario, HostFacts>> = {
        0: blankHost(name, { binary: BINARY }),
        1: blankHost(name),
        2: healthy,
        3: healthy,
        4: healthy,
        5: { ...healthy, ...foreign },
        6: stopped(healthy),
        7: stopped(healthy),
        8: { ...stopped(healthy), ...foreign },
        9: blankHost(name, { binary: BINARY, units: unitsOf(name), marker: marker(name, roleOf(name)) }),
        10: blankHost(name, { ca: { ...NO_CA, [name === "w1" ? "kubelet" : "pki"]: CA }, data: dataOf(name) }),
    };
    return hosts[scenario];
}

const NO_CA = { pki: undefined, kubelet: undefined, unreadable: false };
const roleOf = (name: string): "worker" | "controller" => (name === "w1" ? "worker" : "controller");

function unitsOf(name: string): HostFacts["units"] {
    const enabled = unit(name === "w1" ? [] : ["k0s", "controller", "--enable-worker=true"], "inactive");
    return name === "w1" ? { controller: undefined, worker: enabled } : { controller: enabled, worker: undefined };
}

function dataOf(name: string): HostFacts["data"] {
    return name === "w1"
        ? { ...NO_DATA, exists: true, kubeletConf: true }
        : { ...NO_DATA, exists: true, pki: true, etcdMember: true, etcdDatabase: true };
}

function clusterIn({ scenario, verdict }: State, name: string): ClusterFacts {
    const hasNode = scenario === 2 || scenario === 3 || scenario === 6;
    const own = node(name, { ready: scenario === 2, annotations: { "pulumi-mke/owner": OWNER } });
    const nodes = [node("c1"), node("c2"), ...(hasNode ? [own] : [])];
    if (verdict === undefined) return cluster({ nodes });
    const [isMember, object] = MEMBERSHIP[verdict];
    return cluster({
        nodes,
        members: [
            member("c1"),
            member("c2"),
            ...(isMember ? [member("c3", { learner: verdict === "VerdictUnknown" })] : []),
        ],
        etcdMembers: [etcdMember("c1"), etcdMember("c2"), ...(object === undefined ? [] : [etcdMember("c3", object)])],
    });
}

/** By what causes each verdict: is there a member, and what does its object say. */
const MEMBERSHIP: Readonly<Record<Verdict, readonly [boolean, Parameters<typeof etcdMember>[1]]>> = {
    VerdictClean: [false, undefined],
    VerdictHealthy: [true, {}],
    VerdictLeaveRequested: [true, { leave: true }],
    VerdictLeftCRNotUpdated: [false, { leave: true, annotations: { [LEAVE_ANNOTATION]: "f03" } }],
    VerdictMemberLeftCRNeedsCleanup: [
        false,
        { leave: true, joined: "False", annotations: { [LEAVE_ANNOTATION]: "f03" } },
    ],
    VerdictHazardCRMissing: [true, undefined],
    VerdictOOBRemovalStaleCR: [false, { joined: "False" }],
    VerdictCorruptedRemoval: [false, { leave: true }],
    VerdictCRStatusNeverWritten: [true, { joined: undefined, memberId: undefined }],
    VerdictCRStatusStale: [true, { memberId: 0xbadn }],
    VerdictUnknown: [true, { joined: "True", name: "c3", memberId: 0xf03n }],
};
