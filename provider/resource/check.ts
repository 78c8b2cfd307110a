import { normalAddress } from "../address";
import { messageOf } from "../errors";
import type { NodeInputs, NodeKind } from "../inputs";
import { isEncrypted, privateKey as keyText } from "./key-text";
import { k0sConfiguration } from "./k0s-configuration";
import { NODE_FIELDS, NODE_SHAPES } from "./schema";
import { type Bag, bagOf, holdsUnknown, isBag, type Problem, type Report, silent, UNKNOWN } from "./shape";

export interface CheckResult {
    /** Complete: every default filled in, values that are not known yet untouched. */
    readonly inputs: Bag;
    readonly failures: readonly Problem[];
}

/**
 * Checks the inputs of a program and fills the defaults in. It contacts nothing, never throws, and accepts its own
 * answer (Pulumi sends old inputs again under `ignoreChanges`). No failure holds a value that may be secret.
 */
export function check(kind: NodeKind, news: Bag): CheckResult {
    const { __provider: _, ...given } = news;
    const failures: Problem[] = [];
    const report: Report = (property, reason) => failures.push({ property, reason });
    try {
        const inputs = NODE_SHAPES[kind](withoutRepeatedHosts(given), "", report) as Bag;
        combinations(inputs, report);
        return { inputs, failures: failures.filter((failure) => !isCopied(failure, failures)) };
    } catch (error) {
        report("", `cannot be checked, a fault of pulumi-mke: ${messageOf(error)}`);
        return { inputs: given, failures };
    }
}

/** A connection that is shared with `@pulumi/command` has the host too, which says nothing new where it is the same. */
function withoutRepeatedHosts(given: Bag): Bag {
    const cluster = bagOf(given["cluster"]);
    const { controllers } = cluster;
    return {
        ...withoutRepeatedHost(given),
        ...(Array.isArray(controllers) && {
            cluster: {
                ...cluster,
                controllers: controllers.map((one: unknown) => (isBag(one) ? withoutRepeatedHost(one) : one)),
            },
        }),
    };
}

function withoutRepeatedHost(bag: Bag): Bag {
    const { host, connection } = bag;
    if (!isBag(connection) || !("host" in connection)) return bag;
    const { host: repeated, ...login } = connection;
    const isKnown = host !== UNKNOWN && repeated !== UNKNOWN;
    const isOther = typeof host !== "string" || typeof repeated !== "string" || !isSameHost(host, repeated);
    return isKnown && isOther ? bag : { ...bag, connection: login };
}

function isSameHost(one: string, other: string): boolean {
    return normalAddress(one) === normalAddress(other);
}

/** Controllers without a login of their own have a copy of the resource's: its faults are told once. */
function isCopied({ property, reason }: Problem, failures: readonly Problem[]): boolean {
    const original = property.replace(/^cluster\.controllers\[\d+\]\./, "");
    return original !== property && failures.some((other) => other.property === original && other.reason === reason);
}

/**
 * The same shape without complaints: what an older version, or an interrupted operation, stored, completed with today's
 * defaults. Fields that are not inputs are left out.
 */
export function completeInputs(kind: NodeKind, stored: Bag): NodeInputs {
    const inputs = Object.fromEntries(Object.keys(NODE_FIELDS[kind]).map((name) => [name, stored[name]]));
    return NODE_SHAPES[kind](inputs, "", silent) as NodeInputs;
}

function combinations(inputs: Bag, report: Report): void {
    logins(inputs, report);
    k0sSource(bagOf(inputs["k0s"]), report);
    backupPlace(bagOf(inputs["backup"]), report);
    registryLogin(bagOf(inputs["registry"]), report);
    directories(inputs, report);
    controllerLimits(bagOf(inputs["cluster"]), report);
    withoutKubelet(inputs, report);
    differentTaints(inputs["taints"], report);
    cgroups(inputs, report);
    k0sConfiguration(inputs["k0sConfig"], report);
}

function logins(inputs: Bag, report: Report): void {
    login(inputs["connection"], "connection", report);
    const controllers = bagOf(inputs["cluster"])["controllers"];
    if (!Array.isArray(controllers)) return;
    controllers.forEach((controller, i) => {
        login(bagOf(controller)["connection"], `cluster.controllers[${i}].connection`, report);
    });
}

function login(value: unknown, at: string, report: Report): void {
    const { privateKey, privateKeyPassword, proxy } = bagOf(value);
    if (proxy !== undefined) login(proxy, `${at}.proxy`, report);
    if (privateKey === undefined && privateKeyPassword !== undefined) {
        report(`${at}.privateKeyPassword`, "is given without a privateKey");
    }
    const isKey = typeof privateKey === "string" && privateKey !== UNKNOWN && keyText(privateKey) === undefined;
    if (isKey && privateKeyPassword !== UNKNOWN) keyContent(privateKey, privateKeyPassword, `${at}.privateKey`, report);
}

