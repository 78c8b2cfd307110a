import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ControllerDaemon } from "../k0s/controller";
import { tokenServer } from "../k0s/node-config";
import type { TokenRole } from "../k0s/token";
import { EtcdError } from "../model/etcd";
import type { SimHost } from "../model/host";
import { type Program, ProgramFailure } from "./program";
import { K0S_USERS, requireProgram } from "./service";

const UNIT_NAMES = ["k0scontroller", "k0sworker"] as const;
/** On stderr of every reset (`reset-after-leave.txt`). */
const REBOOT_ADVICE = 'level=warning msg="To ensure a full reset, a node reboot is recommended."';
const CNI_FILES = ["10-kuberouter.conflist", "10-calico.conflist", "calico-kubeconfig"];

export const tokenCreate: Program = async (host, values) => {
    requireProgram(host, values.get("K0S"));
    const daemon = await answeringController(host);
    const { cluster, config } = daemon;
    if (cluster === undefined) throw new ProgramFailure("Error: failed to get k0s status");
    const role = values.get("ROLE") as TokenRole;
    return `${cluster.createToken(role, tokenServer(config, role), Number(values.get("EXPIRY")))}\n`;
};

export const tokenInvalidate: Program = async (host, values) => {
    requireProgram(host, values.get("K0S"));
    const { cluster } = await answeringController(host);
    cluster?.invalidateToken(values.get("ID"));
    return `token ${values.get("ID")} deleted successfully\n`;
};

/** An archive that is no k0s backup, only as well kept as one. */
export const backup: Program = async (host, values) => {
    requireProgram(host, values.get("K0S"));
    const daemon = await answeringController(host);
    const directory = values.get("DIRECTORY");
    const keep = Number(values.get("KEEP"));
    const content = gzipSync(JSON.stringify({ members: daemon.cluster?.etcd.members.map(({ name }) => name) }));
    const time = new Date().toISOString().replace(/\.\d+/, "").replace(/[-:]/g, "");
    const name = keep === 0 ? ".outgoing-1" : `${time}-${values.get("NAME")}.tar.gz`;
    host.files.write(`${directory}/${name}`, content, 0o600);
    const kept = host.files.list(directory).filter((one) => one.endsWith(".tar.gz"));
    if (keep > 0) for (const old of kept.slice(0, -keep)) host.files.remove(`${directory}/${old}`);
    const sum = createHash("sha256").update(content).digest("hex");
    const without = values.lines("FILES").filter((path) => !host.files.isFile(path));
    return [
        ...without.map((path) => `without ${path}\n`),
        `archive ${directory}/${name}\nsize ${content.length}\nsha256 ${sum}\n`,
    ].join("");
};

/** First line the exit code of `k0s reset`, then what it said. */
export const reset: Program = (host, values) => {
    try {
        requireProgram(host, values.get("K0S"));
    } catch (error) {
        if (error instanceof ProgramFailure) return `${error.exitCode}\n${error.message}`;
        throw error;
    }
    if (host.units.daemon !== undefined) {
        return "1\nError: another k0s process is still running, please stop k0s before reset";
    }
    resetHost(host, values.get("DATA_DIR"), values.get("KUBELET_ROOT_DIR") || `${values.get("DATA_DIR")}/kubelet`);
    return `0\n${REBOOT_ADVICE}`;
};

export const cleanUp: Program = (host, values) => {
    if (host.units.daemon !== undefined) throw new ProgramFailure("k0s is still running");
    const { files } = host;
    const left = [
        ...cleanDirectory(host, values.get("KUBELET_ROOT_DIR"), values.lines("KUBELET_ENTRIES")),
        ...cleanDirectory(host, values.get("DATA_DIR"), values.lines("DATA_ENTRIES")),
    ];
    resetRest(host);
    for (const path of ["/etc/k0s/k0s.yaml", "/etc/k0s/k0stoken", "/etc/k0s/containerd.toml"]) files.remove(path);
    files.rmdirIfEmpty("/etc/k0s/containerd.d");
    files.rmdirIfEmpty("/etc/k0s");
    for (const path of ["/var/log/containers", "/var/log/pods", "/var/lib/kubelet"]) files.removeTree(path);
    if (values.get("K0S") !== "") files.remove(values.get("K0S"));
    return left.map((line) => `${line}\n`).join("");
};

/** What else lies there is somebody's: the directory stays as it is. */
function cleanDirectory(host: SimHost, directory: string, own: readonly string[]): string[] {
    if (directory === "") return [];
    const foreign = host.files
        .list(directory)
        .filter((name) => !own.includes(name) && !name.startsWith(".pulumi-mke-"));
    if (foreign.length > 0) return [`${directory} (k0s did not put there: ${foreign.join(" ")} )`];
    removeDirectory(host, directory);
    return [];
}

/** What `k0s reset` removes; a mount point stays, empty. */
export function resetHost(host: SimHost, dataDir: string, kubeletRootDir: string): void {
    for (const directory of [kubeletRootDir, dataDir]) removeDirectory(host, directory);
    resetRest(host);
}

function removeDirectory({ files, mounts }: SimHost, directory: string): void {
    if (mounts.includes(directory)) files.removeContent(directory);
    else files.removeTree(directory);
}

function resetRest(host: SimHost): void {
    const { files } = host;
    host.kubeletName = undefined;
    files.removeTree("/run/k0s");
    for (const name of UNIT_NAMES) host.units.remove(name);
    for (const name of CNI_FILES) files.remove(`/etc/cni/net.d/${name}`);
    for (const user of K0S_USERS) host.users.delete(user);
    host.happened("reset");
}

async function answeringController(host: SimHost): Promise<ControllerDaemon> {
    const { daemon } = host.units;
    if (!(daemon instanceof ControllerDaemon) || !daemon.statusAnswers || daemon.member === undefined) {
        throw new ProgramFailure(
            'Error: failed to get k0s status: status: can\'t get "status" via "/run/k0s/status.sock": no such file or directory',
        );
    }
    try {
        if (!daemon.alive) throw new EtcdError(14, "request timed out");
        await daemon.cluster?.etcd.committed(daemon.member.id);
    } catch (error) {
        if (error instanceof EtcdError) throw new ProgramFailure(`Error: ${error.message}`);
        throw error;
    }
    return daemon;
}
