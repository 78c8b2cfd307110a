import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "mocha";
import { skipWithout } from "../support/real-parts";
import { root } from "../support/root";
import { describeEngine } from "./scene";

const PROJECT = `name: mke
runtime: nodejs
`;

/** As `pulumi new typescript` writes it. */
const TYPESCRIPT = {
    compilerOptions: { strict: true, target: "es2020", module: "commonjs", moduleResolution: "node", types: ["node"] },
    files: ["index.ts"],
};

/** The program of README.md, by way of the simulation's bastion. `args`: further ones of the worker. */
const program = (args: string): string => `
import * as pulumi from "@pulumi/pulumi";
import * as mke from "pulumi-mke";

const config = new pulumi.Config();
const privateKey = config.requireSecret("privateKey");
const proxy = { host: "127.0.0.1", port: config.requireNumber("port"), user: "jump", privateKey };
const connection = { user: "root", privateKey, proxy };
const cluster = { controllers: [{ host: "10.77.0.11", connection }] };
const w1 = new mke.MkeWorkerNode("w1", { cluster, host: "10.77.0.12", connection, ${args} });

export const worker = w1.nodeName;
`;

describeEngine("a project on disk (where pulumi-language-nodejs is beside the CLI)", (start) => {
    it("is checked by the compiler, previewed with reasons, carried out and destroyed, and shows no key", async function () {
        skipWithout(this, "pulumi-language-nodejs");
        const { sim, engine } = await start(["w1"]);
        const said: string[] = [];
        const pulumi = async (commands: string): Promise<number> => {
            const { status, stdout } = await engine.shell(`pulumi ${commands} 2>&1`);
            said.push(stdout);
            return status;
        };
        const folder = (await engine.shell("pwd")).stdout.trim();
        const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });
        symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
        write("Pulumi.yaml", PROJECT);
        write("package.json", JSON.stringify({ main: "index.ts", devDependencies: { typescript: "5" } }));
        write("tsconfig.json", JSON.stringify(TYPESCRIPT));
        write("key", sim.privateKey);
        assert.equal(await pulumi("config set --secret privateKey < key"), 0, said.at(-1));
        assert.equal(await pulumi(`config set port ${sim.bastion.port}`), 0, said.at(-1));

        write("index.ts", program("drains: {}"));
        assert.notEqual(await pulumi("preview --non-interactive"), 0);
        assert.match(said.at(-1) ?? "", /'drains' does not exist in type 'NodeArgs'/);

        write("index.ts", program('labels: { zone: "a" }'));
        assert.equal(await pulumi("up --yes --non-interactive"), 0, said.at(-1));
        assert.match(said.at(-1) ?? "", /w1: waiting for the Node … w1 is Ready after [\d.]+ s/);
        assert.equal((await engine.shell("pulumi stack output worker")).stdout.trim(), "w1");

        write("index.ts", program('labels: { zone: "b" }'));
        assert.equal(await pulumi("preview --non-interactive --diff"), 0, said.at(-1));
        assert.match(said.at(-1) ?? "", /w1: will be updated: labels\.zone changed/);
        sim.find("w1").stopService();
        assert.equal(await pulumi("up --refresh --yes --non-interactive"), 0, said.at(-1));
        assert.match(said.at(-1) ?? "", /w1: will be updated: k0sworker is not running; labels\.zone changed/);

        const key = sim.privateKey.split("\n")[1] ?? "";
        assert.ok(key.length > 20);
        assert.equal((await engine.stateFiles()).includes(key), false);
        assert.equal(await pulumi("destroy --yes --non-interactive"), 0, said.at(-1));
        assert.equal(sim.find("w1").units.installed, undefined);
        assert.equal(said.join("").includes(key), false);
    });
});