/** Brings ssh2 along, which a program without keys does not wait for. */
const keyReader = () => require("../adapters/ssh/private-key") as typeof import("../adapters/ssh/private-key");

function keyContent(key: string, passphrase: unknown, at: string, report: Report): void {
    const isText = typeof passphrase === "string";
    if (passphrase !== undefined && !isText) return;
    if (!isText && isEncrypted(key)) return report(at, "is encrypted: give privateKeyPassword too, or use an agent");
    const why = keyReader().whyUnusable(key, isText ? passphrase : undefined);
    if (why !== undefined) report(at, why);
}

function k0sSource({ downloadUrl, localPath, ociArtifact, sha256 }: Bag, report: Report): void {
    if (downloadUrl !== undefined && localPath !== undefined) {
        report("k0s.localPath", "cannot be given together with k0s.downloadUrl");
    }
    if (ociArtifact !== undefined && (downloadUrl !== undefined || localPath !== undefined)) {
        report("k0s.ociArtifact", "cannot be given together with k0s.downloadUrl or k0s.localPath");
    }
    if (sha256 !== undefined && downloadUrl === undefined && localPath === undefined) {
        report("k0s.sha256", "is given without k0s.downloadUrl or k0s.localPath");
    }
    if (typeof downloadUrl === "string" && /^http:/i.test(downloadUrl) && sha256 === undefined) {
        report("k0s.downloadUrl", "needs k0s.sha256, because http:// proves nothing about what arrives");
    }
}

/** A backup holds the keys of the cluster: unencrypted only where that is said (safety.md 23). */
function backupPlace({ skip, directory, passphrase, unencrypted }: Bag, report: Report): void {
    if (directory === undefined) {
        if (passphrase !== undefined) report("backup.passphrase", "is given without backup.directory");
        if (unencrypted === true) report("backup.unencrypted", "is given without backup.directory");
        return;
    }
    if (skip === true) report("backup.directory", "is given although backup.skip is true");
    if (passphrase === undefined && unencrypted === false) {
        report("backup.directory", "needs backup.passphrase, or backup.unencrypted: true to leave the keys readable");
    }
    if (passphrase !== undefined && unencrypted === true) {
        report("backup.unencrypted", "contradicts backup.passphrase");
    }
}

function registryLogin({ username, password }: Bag, report: Report): void {
    if ((username === undefined) === (password === undefined)) return;
    report("registry", "needs username and password, or neither");
}

function directories(inputs: Bag, report: Report): void {
    const { dataDir, kubeletRootDir } = inputs;
    const { installPath } = bagOf(inputs["k0s"]);
    if (isInside(installPath, dataDir)) report("k0s.installPath", "must not be inside dataDir, which a reset empties");
    if (isInside(dataDir, kubeletRootDir)) report("kubeletRootDir", "must not hold dataDir");
}

function isInside(path: unknown, directory: unknown): boolean {
    if (typeof path !== "string" || typeof directory !== "string") return false;
    return path === directory || path.startsWith(`${directory}/`);
}

function controllerLimits({ minControllers, maxControllers }: Bag, report: Report): void {
    if (typeof minControllers !== "number" || typeof maxControllers !== "number") return;
    if (minControllers > maxControllers) report("cluster.minControllers", "must not be above cluster.maxControllers");
}

/** A controller without a kubelet has no Node. */
function withoutKubelet({ role, labels, taints, kubeletRootDir }: Bag, report: Report): void {
    if (role !== "controller") return;
    const reason = 'has no effect on the role "controller", which has no Node';
    if (Object.keys(bagOf(labels)).length > 0) report("labels", reason);
    if (Array.isArray(taints) && taints.length > 0) report("taints", reason);
    if (kubeletRootDir !== undefined) report("kubeletRootDir", reason);
}

/** A Node has one taint of a key and effect. */
function differentTaints(taints: unknown, report: Report): void {
    if (!Array.isArray(taints)) return;
    const listed: readonly unknown[] = taints;
    const places = listed.map((taint) => (typeof taint === "string" ? taint.replace(/=[^:]*/, "") : taint));
    places.forEach((place, i) => {
        const isRepeated = typeof place === "string" && place !== UNKNOWN && places.indexOf(place) < i;
        if (isRepeated) report(`taints[${i}]`, "has the key and effect of another one");
    });
}

function cgroups({ role, preflight, installFlags }: Bag, report: Report): void {
    if (role === "controller" || bagOf(preflight)["cgroupV2"] !== false || holdsUnknown(installFlags)) return;
    const flags: readonly unknown[] = Array.isArray(installFlags) ? installFlags : [];
    const ignoring = /^--ignore-pre-flight-checks(=true)?$/;
    if (flags.some((flag) => typeof flag === "string" && ignoring.test(flag))) return;
    report(
        "preflight.cgroupV2",
        "can be false only with --ignore-pre-flight-checks among installFlags: k0s checks it too",
    );
}
