"use strict";

const pulumi = require("@pulumi/pulumi");
const mke = require("pulumi-mke");

exports.program = async () => {
    const config = new pulumi.Config("mke");
    const privateKey = config.requireSecret("privateKey");
    const connection = {
        privateKey,
        proxy: { host: config.require("bastion"), port: config.requireNumber("bastionPort"), user: "jump", privateKey },
    };
    const cluster = { controllers: [{ host: config.require("controller"), connection }] };
    const preflight = { os: false, minDiskMiB: false };

    const c2 = new mke.MkeControllerNode("c2", { cluster, preflight, host: config.require("c2"), connection });
    const w1 = new mke.MkeWorkerNode("w1", { cluster, preflight, host: config.require("w1"), connection });
    return { memberId: c2.memberId, worker: w1.nodeName };
};
