import { X509Certificate, createHash } from "node:crypto";
import { defined } from "../defined";
import { ApiError, messageOf } from "../errors";
import type { NodeKind } from "../inputs";
import { etcdIdsIn } from "./etcd-data";
import type { CaFacts, DataFacts, HostFacts, HostMarker, K0sBinary, K0sStatus, PutOnHost, UnitFacts } from "./host";
import { ProbeRecord } from "./host-probe-record";
import { KUBELET_ENTRIES, namesBelow, OWN_ENTRIES, TEMPORARY_PREFIX } from "./own-entries";
import { splitCommandLine } from "./unit-command";

/** Where the marker lies; it survives `k0s reset`. */
export const MARKER_PATH = "/etc/pulumi-mke/node.json";

/** k0sctl touches its lock every 10 s and takes one older than this for abandoned (v0.32). */
const K0SCTL_LOCK_SECONDS = 30;

/** `uname -m` → Go's names; others are passed on as they are. */
const GO_ARCH: Readonly<Record<string, string>> = {
    x86_64: "amd64",
    aarch64: "arm64",
    arm64: "arm64",
    armv6l: "arm",
    armv7l: "arm",
    armv8l: "arm",
    i686: "386",
};

/**
 * Reads the answer of `adapters/host/scripts/probe.sh`. `address` and the directories are what was asked about.
 * Throws ApiError on a line it does not know or a value that cannot be: half-understood facts decide nothing.
 */
export function parseHostProbe(output: string, address: string, dataDir: string, kubeletRootDir?: string): HostFacts {
    const record = ProbeRecord.read(output, address);
    if (record.one("format") !== "1") throw record.misunderstood(`format ${record.one("format")}`);
    const units = { controller: unitFacts(record, "controller"), worker: unitFacts(record, "worker") };
    const status = k0sStatus(record);
    return {
        address,
        machineId: record.one("machine-id"),
        hostName: record.one("host-name"),
        addresses: [...new Set(record.all("address"))],
        os: osFacts(record),
        arch: GO_ARCH[record.one("arch")] ?? record.one("arch"),
        cpus: record.number("cpus"),
        memoryMiB: Math.floor(record.number("memory-kib") / 1024),
        cgroupVersion: cgroupVersion(record),
        diskFreeMiB: Math.floor(record.number("disk-free-kib") / 1024),
        clock: record.number("clock"),
        selinux: record.oneOf("selinux", ["enforcing", "permissive", "disabled"]),
        init: record.oneOf("init", ["systemd", "openrc", "other"]),
        binary: binary(record, status),
        units,
        status,
        runLockHeld: record.oneOf("run-lock", ["held", "free"]) === "held",
        ca: caFacts(record),
        data: dataFacts(record, dataDir, kubeletRootDir),
        mounts: mountPoints(record),
        tokenFile: record.oneOf("token-file", ["absent", "blank", "token"]),
        apiServer: record.optional("api-server") || undefined,
        marker: marker(record),
        k0sctlLock: k0sctlLock(record),
    };
}

