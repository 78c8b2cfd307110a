/** The Automation API's own installer in a process of its own, because it cannot be interrupted. Argument: the folder. */
import { PulumiCommand } from "@pulumi/pulumi/automation";

const [, , root] = process.argv;

PulumiCommand.install(root === undefined ? {} : { root }).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
});
