import { restoreServers } from "./fake-operation";

/** Mocha runs these in every worker; hooks of a module that two files load would be those of the first file alone. */
export const mochaHooks = { afterEach: restoreServers };
