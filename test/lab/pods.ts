import assert from "node:assert/strict";
import { eventually } from "./checks";
import { kubectl } from "./inspect";
import { type Machine, on, textOf } from "./machines";

const START_SECONDS = 60;
/** Of the Deployment in pods.yaml, and what its disruption budget demands. */
export const REPLICAS = 3;
export const BUDGET = 2;

/** Starts the Deployment with its disruption budget, and the DaemonSet; all of their pods run in the end. */
export async function startPods(machine: Machine): Promise<void> {
    await apply(machine, await textOf("pods.yaml"));
    await eventually(START_SECONDS, async () => {
        assert.equal((await podsOf(machine, "shop")).filter(({ ready }) => ready).length, REPLICAS);
        const agents = (await podsOf(machine, "agent")).filter(({ ready }) => ready);
        const { items } = await kubectl(machine, "get nodes");
        assert.deepEqual(agents.map(({ node }) => node).sort(), items.map(({ metadata }) => metadata.name).sort());
    });
}

export interface SeenPod {
    readonly name: string;
    readonly node: string;
    readonly ready: boolean;
    readonly deleting: boolean;
}

/** Pods with that value of the label `app`. */
export async function podsOf(machine: Machine, app: string): Promise<SeenPod[]> {
    const { items } = await kubectl(machine, `get pods -l app=${app}`);
    return items.map(({ metadata, spec, status }) => ({
        name: metadata.name,
        node: spec?.nodeName ?? "",
        ready: status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false,
        deleting: metadata.deletionTimestamp !== undefined,
    }));
}

/** Every number of ready replicas that the Deployment had while the action ran. */
export async function replicasDuring(machine: Machine, action: () => Promise<unknown>): Promise<number[]> {
    const get = `k0s kubectl get deployment shop --watch -o jsonpath="{.status.readyReplicas}{'\\n'}"`;
    await on(machine, `systemd-run -q --unit=watch-shop sh -c '${get.replaceAll("'", `'\\''`)} > /tmp/shop.log'`);
    try {
        await action();
    } finally {
        await on(machine, "systemctl stop watch-shop; true");
    }
    const lines = (await on(machine, "cat /tmp/shop.log")).trimEnd().split("\n");
    return lines.map(Number);
}

/** A pod on that node which ends only when `release` lets it: whoever drains the node waits here. */
export async function holdDrain(machine: Machine, node: string): Promise<{ release: () => Promise<void> }> {
    await apply(
        machine,
        [
            "apiVersion: v1",
            "kind: Pod",
            "metadata: { name: hold, namespace: default, labels: { app: hold }, finalizers: [lab/hold] }",
            "spec:",
            `  nodeName: ${node}`,
            "  automountServiceAccountToken: false",
            "  terminationGracePeriodSeconds: 1",
            "  tolerations: [{ operator: Exists }]",
            "  containers: [{ name: app, image: lab-app:1, imagePullPolicy: Never }]",
        ].join("\n"),
    );
    const release = async (): Promise<void> => {
        await on(machine, `k0s kubectl patch pod hold --type merge -p '{"metadata":{"finalizers":null}}'`);
    };
    return { release };
}

async function apply(machine: Machine, manifest: string): Promise<void> {
    await on(machine, `k0s kubectl apply -f - <<'EOF'\n${manifest}\nEOF`);
}
