/** Programs that only look at a host; every other one may change something there. */
export const LOOKING: ReadonlySet<string> = new Set([
    "probe",
    "read-file",
    "exists",
    "describe-files",
    "service-state",
    "journal",
    "k0s-version",
    "sha256",
    "file-size",
]);
