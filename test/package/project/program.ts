/** A program as a user writes it. It is tried as CommonJS and as an ES module, as it is. */
import * as pulumi from "@pulumi/pulumi";
import { MkeControllerNode, MkeWorkerNode, type ConnectionArgs } from "pulumi-mke";

export async function program() {
    const config = new pulumi.Config("mke");
    const privateKey = config.requireSecret("privateKey");
    const connection: ConnectionArgs = {
        privateKey,
        proxy: { host: config.require("bastion"), port: config.requireNumber("bastionPort"), user: "jump", privateKey },
    };
    const cluster = { controllers: [{ host: config.require("controller"), connection }] };
    const preflight = { os: false, minDiskMiB: false as const };

    const c2 = new MkeControllerNode("c2", { cluster, preflight, host: config.require("c2"), connection });
    const w1 = new MkeWorkerNode("w1", { cluster, preflight, host: config.require("w1"), connection });
    return { memberId: c2.memberId, worker: w1.nodeName };
}
