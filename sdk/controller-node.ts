import type * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/errors";
import type { MkeControllerNodeArgs } from "./args";
import { sdk } from "./program-sdk";
import { propertiesOf } from "./properties";
import type { NodeResult } from "./result";
import { controllerStub } from "./stub";

/**
 * A controller of an MKE 4 or k0s cluster: a machine that runs the API server and is a voting member of etcd. Creating
 * it joins the machine to the cluster, deleting it takes the member out of etcd and resets the machine.
 */
export class MkeControllerNode extends sdk.dynamic.Resource implements NodeResult {
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
    /** etcd member ID, hexadecimal without leading zeros. */
    declare readonly memberId: pulumi.Output<string>;

    constructor(name: string, args: MkeControllerNodeArgs, opts?: pulumi.CustomResourceOptions) {
        const { allowSkippedRemoval, ...inputs } = args;
        if (allowSkippedRemoval !== true) refuseSkippedRemoval(name, opts);
        super(
            controllerStub,
            name,
            { ...propertiesOf(name, inputs), memberId: undefined },
            opts,
            "mke",
            "ControllerNode",
        );
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
