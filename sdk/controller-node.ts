import type * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/errors";
import type { MkeControllerNodeArgs } from "./args";
import { MkeNode } from "./node";
import { controllerStub } from "./stub";

/**
 * A controller of an MKE 4 or k0s cluster: a machine that runs the API server and is a voting member of etcd. Creating
 * it joins the machine to the cluster, deleting it takes the member out of etcd and resets the machine.
 */
export class MkeControllerNode extends MkeNode {
    /** etcd member ID, hexadecimal without leading zeros. */
    declare readonly memberId: pulumi.Output<string>;

    constructor(name: string, args: MkeControllerNodeArgs, opts?: pulumi.CustomResourceOptions) {
        const { allowSkippedRemoval, ...inputs } = args;
        if (allowSkippedRemoval !== true) refuseSkippedRemoval(name, opts);
        super(controllerStub, "ControllerNode", name, { args: inputs, outputs: { memberId: undefined } }, opts);
    }
}

/** A removal that is skipped leaves an etcd member behind that nobody runs. */
function refuseSkippedRemoval(name: string, opts: pulumi.CustomResourceOptions | undefined): void {
    const option = (["deletedWith", "retainOnDelete"] as const).find((key) => Boolean(opts?.[key]));
    if (option === undefined) return;
    throw new InputError({
        stage: "reading the program",
        what: `the controller ${JSON.stringify(name)} has the option ${option}, which skips its removal from etcd`,
        advice: "Take the option out, or set allowSkippedRemoval: true if the whole cluster goes with it.",
    });
}
