/** Defaults of the inputs, in the units of `inputs.ts`. They are filled in by `check`, so that previews show them. */

export const CONNECTION_DEFAULTS = {
    user: "root",
    port: 22,
    dialErrorLimit: 10,
    perDialTimeout: 15,
} as const;

/** A lone controller may be removed only by its own rule (`onLastController`); etcd gains nothing from more than seven. */
export const CLUSTER_DEFAULTS = { minControllers: 1, maxControllers: 7 } as const;

export const K0S_DEFAULTS = { installPath: "/usr/local/bin/k0s" } as const;

export const DATA_DIR_DEFAULT = "/var/lib/k0s";

/** As `mkectl`: a drain that fails does not stop a removal. 300 s is k0sctl's limit. */
export const DRAIN_DEFAULTS = {
    enabled: true,
    timeout: 300,
    gracePeriod: -1,
    onFailure: "continue",
    concurrency: 1,
} as const;

export const BACKUP_DEFAULTS = { skip: false, unencrypted: false } as const;

export const LOCK_DEFAULTS = { adoptStale: false } as const;

export const MKE_DEFAULTS = { redistributeWorkloads: true } as const;

/**
 * Several times what was observed with k0s 1.36.3, and enough for what the cluster does by itself: a dead member was
 * removed by its leader after 296 s, hence 360 s for `leave`. 10 min for the API are spec/002's.
 */
export const TIMEOUT_DEFAULTS = {
    connect: 300,
    lock: 600,
    binary: 600,
    etcdJoin: 300,
    ready: 600,
    leave: 360,
    api: 600,
    stop: 120,
    reset: 300,
    backup: 600,
    addons: 900,
} as const;

/**
 * k0s's own minimum for a controller; the kernel and firmware keep some of the memory for themselves. Clocks as k0sctl has it:
 * certificates, tokens and etcd suffer from more.
 */
export const PREFLIGHT_DEFAULTS = {
    os: true,
    minCpus: 1,
    minMemoryMiB: 900,
    minDiskMiB: 1700,
    cgroupV2: true,
    maxClockSkew: 30,
} as const;

export const POLICY_DEFAULTS = {
    onUnreachable: "fail",
    onLastController: "fail",
    adopt: "unmarked",
    allowStrandedWorkers: false,
} as const;
