import assert from "node:assert/strict";
import {
    type AddPlan,
    planAdd,
    planRemove,
    type RemovalSituation,
    type RemovePlan,
    type Situation,
} from "../../provider/decide/plan";
import type { Refusal } from "../../provider/decide/refusal";
import type { ClusterFacts } from "../../provider/facts/cluster";
import { address, blankHost, cluster, controllerHost, member, memberId, OWNER, TOKEN } from "./build";

export const inputs = {
    owner: OWNER,
    adopt: "unmarked",
    onUnreachable: "fail",
    allowStrandedWorkers: false,
    minControllers: 1,
    maxControllers: 7,
} as const;

export const twoControllers = cluster({}, ["c1", "c2"]);

export function controller(change: Partial<Situation> = {}): Situation {
    return {
        role: "controller+worker",
        host: blankHost("c3"),
        cluster: twoControllers,
        nodeName: "c3",
        peerAddress: address("c3"),
        state: { token: TOKEN },
        inputs,
        ...change,
    };
}

export function worker(change: Partial<Situation> = {}): Situation {
    return controller({ role: "worker", host: blankHost("w1"), nodeName: "w1", peerAddress: address("w1"), ...change });
}

/** c3 of three, healthy. */
export function leaving(change: Partial<RemovalSituation> = {}): RemovalSituation {
    return {
        ...controller(),
        host: controllerHost("c3"),
        cluster: cluster(),
        state: { token: TOKEN, machineId: "machine-c3", memberId: memberId("c3") },
        ...change,
    };
}

export function added(situation: Situation): AddPlan {
    const plan = planAdd(situation);
    assert.equal(plan.kind, "add", JSON.stringify("what" in plan ? [plan.what, plan.evidence] : ""));
    return plan;
}

export function removed(situation: RemovalSituation): RemovePlan {
    const plan = planRemove(situation);
    assert.equal(plan.kind, "remove", JSON.stringify("what" in plan ? [plan.what, plan.evidence] : ""));
    return plan;
}

export function refused(plan: { readonly kind: string }): Refusal {
    assert.equal(plan.kind, "refuse");
    return plan as Refusal;
}

export function unstarted(): ClusterFacts {
    return cluster({
        members: [...twoControllers.members, member("c3", { name: "", learner: true })],
        etcdMembers: twoControllers.etcdMembers,
        nodes: twoControllers.nodes,
        controlNodes: twoControllers.controlNodes,
    });
}
