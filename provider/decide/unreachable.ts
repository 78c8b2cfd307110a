import { type Life, LOOK_AGAIN_FOR_LIFE } from "./alive";
import type { RemovalSituation } from "./plan-types";
import { type Refusal, refuse } from "./refusal";

/**
 * Whether a host that cannot be asked keeps its node from being removed (safety.md 4). Another host key is another machine, and
 * what is left of a dead node goes; a node that lives has only got a new key, or another machine has its address.
 */
export function refuseUnreachable(
    { host, inputs, otherHostKey }: Pick<RemovalSituation, "host" | "inputs" | "otherHostKey">,
    { life, why }: Life,
): Refusal | undefined {
    if (host !== undefined || inputs.onUnreachable === "remove-from-cluster") return undefined;
    if (otherHostKey === undefined) return refuse("the host does not answer, and onUnreachable is fail", []);
    if (life === "dead") return undefined;
    const is = life === "alive" ? "the node is alive" : "the node may be alive";
    const what = `the host shows a different SSH host key than \`connection.hostKey\`, and ${is}: ${why}`;
    return {
        ...refuse(what, [otherHostKey], "living-node", true),
        lookAgainFor: LOOK_AGAIN_FOR_LIFE,
        advice:
            "If its machine has a new key, set `connection.hostKey` to it (on the machine: `ssh-keygen -lf " +
            "/etc/ssh/ssh_host_ed25519_key.pub`), run `pulumi up`, and then this again. If another machine has its address, " +
            '`onUnreachable: "remove-from-cluster"` drains the node and takes it out; its machine is left as it is.',
    };
}
