/** The same in every run, so that a change is judged by nothing but itself; the environment variable of that name tries others. */
export const FUZZ_SEED = Number(process.env["FUZZ_SEED"] ?? 1);
