/** The Automation API's own installer in a process of its own, because it cannot be interrupted. */
import { PulumiCommand } from "@pulumi/pulumi/automation";

PulumiCommand.install().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
});