/** `sha256:<hex>` of a certificate's public key, as in cluster pins. Throws on what is not a PEM certificate. */
export function caFingerprint(pem: string | Buffer): string {
    const key = new X509Certificate(pem).publicKey.export({ type: "spki", format: "der" });
    return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Reads our marker; throws Error on anything but a marker of this version. */
function parseMarker(text: string): HostMarker {
    const marker = JSON.parse(text) as Partial<HostMarker> | null;
    if (marker?.version !== 1) throw new Error("not a marker of version 1");
    for (const field of ["owner", "token", "role", "nodeName", "clusterId", "machineId"] as const) {
        if (typeof marker[field] !== "string") throw new Error(`no ${field} in it`);
    }
    if (marker.put !== undefined) checkPut(marker.put);
    if (marker.flags !== undefined) checkTexts("flags", marker.flags);
    return marker as HostMarker;
}

function checkPut(put: Partial<PutOnHost>): void {
    for (const field of ["files", "directories", "selinux", "units"] as const) {
        checkTexts(field, put[field]);
    }
    const relative = [...(put.files ?? []), ...(put.directories ?? [])].find((path) => !path.startsWith("/"));
    if (relative !== undefined) throw new Error(`${JSON.stringify(relative)} in it is not an absolute path`);
}

function checkTexts(field: string, list: unknown): void {
    if (!Array.isArray(list) || list.some((item) => typeof item !== "string")) {
        throw new Error(`no list ${field} in it`);
    }
}

function osFacts(record: ProbeRecord): HostFacts["os"] {
    const fields = new Map<string, string>();
    for (const line of (record.base64("os-release-b64") ?? Buffer.alloc(0)).toString().split("\n")) {
        const parts = /^([A-Z_]+)=(.*)$/.exec(line.trim());
        if (parts !== null) fields.set(parts[1] ?? "", (parts[2] ?? "").replace(/^(["'])(.*)\1$/, "$2"));
    }
    return {
        id: fields.get("ID") ?? "",
        idLike: (fields.get("ID_LIKE") ?? "").split(/\s+/).filter((word) => word !== ""),
        versionId: fields.get("VERSION_ID") ?? "",
        name: fields.get("PRETTY_NAME") ?? fields.get("NAME") ?? "",
    };
}

function cgroupVersion(record: ProbeRecord): 1 | 2 | undefined {
    const version = record.oneOf("cgroup", ["1", "2", ""]);
    return version === "" ? undefined : version === "1" ? 1 : 2;
}

function unitFacts(record: ProbeRecord, role: NodeKind): UnitFacts | undefined {
    const text = record.optional(`unit-${role}`);
    if (text === undefined) return undefined;
    const parts = /^(yes|no) (\S+) (\S+) (\d+)$/.exec(text);
    if (parts === null) throw record.misunderstood(`unit-${role} "${text}"`);
    const command = record.base64(`unit-${role}-command-b64`)?.toString() ?? "";
    return {
        enabled: parts[1] === "yes",
        active: parts[2] ?? "",
        sub: parts[3] ?? "",
        restarts: Number(parts[4]),
        args: splitCommandLine(command).flatMap(withoutCut),
    };
}

/** The probe writes `(cut)` in place of a secret. */
function withoutCut(arg: string): string[] {
    const name = arg.replace(/[= ]?\(cut\).*$/s, "");
    return name === "" && arg !== "" ? [] : [name];
}

function k0sStatus(record: ProbeRecord): K0sStatus {
    const reason = record.optional("status-silent");
    if (reason !== undefined) return { state: "silent", reason };
    return {
        state: "answers",
        role: record.oneOf("status-role", ["controller", "worker"]),
        workloads: record.oneOf("status-workloads", ["true", "false"]) === "true",
        singleNode: record.oneOf("status-single-node", ["true", "false"]) === "true",
        version: record.one("status-version"),
        dataDir: record.one("status-data-dir"),
        kubeletRootDir: record.one("status-kubelet-root-dir") || undefined,
        invocationId: record.one("status-invocation-id"),
    };
}

function binary(record: ProbeRecord, status: K0sStatus): K0sBinary | undefined {
    const path = record.optional("binary-path");
    if (path === undefined) return undefined;
    const told = status.state === "answers" ? status.version : undefined;
    return { path, version: (record.optional("binary-version") ?? told) || undefined };
}

function caFacts(record: ProbeRecord): CaFacts {
    const found = { pki: record.base64("ca-pki-b64"), kubelet: record.base64("ca-kubelet-b64") };
    const pki = readFingerprint(found.pki);
    const kubelet = readFingerprint(found.kubelet);
    const unreadable =
        (found.pki !== undefined && pki === undefined) || (found.kubelet !== undefined && kubelet === undefined);
    return { pki, kubelet, unreadable };
}

function readFingerprint(pem: Buffer | undefined): string | undefined {
    try {
        return pem === undefined ? undefined : caFingerprint(pem);
    } catch {
        return undefined;
    }
}

/** Files and directories that our marker names, unless it came with a copied disk. */
function putByUs(record: ProbeRecord): string[] {
    const found = marker(record);
    if (found?.put === undefined || found.machineId !== record.one("machine-id")) return [];
    return [...found.put.files, ...found.put.directories];
}

function dataFacts(record: ProbeRecord, dir: string, kubeletRoot: string | undefined): DataFacts {
    const ours = new Set(namesBelow(dir, [...putByUs(record), ...(kubeletRoot === undefined ? [] : [kubeletRoot])]));
    return {
        dir,
        ...defined({ kubeletRoot }),
        exists: record.yes("data-dir"),
        pki: record.yes("pki"),
        etcdDatabase: record.yes("etcd-database"),
        ...defined({ etcdIds: etcdIdsIn(record.base64("etcd-log-b64") ?? Buffer.alloc(0)) }),
        etcdMember: record.yes("etcd-member"),
        kubeletConf: record.yes("kubelet-conf"),
        foreign: entries(record, "data-entries-b64").filter(
            (name) => !OWN_ENTRIES.has(name) && !name.startsWith(TEMPORARY_PREFIX) && !ours.has(name),
        ),
        foreignKubelet: entries(record, "kubelet-entries-b64").filter((name) => !KUBELET_ENTRIES.has(name)),
    };
}

function entries(record: ProbeRecord, key: string): string[] {
    return (record.base64(key)?.toString() ?? "").split("\n").filter((name) => name !== "");
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function mountPoints(record: ProbeRecord): string[] {
    const paths = record
        .all("mount")
        .map((path) => path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
    return [...new Set(paths)].sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1));
}

function marker(record: ProbeRecord): HostMarker | undefined {
    const content = record.base64("marker-b64");
    if (content === undefined) return undefined;
    try {
        return parseMarker(content.toString());
    } catch (error) {
        throw new ApiError({
            stage: "probing",
            host: record.address,
            what: `cannot read the marker ${MARKER_PATH}: ${messageOf(error)}`,
            advice: "If no newer pulumi-mke manages this host, look whose node it is, then delete that file there.",
        });
    }
}

function k0sctlLock(record: ProbeRecord): HostFacts["k0sctlLock"] {
    const locks = record.all("k0sctl-lock").map((text) => {
        const parts = /^(-?\d+) ?(.*)$/.exec(text);
        if (parts === null) throw record.misunderstood(`k0sctl-lock "${text}"`);
        return { ageSeconds: Math.max(0, Number(parts[1])), holder: parts[2] ?? "" };
    });
    return locks.find((lock) => lock.ageSeconds <= K0SCTL_LOCK_SECONDS);
}
