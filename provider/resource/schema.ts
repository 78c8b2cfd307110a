import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { NodeKind } from "../inputs";
import {
    BACKUP_DEFAULTS,
    CLUSTER_DEFAULTS,
    CONNECTION_DEFAULTS,
    DATA_DIR_DEFAULT,
    DRAIN_DEFAULTS,
    K0S_DEFAULTS,
    LOCK_DEFAULTS,
    MKE_DEFAULTS,
    POLICY_DEFAULTS,
    PREFLIGHT_DEFAULTS,
    TIMEOUT_DEFAULTS,
} from "./defaults";
import { hints, NOT_A_PATH } from "./hints";
import { directory, filePath, installFlag, labelKey, labelValue, taint } from "./kubernetes-text";
import { hostKey, privateKey } from "./key-text";
import { oneLine, privateAddress } from "./login-text";
import {
    anything,
    bool,
    type Fields,
    list,
    map,
    number,
    object,
    oneOf,
    orFalse,
    pattern,
    quote,
    type Report,
    type Shape,
    text,
} from "./shape";

const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?$/;
const NODE_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Nothing but numbers and points is a mistyped address: no top-level domain is a number. */
const NUMBERS = /^[0-9.]+$/;

const host = text((value) =>
    isIP(value) !== 0 || (value.length <= 253 && HOST_NAME.test(value) && !NUMBERS.test(value))
        ? undefined
        : `must be an IP address or a host name without user and port, got ${quote(value)}`,
);

const seconds = number({ min: 0, expected: "0 or more seconds" });
const someSeconds = number({ min: 1, expected: "1 second or more" });
const amount = orFalse(number({ min: 0, expected: "0 or more, or false to turn the check off" }));

const login: Fields = {
    user: { shape: pattern(/^[^\s:@]+$/, "a user name"), fallback: CONNECTION_DEFAULTS.user },
    port: {
        shape: number({ min: 1, max: 65535, integer: true, expected: "a port from 1 to 65535" }),
        fallback: CONNECTION_DEFAULTS.port,
    },
    privateKey: { shape: text(privateKey) },
    privateKeyPassword: { shape: text() },
    password: { shape: text() },
    agentSocketPath: { shape: text() },
    hostKey: { shape: text(hostKey) },
    dialErrorLimit: {
        shape: number({ min: -1, integer: true, expected: "a whole number, or -1 for no limit" }),
        fallback: CONNECTION_DEFAULTS.dialErrorLimit,
    },
    perDialTimeout: { shape: seconds, fallback: CONNECTION_DEFAULTS.perDialTimeout },
};

const proxy = object(
    { host: { shape: host, required: "is required: the address of the bastion host" }, ...login },
    { proxy: "a proxy of a proxy is not supported", sudoPassword: "nothing runs as root on a bastion host" },
);

const connection = object(
    { ...login, proxy: { shape: proxy }, sudoPassword: { shape: text(oneLine) } },
    {
        host: "is an input of the resource itself; a connection may repeat it, and names no other",
        address: "is the input host of the resource itself",
        keyPath: NOT_A_PATH,
        bastion: "is the input proxy",
    },
);

const controllerList = list(
    object({
        host: { shape: host, required: "is required: the address of the controller" },
        connection: { shape: connection, fallback: {} },
    }),
);

const cluster = object({
    controllers: {
        shape: controllers,
        required: "is required: at least one controller of the cluster, [{ host: … }]",
    },
    id: {
        shape: pattern(
            /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
            "the UID of the kube-system namespace, in lower case",
        ),
    },
    caFingerprint: { shape: pattern(/^sha256:[0-9a-f]{64}$/, "sha256:<64 hexadecimal digits, lower case>") },
    minControllers: { shape: controllerCount(), fallback: CLUSTER_DEFAULTS.minControllers },
    maxControllers: { shape: controllerCount(), fallback: CLUSTER_DEFAULTS.maxControllers },
});

