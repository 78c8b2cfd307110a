import type * as pulumi from "@pulumi/pulumi";
import type { MkeWorkerNodeArgs } from "./args";
import { MkeNode } from "./node";
import { workerStub } from "./stub";

/**
 * A worker of an MKE 4 or k0s cluster. Creating it joins the machine to the cluster, deleting it drains the node, takes it
 * out of the cluster and resets the machine.
 */
export class MkeWorkerNode extends MkeNode {
    /** The API server it joined through, e.g. `https://10.0.0.1:6443`. */
    declare readonly apiServer: pulumi.Output<string>;

    constructor(name: string, args: MkeWorkerNodeArgs, opts?: pulumi.CustomResourceOptions) {
        super(workerStub, "WorkerNode", name, { args, outputs: { apiServer: undefined } }, opts);
    }
}
