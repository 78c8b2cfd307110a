/** A removal or rebuild of this process, whether it runs or waits for its turn. */
interface Moving {
    /** UID of `kube-system`; undefined where state does not tell, and it fits no cluster then. */
    readonly clusterId?: string | undefined;
    readonly nodeName: string;
}

const all = new Set<Moving>();

/** Runs a removal or rebuild; until its end the checks of other operations do not count its Node. */
export async function whileMoving<T>({ clusterId, nodeName }: Moving, action: () => Promise<T>): Promise<T> {
    const moving: Moving = { clusterId, nodeName };
    all.add(moving);
    try {
        return await action();
    } finally {
        all.delete(moving);
    }
}

/** Names of the Nodes of that cluster that this process removes or rebuilds, or is about to. */
export function movedHere(clusterId: string): string[] {
    return [...all].filter((moving) => moving.clusterId === clusterId).map(({ nodeName }) => nodeName);
}
