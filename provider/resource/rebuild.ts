import { isOtherMachine } from "../decide/identity";
import { nodeNameOf } from "../decide/names";
import { defined } from "../defined";
import type { HostFacts } from "../facts/host";
import type { NodeKind } from "../inputs";
import { RefusedError } from "../errors";
import type { HeldLock } from "../lock";
import type { HostOperation } from "../stages/operation";
import { removeController } from "../pipelines/remove-controller";
import { removeWorker } from "../pipelines/remove-worker";
import { type Addition, performAdd } from "./add-node";
import { decideRebuild, type Knowledge, refuseIfSaid } from "./decide";
import { foundReady } from "./found";
import type { Situation } from "./look";
import type { Session } from "./session";
import type { FoundOutputs, NodeOutputs } from "./state";
import { decideBeforeLock, operationOf, underLock, withHost } from "./under-lock";

/** A rebuild under its lock. */
export interface Rebuild {
    readonly kind: NodeKind;
    readonly session: Session;
    readonly olds: NodeOutputs;
    readonly held: HeldLock;
    /** Why, in sentences, for the log. */
    readonly drift: readonly string[];
}

/**
 * Takes out what is left of the node and adds its host again, under the lock that is held (safety.md 12). Killed between the
 * halves, the next update finds a blank host and a record, and goes on with the add. `begun` hears of each half before its
 * first change; a failure in the second leaves a half-made node.
 */
export async function rebuildNode(
    rebuild: Rebuild,
    { situation, knowledge }: { readonly situation: Situation; readonly knowledge: Knowledge },
    begun: { readonly removal: () => void; readonly add: (operation: HostOperation) => void },
): Promise<FoundOutputs> {
    const { kind, session, olds, held, drift } = rebuild;
    const { log } = session;
    const plan = decideRebuild(session, situation, knowledge);
    refuseIfSaid(plan, session.inputs.host);
    if (plan.kind === "leave-alone") throw claimed(session, plan.why);
    log.line(`rebuild: ${drift.join("; ")}`, "quiet");
    plan.notes.forEach((note) => log.line(note, "quiet"));
    const operation = operationOf(kind, session, held, situation, olds);
    const host = plan.touchesHost ? withHost(operation, session, situation) : undefined;
    begun.removal();
    const removal = { ...plan, host, recordAs: "rebuild" } as const;
    await (kind === "worker" ? removeWorker(operation, removal) : removeController(operation, removal));
    return addAgain(rebuild, situation, begun.add);
}

/** The second half; everything is looked at and decided afresh. */
async function addAgain(
    { kind, session, olds, held }: Rebuild,
    { host }: Situation,
    begun: (operation: HostOperation) => void,
): Promise<FoundOutputs> {
    const { token, installedBinary, machineId } = olds;
    const isNew = host !== undefined && isOtherMachine(host, defined({ machineId }));
    const addition: Addition = {
        kind,
        session,
        mark: isNew ? { token } : { token, installedBinary },
        knowledge: { state: { token } },
        remembered: isNew ? {} : olds,
    };
    const add = async (lock: HeldLock): Promise<FoundOutputs> => foundReady(await performAdd(addition, lock, begun));
    const nodeName = host === undefined ? olds.nodeName : nameAgain(session, olds, host);
    // A worker's lock goes by its name, and a new machine may have another one.
    if (nodeName === olds.nodeName) return add(held);
    return underLock(kind, session, { nodeName, machineId: host?.machineId }, add);
}

/** The name that a worker's lock goes by in the second half: a new machine may have another one. */
export function nameAgain({ inputs }: Session, { machineId, nodeName }: NodeOutputs, host: HostFacts): string {
    const isNew = inputs.role === "worker" && isOtherMachine(host, defined({ machineId }));
    return isNew ? nodeNameOf(host, inputs) : nodeName;
}

/** Refuses before the lock what could not be rebuilt; nothing is written. */
export async function foreseeRebuild(session: Session, situation: Situation, knowledge: Knowledge): Promise<void> {
    await decideBeforeLock(session, async () => ({ plan: decideRebuild(session, situation, knowledge) }));
}

function claimed({ inputs }: Session, why: string): RefusedError {
    return new RefusedError({
        stage: "deciding",
        host: inputs.host,
        what: `it cannot be rebuilt: ${why}`,
        advice: "Nothing was changed.",
        topic: "other-owner",
    });
}
