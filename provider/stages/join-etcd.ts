import { type Deadline, type Look, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import { memberIdToHex } from "../facts/cluster";
import { normalAddress } from "../address";
import { hostOf } from "../facts/cluster-view";
import { type EtcdMemberSeen, readMembers } from "../facts/members";
import type { HostOperation } from "./operation";
import { requireServiceStays } from "./service-stays";

const STAGE = "joining etcd";
const JOURNAL_LINES = 20;
/** k0s restarts every 10 s; after the second one the reason is in the journal and waiting on is no use. */
const RESTARTS_TO_GIVE_UP = 2;
/** What k0s logs when the address is still a member's (observed.md, "wiped without leaving"; k0s-interfaces.md 4.4). */
const ADDRESS_TAKEN = /Peer URLs already exists|member ID already exist/;

/**
 * Waits, as seen from the helper, until the member at the new node's address, none of the `others`, is a named voter.
 * A joiner that cannot succeed is recognised by its service and journal, not by the end of the wait.
 */
export async function waitForVoter(
    operation: HostOperation,
    others: readonly bigint[],
    deadline: Deadline,
): Promise<bigint> {
    return waitFor<bigint>({
        stage: STAGE,
        host: operation.target.address,
        deadline,
        advice: `Look at the journal of k0scontroller on ${operation.target.address}; then run \`pulumi up\` again.`,
        look: () => lookForVoter(operation, others, deadline),
        // Its token goes with the wait, so a join that is left may come to nothing.
        seesItThrough: true,
    });
}

async function lookForVoter(
    operation: HostOperation,
    others: readonly bigint[],
    deadline: Deadline,
): Promise<Look<bigint>> {
    const members = await readMembers(operation.cluster);
    const member = members.find((candidate) => isJoiner(operation, others, candidate));
    if (member !== undefined) operation.progress.memberId = member.id;
    if (member !== undefined && member.name !== "" && !member.learner) return { done: member.id };
    const isTaken = members.some(({ id, peerUrls }) => others.includes(id) && isAt(operation, peerUrls));
    await requireServiceStays(operation, { stage: STAGE, restarts: RESTARTS_TO_GIVE_UP }, deadline);
    // The journal alone may tell of an earlier attempt.
    if (isTaken) await failIfAddressTaken(operation, deadline);
    return { seen: describe(member) };
}

function isJoiner(operation: HostOperation, others: readonly bigint[], { id, peerUrls }: EtcdMemberSeen): boolean {
    return !others.includes(id) && isAt(operation, peerUrls);
}

function isAt({ peerAddress }: HostOperation, peerUrls: readonly string[]): boolean {
    return peerUrls.some((url) => normalAddress(hostOf(url)) === peerAddress);
}

function describe(member: EtcdMemberSeen | undefined): string {
    if (member === undefined) return "no member at its address yet";
    const id = memberIdToHex(member.id);
    return member.name === "" ? `member ${id} was added and never started` : `member ${id} is a learner`;
}

async function failIfAddressTaken({ target, kind, peerAddress }: HostOperation, deadline: Deadline): Promise<void> {
    const journal = await target.journal(kind, JOURNAL_LINES, deadline);
    if (!ADDRESS_TAKEN.test(journal)) return;
    throw new RefusedError({
        stage: STAGE,
        host: target.address,
        what: `etcd still counts an older member at ${peerAddress}, so this join can never succeed`,
        output: journal,
        topic: "member-on-wiped-host",
    });
}
