import type { HostView } from "../adapters/host";
import { openHost } from "../adapters/ssh/pool";
import type { AddPlan, RestOfJoin } from "../decide/plan";
import { RefusedError } from "../errors";
import type { EtcdMemberObject } from "../facts/cluster";
import type { NodeSettings } from "../facts/host";
import type { NodeKind } from "../inputs";
import type { HeldLock } from "../lock";
import { addController, continueController } from "../pipelines/add-controller";
import { addWorker, continueWorker } from "../pipelines/add-worker";
import type { HostOperation } from "../stages/operation";
import { correctSettings } from "../pipelines/reinstall-node";
import { adoptNode, restartNode, waitForReady } from "../pipelines/settle-node";
import { refuseWhileVersionsMove } from "../pipelines/checks";
import { undoJoin } from "../pipelines/undo-join";
import { decideAdd, decideSettled, type Knowledge, refuseIfSaid } from "./decide";
import { look, type Remembered } from "./look";
import type { Session } from "./session";
import { decideBeforeLock, type Locked, nodeAndMachine, onHost, operationOf } from "./under-lock";

/** What an add is about, from the program and from state. */
export interface Addition {
    readonly kind: NodeKind;
    readonly session: Session;
    /** The resource's own token, and what an earlier run noted. */
    readonly mark: { readonly token: string; readonly installedBinary?: boolean };
    readonly knowledge: Knowledge;
    readonly remembered: Remembered;
    /** What an earlier run gave k0s, where the program says something else now: it may be why the join did not end. */
    readonly given?: NodeSettings;
}

/** The first look and decision, without a lock: "report, fail" ends here with nothing written (safety.md 7). */
export async function foreseeAdd({ session, knowledge, remembered }: Addition): Promise<Locked> {
    const { situation } = await decideBeforeLock(session, () =>
        decideSettled(
            session,
            () => look(session, remembered),
            (seen) => decideAdd(session, seen, knowledge),
        ),
    );
    return nodeAndMachine(situation, {});
}

/**
 * Looks and decides again under the lock, and carries that decision out. What our own interrupted operation left is taken
 * back first, and then everything is looked at afresh. `started` hears of the operation before its first change.
 */
export async function performAdd(
    addition: Addition,
    held: HeldLock,
    started: (operation: HostOperation) => void,
): Promise<HostOperation> {
    const { operation, plan } = await prepare(addition, held);
    // A join compares versions itself, once the host is checked.
    if (plan.undo !== undefined || plan.steps.kind !== "join") await refuseWhileVersionsMove(operation);
    // What an earlier run left on the host is there already, whatever happens now.
    operation.progress.hostChanged = plan.resumes !== undefined;
    started(operation);
    plan.notes.forEach((note) => operation.log.line(note));
    if (plan.undo === undefined) return carryOut(operation, plan, addition.given);
    await undoJoin(operation, plan.undo);
    const afresh = await prepare(addition, held);
    if (afresh.plan.undo !== undefined) throw stillHalfDone(addition);
    return carryOut({ ...afresh.operation, progress: operation.progress }, afresh.plan);
}

async function prepare(
    { kind, session, mark, knowledge, remembered }: Addition,
    held: HeldLock,
): Promise<{ operation: HostOperation; plan: AddPlan }> {
    const record = held.found;
    const { situation, plan } = await decideSettled(
        session,
        () => look(session, remembered, held.lease),
        (seen) => decideAdd(session, seen, record === undefined ? knowledge : { ...knowledge, record }),
    );
    refuseIfSaid(plan, session.inputs.host);
    const operation = onHost(operationOf(kind, session, held, situation, mark), session, plan.host);
    return { operation, plan };
}

async function carryOut(
    operation: HostOperation,
    { steps, verdict }: AddPlan,
    given?: NodeSettings,
): Promise<HostOperation> {
    switch (steps.kind) {
        case "join":
            await join(operation, steps.cleanStaleObject ? verdict?.object : undefined);
            break;
        case "continue-worker":
        case "continue-controller":
            if (given !== undefined) await correctSettings(operation, given);
            await continueJoin(operation, steps);
            break;
        case "adopt":
            await adoptNode(operation);
            break;
        case "wait-ready":
            await waitForReady(operation);
            break;
        case "restart":
            await restartNode(operation);
            break;
    }
    return operation;
}

/** `stale`: as for a controller's join. */
async function join(operation: HostOperation, stale: EtcdMemberObject | undefined): Promise<void> {
    if (operation.kind === "worker") await addWorker(operation);
    else await addController(operation, controllers(operation), stale);
}

async function continueJoin(operation: HostOperation, rest: RestOfJoin): Promise<void> {
    if (rest.kind === "continue-worker") await continueWorker(operation);
    else await continueController(operation, rest.own);
}

/** Every controller the program can log in to; each tries its way to the new node (safety.md 16). */
function controllers({ inputs, cluster }: HostOperation): HostView[] {
    const others = inputs.cluster.controllers.filter(
        ({ host }) => host !== inputs.host && host !== cluster.helper.address,
    );
    return [cluster.helper, ...others.map(({ host, connection }) => openHost(host, connection))];
}

function stillHalfDone({ session }: Addition): RefusedError {
    return new RefusedError({
        stage: "deciding",
        host: session.inputs.host,
        what: "what an interrupted operation left behind could not be undone",
        topic: "interrupted-removal",
    });
}
