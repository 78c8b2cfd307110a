import { memberAt } from "../address";
import { otherDirectories } from "../decide/directories";
import { isGone } from "../decide/gone";
import { removeHost } from "../decide/mke-hosts";
import type { RepairAction } from "../decide/repair";
import { differingFlags } from "../decide/shared-flags";
import { messageOf } from "../errors";
import { memberIdToHex } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { LoneControllerError } from "../facts/no-helper";
import type { NodeKind } from "../inputs";
import { decideRepair, decideSettled, knowledgeOf } from "./decide";
import { glance, type Situation } from "./look";
import { logOf, type Session, withSession } from "./session";
import { inputsOf, type NodeOutputs, type NodeStatus } from "./state";

/** Fixed words, without times or reasons that vary: a second refresh must find nothing new (architecture.md, "drift"). */
const UNREACHABLE = "the host does not answer by SSH";
const NOBODY = "the host or its cluster could not be checked";
const ALONE = "its k0s cannot be asked, and it is the only controller there is";
const OTHER_KEY = "the host shows a different SSH host key than `hostKey`: it may be another machine";

type ReadResult = { readonly id?: string; readonly props?: NodeOutputs };

/**
 * Looks at host and cluster and writes what it found into `status`, `state` and `drift`. It changes nothing anywhere, and it
 * does not throw for what it finds: a `read` that throws aborts the refresh of the whole stack. `{}`: gone from host and
 * cluster.
 */
export async function read(_kind: NodeKind, id: string, outs: NodeOutputs): Promise<ReadResult> {
    const inputs = inputsOf(outs);
    try {
        return await withSession(inputs, outs, (session) => readThrough(session, id, outs), "read");
    } catch (error) {
        logOf(inputs).line(messageOf(error));
        if (error instanceof LoneControllerError) return { id, props: withDrift(outs, "degraded", [ALONE]) };
        return { id, props: withDrift(outs, "unreachable", [NOBODY]) };
    }
}

async function readThrough(session: Session, id: string, outs: NodeOutputs): Promise<ReadResult> {
    const knowledge = knowledgeOf(outs);
    const { situation, plan } = await decideSettled(
        session,
        () => glance(session, outs),
        (seen) =>
            decideRepair(session, seen, knowledge) ?? {
                drift: [seen.otherHostKey ? OTHER_KEY : UNREACHABLE],
                action: "fail" as const,
                lookAgain: false,
            },
    );
    const { host } = situation;
    // What an add that did not end left on its host goes with the resource, so the resource stays as long as that is there.
    const isHalfMade = outs.status === "joining" && host?.marker?.token === outs.token;
    const isAway = !isHalfMade && isGone({ ...situation, state: knowledge.state });
    if (isAway && !(await isListed(session, situation))) return {};
    if (host === undefined) return { id, props: withDrift(outs, "unreachable", plan.drift) };
    tellDifferingFlags(session, host);
    const k0sVersion = host.status.state === "answers" ? host.status.version : outs.k0sVersion;
    return {
        id,
        props: {
            ...withDrift(outs, plan.drift.length === 0 ? "ready" : "degraded", plan.drift, plan.action),
            k0sVersion,
            memberId: memberIdOf(situation, outs),
            directories: otherDirectories(host, inputsOf(outs).role),
        },
    };
}

/** Reported only: which of the two is meant, nobody knows, and every controller would have to be restarted. */
function tellDifferingFlags({ cluster: { helper, helperFacts }, inputs, log }: Session, { units }: HostFacts): void {
    if (units.controller === undefined || helper.address === inputs.host) return;
    const facts = { helperArgs: helperFacts.args ?? [], installFlags: inputs.installFlags };
    const names = differingFlags(units.controller.args, facts);
    if (names.length === 0) return;
    log.line(
        `all controllers have to share these flags, and ${helper.address} has them otherwise: ${names.join(", ")}`,
        "quiet",
    );
}

/**
 * A restore from a backup gives a member another ID. The one that the target's own etcd serves as is its own from then on;
 * without that proof the ID stays what it was.
 */
function memberIdOf(
    { targetEtcd, cluster: { members, helper }, peerAddress }: Situation,
    { memberId }: NodeOutputs,
): string | undefined {
    if (memberId === undefined || targetEtcd === undefined || "hangs" in targetEtcd) return memberId;
    const member = memberAt(members, peerAddress);
    const isServed = member !== undefined && targetEtcd.memberIds?.includes(member.id) === true;
    return isServed && targetEtcd.clusterId === helper.etcdClusterId ? memberIdToHex(member.id) : memberId;
}

/** MKE would set a host up again that it still lists: a removal that ended before it was taken out has work to do. */
async function isListed({ cluster, inputs }: Session, { cluster: { mke } }: Situation): Promise<boolean> {
    if (!mke) return false;
    return removeHost((await cluster.kube.mke.config())?.hosts, inputs).kind === "patch";
}

/** A node whose add never ended stays one: the next `up` must go on with it, whatever a look says. */
function withDrift(
    outs: NodeOutputs,
    status: NodeStatus,
    drift: readonly string[],
    action?: RepairAction,
): NodeOutputs {
    if (outs.status === "joining") return outs;
    const found = drift.length === 0 ? "ready" : drift.join("; ");
    // It takes the node out of the cluster: whoever reads the preview should know.
    return { ...outs, status, state: action === "rebuild" ? `rebuild: ${found}` : found, drift };
}
