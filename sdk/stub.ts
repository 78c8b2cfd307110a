/**
 * The text that Pulumi stores with every resource, and runs when the program is long gone. It must stay these few lines:
 * the package's own name as a literal, and nothing from outside. All that is behind the name may change, the name may not.
 * `test/sdk/stub.test.ts` holds the text.
 */
import type * as pulumi from "@pulumi/pulumi";

export const controllerStub: pulumi.dynamic.ResourceProvider = {
    check: (olds, news) => require("pulumi-mke/provider").controller.check(olds, news),
    diff: (id, olds, news) => require("pulumi-mke/provider").controller.diff(id, olds, news),
    create: (inputs) => require("pulumi-mke/provider").controller.create(inputs),
    read: (id, outs) => require("pulumi-mke/provider").controller.read(id, outs),
    update: (id, olds, news) => require("pulumi-mke/provider").controller.update(id, olds, news),
    delete: (id, outs) => require("pulumi-mke/provider").controller.delete(id, outs),
};

export const workerStub: pulumi.dynamic.ResourceProvider = {
    check: (olds, news) => require("pulumi-mke/provider").worker.check(olds, news),
    diff: (id, olds, news) => require("pulumi-mke/provider").worker.diff(id, olds, news),
    create: (inputs) => require("pulumi-mke/provider").worker.create(inputs),
    read: (id, outs) => require("pulumi-mke/provider").worker.read(id, outs),
    update: (id, olds, news) => require("pulumi-mke/provider").worker.update(id, olds, news),
    delete: (id, outs) => require("pulumi-mke/provider").worker.delete(id, outs),
};
