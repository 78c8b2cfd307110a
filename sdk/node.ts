import type * as pulumi from "@pulumi/pulumi";
import type { NodeArgs } from "./args";
import { refuseImport } from "./options";
import { sdk } from "./program-sdk";
import { propertiesOf } from "./properties";
import type { NodeResult } from "./result";

/** What both kinds of node are: a dynamic resource with a node's outputs. Programs use the two classes below it. */
export abstract class MkeNode extends sdk.dynamic.Resource implements NodeResult {
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

    /** `outputs`: names of those that this kind alone has; Pulumi drops outputs that it was not told of. */
    protected constructor(
        stub: pulumi.dynamic.ResourceProvider,
        type: "ControllerNode" | "WorkerNode",
        name: string,
        { args, outputs }: { readonly args: NodeArgs; readonly outputs: Readonly<Record<string, undefined>> },
        opts: pulumi.CustomResourceOptions | undefined,
    ) {
        refuseImport(name, opts);
        super(stub, name, { ...propertiesOf(name, args), ...outputs }, opts, "mke", type);
    }
}
