import type * as pulumi from "@pulumi/pulumi";
import type { MkeWorkerNodeArgs } from "./args";
import { sdk } from "./program-sdk";
import { propertiesOf } from "./properties";
import type { NodeResult } from "./result";
import { workerStub } from "./stub";

/**
 * A worker of an MKE 4 or k0s cluster. Creating it joins the machine to the cluster, deleting it drains the node, takes it
 * out of the cluster and resets the machine.
 */
export class MkeWorkerNode extends sdk.dynamic.Resource implements NodeResult {
    declare readonly host: NodeResult["host"];
    declare readonly connection: NodeResult["connection"];
    declare readonly cluster: NodeResult["cluster"];
    declare readonly role: NodeResult["role"];
    declare readonly privateAddress: NodeResult["privateAddress"];
    declare readonly k0s: NodeResult["k0s"];
    declare readonly dataDir: NodeResult["dataDir"];
    declare readonly kubeletRootDir: NodeResult["kubeletRootDir"];
    declare readonly installFlags: NodeResult["installFlags"];
    declare readonly labels: NodeResult["labels"];
    declare readonly taints: NodeResult["taints"];
    declare readonly drain: NodeResult["drain"];
    declare readonly backup: NodeResult["backup"];
    declare readonly lock: NodeResult["lock"];
    declare readonly mke: NodeResult["mke"];
    declare readonly registry: NodeResult["registry"];
    declare readonly timeouts: NodeResult["timeouts"];
    declare readonly preflight: NodeResult["preflight"];
    declare readonly onUnreachable: NodeResult["onUnreachable"];
    declare readonly onLastController: NodeResult["onLastController"];
    declare readonly adopt: NodeResult["adopt"];
    declare readonly allowStrandedWorkers: NodeResult["allowStrandedWorkers"];
    declare readonly triggers: NodeResult["triggers"];
    declare readonly owner: NodeResult["owner"];
    declare readonly nodeName: NodeResult["nodeName"];
    declare readonly requestedNodeName: NodeResult["requestedNodeName"];
    declare readonly clusterId: NodeResult["clusterId"];
    declare readonly caFingerprint: NodeResult["caFingerprint"];
    declare readonly k0sVersion: NodeResult["k0sVersion"];
    declare readonly machineId: NodeResult["machineId"];
    declare readonly peerAddress: NodeResult["peerAddress"];
    declare readonly status: NodeResult["status"];
    declare readonly state: NodeResult["state"];
    declare readonly drift: NodeResult["drift"];
    declare readonly token: NodeResult["token"];
    declare readonly installedBinary: NodeResult["installedBinary"];
    declare readonly schemaVersion: NodeResult["schemaVersion"];
    /** The API server it joined through, e.g. `https://10.0.0.1:6443`. */
    declare readonly apiServer: pulumi.Output<string>;

    constructor(name: string, args: MkeWorkerNodeArgs, opts?: pulumi.CustomResourceOptions) {
        super(workerStub, name, { ...propertiesOf(name, args), apiServer: undefined }, opts, "mke", "WorkerNode");
    }
}
