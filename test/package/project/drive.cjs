"use strict";

/**
 * Runs `up`, `refresh` and `destroy` of the program named as the argument, from the project directory it lies in, with that
 * project's SDK. What to run it on comes as a message from the parent process, and what was seen goes back as one.
 */
const { resolve } = require("node:path");
const { LocalWorkspace, PulumiCommand } = require("@pulumi/pulumi/automation");
const { version } = require("@pulumi/pulumi/package.json");

process.once("message", (task) => {
    run(task).then(
        (seen) => process.send({ seen }, () => process.disconnect()),
        (error) => process.send({ error: String(error?.stack ?? error) }, () => process.disconnect()),
    );
});

async function run({ cli, workDir, pulumiHome, envVars, config }) {
    const output = [];
    const onOutput = (text) => output.push(text);
    const program = await load(resolve(process.argv[2]));
    const pulumiCommand = await PulumiCommand.get({ ...cli, skipVersionCheck: true });
    const stack = await LocalWorkspace.createStack(
        { stackName: "test", projectName: "mke", program },
        { workDir, pulumiHome, pulumiCommand, envVars },
    );
    await stack.setAllConfig(config);
    const up = await stack.up({ onOutput });
    const texts = textsOf((await stack.exportStack()).deployment);
    const refresh = await stack.refresh({ onOutput });
    process.send({ joined: true });
    await new Promise((goOn) => process.once("message", goOn));
    const destroy = await stack.destroy({ onOutput });
    return {
        sdk: version,
        node: process.version,
        texts,
        outputs: Object.fromEntries(Object.entries(up.outputs).map(([name, { value }]) => [name, value])),
        up: up.summary.resourceChanges,
        refresh: refresh.summary.resourceChanges,
        destroy: destroy.summary.resourceChanges,
        output: output.join(""),
    };
}

/** As the SDK loads a program: CommonJS by `require`, which ts-node hooks into, ES modules by `import`. */
async function load(path) {
    const module = process.argv[3] === "import" ? await import(path) : require(path);
    return module.program;
}

/** The provider's text, by resource, as inputs and as outputs hold it. */
function textsOf({ resources }) {
    const dynamic = resources.filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic"));
    return dynamic.flatMap(({ urn, inputs, outputs }) =>
        [inputs, outputs].map((bag) => ({ name: urn.split("::").at(-1), text: bag.__provider })),
    );
}