const k0s = object(
    {
        version: { shape: pattern(/^v\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/, "a version such as v1.36.3+k0s.2") },
        downloadUrl: { shape: text(downloadUrl) },
        sha256: { shape: pattern(/^[0-9a-f]{64}$/, "64 hexadecimal digits, lower case") },
        localPath: { shape: text() },
        ociArtifact: {
            shape: pattern(
                /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})$/,
                "registry[:port]/path:tag or registry[:port]/path@sha256:…",
            ),
        },
        installPath: { shape: text(filePath), fallback: K0S_DEFAULTS.installPath },
    },
    { config: "is the input k0sConfig" },
);

const drain = object({
    enabled: { shape: bool, fallback: DRAIN_DEFAULTS.enabled },
    timeout: { shape: seconds, fallback: DRAIN_DEFAULTS.timeout },
    gracePeriod: {
        shape: number({ min: -1, integer: true, expected: "whole seconds, or -1 for what the pod says" }),
        fallback: DRAIN_DEFAULTS.gracePeriod,
    },
    onFailure: { shape: oneOf("continue", "fail"), fallback: DRAIN_DEFAULTS.onFailure },
    concurrency: {
        shape: number({ min: 1, integer: true, expected: "a whole number from 1" }),
        fallback: DRAIN_DEFAULTS.concurrency,
    },
});

const backup = object({
    skip: { shape: bool, fallback: BACKUP_DEFAULTS.skip },
    directory: { shape: text() },
    passphrase: { shape: text(passphrase) },
    unencrypted: { shape: bool, fallback: BACKUP_DEFAULTS.unencrypted },
});

const lock = object(
    { adoptStale: { shape: bool, fallback: LOCK_DEFAULTS.adoptStale } },
    { timeout: "is the input timeouts.lock" },
);

const registry = object({
    username: { shape: text() },
    password: { shape: text() },
    caCertificate: { shape: text(certificate) },
});

const mke = object({
    keyPath: { shape: text() },
    redistributeWorkloads: { shape: bool, fallback: MKE_DEFAULTS.redistributeWorkloads },
});

const timeouts = object(
    Object.fromEntries(
        Object.entries(TIMEOUT_DEFAULTS).map(([name, fallback]) => [
            name,
            { shape: name === "lock" ? seconds : someSeconds, fallback },
        ]),
    ),
    { drain: "is the input drain.timeout" },
);

const preflight = object({
    os: { shape: bool, fallback: PREFLIGHT_DEFAULTS.os },
    minCpus: { shape: amount, fallback: PREFLIGHT_DEFAULTS.minCpus },
    minMemoryMiB: { shape: amount, fallback: PREFLIGHT_DEFAULTS.minMemoryMiB },
    minDiskMiB: { shape: amount, fallback: PREFLIGHT_DEFAULTS.minDiskMiB },
    cgroupV2: { shape: bool, fallback: PREFLIGHT_DEFAULTS.cgroupV2 },
    maxClockSkew: { shape: amount, fallback: PREFLIGHT_DEFAULTS.maxClockSkew },
});

const common: Fields = {
    host: { shape: host, required: "is required: the address of the machine" },
    connection: { shape: connection, fallback: {} },
    cluster: { shape: cluster, required: "is required: { controllers: [{ host: … }] }" },
    nodeName: { shape: pattern(NODE_NAME, "a Kubernetes node name: lower-case letters, digits, - and .") },
    privateAddress: { shape: text(privateAddress) },
    k0s: { shape: k0s, fallback: {} },
    registry: { shape: registry, fallback: {} },
    dataDir: { shape: text(directory), fallback: DATA_DIR_DEFAULT },
    kubeletRootDir: { shape: text(directory) },
    installFlags: { shape: list(text(installFlag)), fallback: [] },
    labels: { shape: map(text(labelValue), labelKey), fallback: {} },
    taints: { shape: list(text(taint)), fallback: [] },
    drain: { shape: drain, fallback: {} },
    lock: { shape: lock, fallback: {} },
    mke: { shape: mke, fallback: {} },
    timeouts: { shape: timeouts, fallback: {} },
    preflight: { shape: preflight, fallback: {} },
    onUnreachable: { shape: oneOf("fail", "remove-from-cluster"), fallback: POLICY_DEFAULTS.onUnreachable },
    adopt: { shape: oneOf("unmarked", "never", "takeOver"), fallback: POLICY_DEFAULTS.adopt },
    triggers: { shape: list(anything), fallback: [] },
    owner: { shape: text(), required: "is missing; the classes of pulumi-mke set it" },
};

