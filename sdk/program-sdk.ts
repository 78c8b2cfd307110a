import type * as pulumi from "@pulumi/pulumi";
import { realpathSync } from "node:fs";
import { join, sep } from "node:path";

const OWN_MODULES = join(realpathSync(join(__dirname, "..", "..")), "node_modules") + sep;

/**
 * The SDK that runs the program. Pulumi looks for it from the program's directory, so it is this package's own peer in every
 * installation but one: a checkout that is linked into the project (`npm link`) brings a second copy in its `node_modules`,
 * and the SDK's connection to the engine takes no messages of another copy.
 */
export const sdk = (isShared() ? require("@pulumi/pulumi") : require(ofProgram())) as typeof pulumi;

function isShared(): boolean {
    const own = resolved();
    return own !== undefined && !realpathSync(own).startsWith(OWN_MODULES);
}

/** Where the program has none, the own one is all there is. */
function ofProgram(): string {
    return resolved({ paths: [process.cwd()] }) ?? "@pulumi/pulumi";
}

function resolved(options?: { paths: string[] }): string | undefined {
    try {
        return require.resolve("@pulumi/pulumi", options);
    } catch {
        return undefined;
    }
}
