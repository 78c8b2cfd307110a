"use strict";

/**
 * Nodes of a cluster, given by `pulumi config`:
 *
 *     pulumi config set mke:controller 10.77.0.11             a controller that is there already
 *     pulumi config set --path 'mke:controllers[0]' 10.77.0.12   hosts that should be controllers
 *     pulumi config set --path 'mke:workers[0]' 10.77.0.21       hosts that should be workers
 *     pulumi config set mke:user root                         default root
 *     pulumi config set --secret mke:privateKey < ~/.ssh/id_ed25519
 *
 * Without a key the SSH agent is used. `mke:privateKeyPassword` and `mke:sudoPassword` are there for those who need them.
 */
const pulumi = require("@pulumi/pulumi");
const mke = require("pulumi-mke");

const config = new pulumi.Config("mke");

const connection = {
    user: config.get("user") ?? "root",
    privateKey: config.getSecret("privateKey"),
    privateKeyPassword: config.getSecret("privateKeyPassword"),
    sudoPassword: config.getSecret("sudoPassword"),
};
const cluster = { controllers: [{ host: config.require("controller"), connection }] };

// Each waits for the one before it, also when several have to be replaced: three controllers become two, then three again.
let previous;
const controllers = (config.getObject("controllers") ?? []).map((host) => {
    const dependsOn = previous === undefined ? [] : [previous];
    previous = new mke.MkeControllerNode(`controller-${host}`, { cluster, host, connection }, { dependsOn });
    return previous;
});

const workers = (config.getObject("workers") ?? []).map(
    (host) => new mke.MkeWorkerNode(`worker-${host}`, { cluster, host, connection }),
);

const summary = (nodes) => nodes.map(({ nodeName, status, drift }) => ({ nodeName, status, drift }));

exports.controllers = summary(controllers);
exports.workers = summary(workers);
