import { DEFAULT_TIMING } from "../../provider/lock/timing";

/** What is put before a provider process, so that the lock of a killed one need not be waited for so long. */
const SHORT = { durationSeconds: 8, renewEvery: 2000, retryEvery: 200, pollEvery: 200, margin: 1500 };

if (process.argv[1]?.includes("cmd/dynamic-provider")) Object.assign(DEFAULT_TIMING, SHORT);

/** Environment for a CLI whose providers have such locks. */
export const shortLocks = { NODE_OPTIONS: `--require=${__filename}` };
