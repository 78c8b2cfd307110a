import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, before, describe, it } from "mocha";
import { blocksOf, pages, programsOf } from "../docs/blocks";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { skipWithout } from "../support/real-parts";
import { newSshKey } from "../support/ssh-key";
import { asProgram } from "./guide-program";
import { TIME_LIMIT } from "./scene";

/** What the programs ask of `pulumi config`, besides the key. */
const CONFIG = [
    "ami",
    "clusterId",
    "controller",
    "keyName",
    "securityGroup",
    "subnet",
    "subnet-a",
    "subnet-b",
    "subnet-c",
];

/** A machine of a cloud, of which a preview knows nothing but that it will be there. */
class Instance extends pulumi.ComponentResource {
    readonly id = pulumi.output("i-0123");
    readonly privateIp = pulumi.output("10.0.0.1");

    constructor(name: string, _args: object, options?: pulumi.ResourceOptions) {
        super("test:Instance", name, {}, options);
    }
}

describe("what README and the guides print, previewed by the engine", function () {
    this.timeout(TIME_LIMIT);
    let engine: Engine | undefined;

    before(function () {
        skipWithout(this, "pulumi");
    });
    afterEach(async () => {
        await engine?.close();
        engine = undefined;
    });

    const start = async (): Promise<Engine> => (engine = await Engine.start(findPulumi() ?? ""));

    for (const page of pages()) {
        const programs = programsOf(page);
        if (programs.length === 0) continue;

        it(`are programs that make nodes (${page})`, async () => {
            const started = await start();
            const values = CONFIG.map((name) => [`mke:${name}`, `value-of-${name}`] as const);
            await started.configure({
                ...Object.fromEntries(values),
                "mke:controller": "10.0.1.10",
                "mke:clusterId": "0b4a6a4c-5a0e-4d0c-9a3b-0f0e4f3b2a10",
                "mke:privateKey": newSshKey(),
            });
            for (const program of programs) {
                const nodes = program.match(/new (mke\.)?Mke\w+Node\(/g)?.length ?? 0;
                const addresses = distinctAddresses();
                const changes = await started.preview(
                    asProgram(program, { "@pulumi/aws": { ec2: { Instance: addresses } } }),
                );
                assert.ok(nodes > 0 && (changes["create"] ?? 0) > nodes, program);
            }
        });
    }

    it("are commands that configure the quick start of a clone", async () => {
        const started = await start();
        const folder = (await started.shell("pwd")).stdout.trim();
        mkdirSync(join(folder, "home", ".ssh"), { recursive: true });
        writeFileSync(join(folder, "home", ".ssh", "id_ed25519"), newSshKey());
        const commands = (blocksOf("README.md", /^console$/)[1] ?? "").replace(/^\$ /gm, "");
        const own = commands.replace(/^npm ci$/m, "").replace(/^pulumi up$/m, "");
        assert.equal(commands.split("\n").length, own.split("\n").length);
        assert.doesNotMatch(own, /npm|pulumi up/);
        const { status, stdout } = await started.shell(`set -e; unset PULUMI_STACK; HOME=${folder}/home\n${own}`);
        assert.equal(status, 0, stdout);
        // The engine of the tests has a stack of its own in this folder.
        copyFileSync(join(folder, "Pulumi.dev.yaml"), join(folder, "Pulumi.test.yaml"));
        const changes = await started.preview(() => {
            loadAfresh("../../../examples/quickstart/index.js");
            return Promise.resolve();
        });
        assert.equal(changes["create"], 2);
    });
});

/** Instances of one program have addresses of their own: two nodes with one host would be refused. */
function distinctAddresses(): typeof Instance {
    let count = 0;
    return class extends Instance {
        override readonly privateIp = pulumi.output(`10.9.0.${(count += 1)}`);
    };
}

/** A program runs when it is loaded, so it is not kept: other tests load the same one. */
function loadAfresh(path: string): void {
    const load = createRequire(__filename);
    load(path);
    Reflect.deleteProperty(load.cache, load.resolve(path));
}
