import { resourceId } from "../decide/names";
import type { NodeInputs, NodeKind } from "../inputs";
import type { HostOperation } from "../stages/operation";
import { type Addition, foreseeAdd, performAdd } from "./add-node";
import { foundHalfMade, foundReady } from "./found";
import { newToken } from "./ownership";
import { withWorkingSession } from "./session";
import { InitFailure, type NodeOutputs, outputsOf } from "./state";
import { underLock } from "./under-lock";

/**
 * Makes the host a node of the cluster, or adopts it if it is one already. Throws plainly while nothing was changed;
 * afterwards the failure keeps the resource in state, and the next `update` goes on from there.
 */
export async function create(kind: NodeKind, inputs: NodeInputs): Promise<{ id: string; outs: NodeOutputs }> {
    const token = newToken();
    let begun: HostOperation | undefined;
    try {
        return await withWorkingSession(kind, inputs, {}, async (session, started) => {
            const mark = { token };
            const addition: Addition = { kind, session, mark, knowledge: { state: mark }, remembered: {} };
            const found = await foreseeAdd(addition);
            return underLock(kind, session, found, async (held) => {
                const done = await performAdd(addition, held, (operation) => {
                    begun = operation;
                    started();
                });
                return { id: idOf(done), outs: outputsOf(inputs, await foundReady(done)) };
            });
        });
    } catch (error) {
        if (begun?.progress.hostChanged !== true) throw error;
        throw new InitFailure({ id: idOf(begun), inputs, outs: outputsOf(inputs, foundHalfMade(begun)), error });
    }
}

function idOf({ cluster, nodeName }: HostOperation): string {
    return resourceId(cluster.helperFacts.clusterId, nodeName);
}
