import { restoreServers } from "./fake-operation";
import { isCi, missingInCi } from "./real-parts";

/** Mocha runs these in every worker; hooks of a module that two files load would be those of the first file alone. */
export const mochaHooks = { afterEach: restoreServers };

/** Once, in the process that starts the workers: where nothing may be skipped, a run that would skip does not begin. */
export function mochaGlobalSetup(): void {
    const missing = isCi() ? missingInCi() : undefined;
    if (missing === undefined) return;
    process.stderr.write(`${missing}\n`);
    process.exit(1);
}
