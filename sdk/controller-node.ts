import type * as pulumi from "@pulumi/pulumi";
import type { MkeControllerNodeArgs } from "./args";
import { MkeNode } from "./node";
import { refuseSkippedRemoval } from "./options";
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
