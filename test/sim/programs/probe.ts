import { ControllerDaemon } from "../k0s/controller";
import { databasePath, etcdLogPath } from "../k0s/pki-files";
import { K0sDaemon } from "../k0s/daemon";
import { NLLB_KUBECONFIG } from "../k0s/worker";
import type { SimHost } from "../model/host";
import { versionOfProgram } from "../model/k0s-program";
import { parse } from "yaml";
import type { Program, Values } from "./program";

const MACHINES = { amd64: "x86_64", arm64: "aarch64" } as const;
const LOCK_FILES = ["/run/lock/k0sctl", "/tmp/k0sctl.lock"];

type Line = readonly [key: string, value: string | number];

/** What `probe.sh` prints. */
export const probe: Program = (host, values) => {
    const lines: Line[] = [
        ["format", 1],
        ...machine(host),
        ...unit(host, "controller"),
        ...unit(host, "worker"),
        ...status(host),
        ...binary(host, values),
        ["run-lock", host.units.daemon === undefined ? "free" : "held"],
        ...authorities(host, values),
        ...data(host, values),
        ...host.mounts.map((mount): Line => ["mount", mount]),
        ["token-file", tokenFile(host)],
        ...file(host, "marker-b64", values.get("MARKER")),
        ...lock(host),
        ["end", ""],
    ];
    return lines.map(([key, value]) => `${key}\t${value}\n`).join("");
};

function machine(host: SimHost): Line[] {
    const { arch = "amd64", cpus = 4, memoryMiB = 8192, diskFreeMiB = 100_000 } = host.options;
    const { cgroup = 2, selinux = "disabled", init = "systemd", clockSkew = 0 } = host.options;
    return [
        ["machine-id", host.machineId],
        ["host-name", host.hostName],
        ...host.addresses.map((address): Line => ["address", address]),
        ...file(host, "os-release-b64", "/etc/os-release"),
        ["arch", MACHINES[arch]],
        ["cpus", cpus],
        ["memory-kib", memoryMiB * 1024],
        ["cgroup", cgroup],
        ["disk-free-kib", diskFreeMiB * 1024],
        ["clock", Math.floor(Date.now() / 1000) + host.world.clockSkew + clockSkew],
        ["selinux", selinux],
        ["init", init],
    ];
}

function unit(host: SimHost, role: "controller" | "worker"): Line[] {
    const found = host.units.get(`k0s${role}`);
    if (found === undefined) return [];
    const { enabled, active, sub, restarts, command } = found;
    return [
        [`unit-${role}`, `${enabled ? "yes" : "no"} ${active} ${sub} ${restarts}`],
        [`unit-${role}-command-b64`, base64(command)],
    ];
}

function status(host: SimHost): Line[] {
    const { daemon } = host.units;
    if (!(daemon instanceof K0sDaemon) || !daemon.statusAnswers) {
        return [["status-silent", "no socket /run/k0s/status.sock"]];
    }
    const { config } = daemon;
    return [
        ["status-role", daemon instanceof ControllerDaemon ? "controller" : "worker"],
        ["status-workloads", String(config.enableWorker)],
        ["status-single-node", String(config.args.includes("--single=true"))],
        ["status-version", config.version],
        ["status-data-dir", config.dataDir],
        ["status-kubelet-root-dir", config.kubeletRootDir],
        ["status-invocation-id", daemon.invocationId],
    ];
}

function binary(host: SimHost, values: Values): Line[] {
    const ofService = host.units.installed?.args[0];
    const path = [values.get("K0S"), ofService].find((one) => one !== undefined && host.files.isExecutable(one));
    if (path === undefined) return [];
    const { daemon } = host.units;
    const told = daemon instanceof K0sDaemon && daemon.statusAnswers && path === ofService;
    const version = versionOfProgram(host.files.read(path)) ?? "";
    return [["binary-path", path], ...(told ? [] : [["binary-version", version] as const])];
}

function authorities(host: SimHost, values: Values): Line[] {
    const dataDir = values.get("DATA_DIR");
    const inKubeconfig = kubeconfigCluster(host, dataDir)?.["certificate-authority-data"];
    return [
        ...file(host, "ca-pki-b64", `${dataDir}/pki/ca.crt`),
        ...(inKubeconfig !== undefined
            ? [["ca-kubelet-b64", inKubeconfig] as const]
            : file(host, "ca-kubelet-b64", "/run/k0s/kubelet/ca.crt")),
    ];
}

function data(host: SimHost, values: Values): Line[] {
    const { files } = host;
    const dataDir = values.get("DATA_DIR");
    const yesNo = (key: string, yes: boolean): Line => [key, yes ? "yes" : "no"];
    const entries = files.list(dataDir);
    const hasConf = files.isFile(`${dataDir}/kubelet.conf`);
    return [
        yesNo("data-dir", files.isDirectory(dataDir)),
        yesNo("pki", files.isDirectory(`${dataDir}/pki`)),
        yesNo("etcd-member", files.isDirectory(`${dataDir}/etcd/member`)),
        yesNo("etcd-database", files.isFile(databasePath(dataDir))),
        ...file(host, "etcd-log-b64", etcdLogPath(dataDir)),
        yesNo("kubelet-conf", hasConf),
        ...(hasConf ? [["api-server", apiServer(host, dataDir)] as const] : []),
        ...(files.isDirectory(dataDir) ? [["data-entries-b64", base64(entries.join("\n"))] as const] : []),
        ...kubeletEntries(host, values.get("KUBELET_ROOT_DIR")),
    ];
}

function kubeletEntries({ files }: SimHost, directory: string): Line[] {
    if (directory === "" || !files.isDirectory(directory)) return [];
    return [["kubelet-entries-b64", base64(files.list(directory).join("\n"))]];
}

function apiServer(host: SimHost, dataDir: string): string {
    const nodeLocal = clusterOf(host, NLLB_KUBECONFIG);
    return (nodeLocal ?? kubeconfigCluster(host, dataDir))?.["server"] ?? "";
}

function kubeconfigCluster(host: SimHost, dataDir: string): Readonly<Record<string, string>> | undefined {
    return clusterOf(host, `${dataDir}/kubelet.conf`);
}

function clusterOf(host: SimHost, kubeconfig: string): Readonly<Record<string, string>> | undefined {
    const text = host.files.text(kubeconfig);
    if (text === undefined) return undefined;
    const config = parse(text) as { clusters?: { cluster?: Record<string, string> }[] } | null;
    return config?.clusters?.[0]?.cluster;
}

function tokenFile(host: SimHost): "absent" | "blank" | "token" {
    const path = host.units.installed?.flag("token-file");
    const texts = [path, "/etc/k0s/k0stoken"].map((one) => (one === undefined ? undefined : host.files.text(one)));
    const found = texts.filter((text) => text !== undefined);
    if (found.length === 0) return "absent";
    return found.some((text) => text.split("\n").some((line) => !/^\s*(#.*)?$/.test(line))) ? "token" : "blank";
}

/** k0sctl's lock; the file's content starts with its age in seconds and a blank. */
function lock({ files }: SimHost): Line[] {
    return LOCK_FILES.flatMap((path): Line[] => {
        const text = files.text(path);
        return text === undefined ? [] : [["k0sctl-lock", text.trim()]];
    });
}

function file({ files }: SimHost, key: string, path: string): Line[] {
    const content = files.read(path);
    return content === undefined ? [] : [[key, content.toString("base64")]];
}

function base64(text: string): string {
    return Buffer.from(text).toString("base64");
}