const controllersOnly: Fields = {
    role: { shape: oneOf("controller+worker", "controller"), fallback: "controller+worker" },
    k0sConfig: { shape: map(anything, () => undefined) },
    backup: { shape: backup, fallback: {} },
    onLastController: { shape: oneOf("fail", "reset"), fallback: POLICY_DEFAULTS.onLastController },
    allowStrandedWorkers: { shape: bool, fallback: POLICY_DEFAULTS.allowStrandedWorkers },
};

/** Workers have these too, each with the one value that means nothing, so that both kinds have the same inputs. */
const fixedForWorkers: Fields = {
    role: { shape: only("worker"), fallback: "worker" },
    backup: { shape: onlyDefault(backup, BACKUP_DEFAULTS), fallback: {} },
    onLastController: { shape: only(POLICY_DEFAULTS.onLastController), fallback: POLICY_DEFAULTS.onLastController },
    allowStrandedWorkers: {
        shape: only(POLICY_DEFAULTS.allowStrandedWorkers),
        fallback: POLICY_DEFAULTS.allowStrandedWorkers,
    },
};

/** Every top-level input of a kind, with its shape and default. */
export const NODE_FIELDS: Readonly<Record<NodeKind, Fields>> = {
    controller: { ...common, ...controllersOnly },
    worker: { ...common, ...fixedForWorkers },
};

export const NODE_SHAPES: Readonly<Record<NodeKind, Shape>> = {
    controller: object(NODE_FIELDS.controller, hints),
    worker: object(NODE_FIELDS.worker, { ...hints, k0sConfig: "only controllers have a k0s configuration" }),
};

function only(expected: string | boolean): Shape {
    return (value, at, report) => {
        if (value !== expected) report(at, "is an input of controllers only");
        return value;
    };
}

/** An object that workers have, with every field as it is by default. */
function onlyDefault(shape: Shape, expected: object): Shape {
    return (value, at, report) => {
        const complete = shape(value, at, report);
        if (!isDeepStrictEqual(complete, expected)) report(at, "is an input of controllers only");
        return complete;
    };
}

function controllers(value: unknown, at: string, report: Report): unknown {
    if (Array.isArray(value) && value.length === 0) report(at, "must name at least one controller of the cluster");
    return controllerList(value, at, report);
}

function controllerCount(): Shape {
    return number({ min: 1, integer: true, expected: "a whole number from 1" });
}

/** mkectl's minimum (mke4-node-lifecycle.md 10). */
const PASSPHRASE_BYTES = 12;

function passphrase(value: string): string | undefined {
    return Buffer.byteLength(value) < PASSPHRASE_BYTES ? `must have ${PASSPHRASE_BYTES} bytes or more` : undefined;
}

function certificate(value: string): string | undefined {
    return value.includes("-----BEGIN CERTIFICATE-----") ? undefined : "must be a certificate in PEM";
}

function downloadUrl(value: string): string | undefined {
    if (/\s/.test(value)) return "must be a URL without spaces and line breaks";
    const protocol = URL.canParse(value) ? new URL(value).protocol : "";
    return protocol === "https:" || protocol === "http:" ? undefined : "must be an http:// or https:// URL";
}
