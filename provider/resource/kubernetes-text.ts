/** Rules for the texts that end up in Kubernetes or in k0s's command line. Each answers what is wrong, or undefined. */
import { isDualStack } from "./login-text";
import { quote } from "./shape";

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const TAINT = /^([^=:]+)(=[^=:]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$/;
const PATH = /^(\/[A-Za-z0-9_.@+-]+)+$/;

/** A reset empties the data directory; these belong to the system whatever is in them. */
const SYSTEM_DIRECTORIES = new Set(
    "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var var/lib var/log usr/local"
        .split(" ")
        .map((name) => `/${name}`),
);

/** Flags that an input of ours, or the work itself, writes. Values: what to say about it. */
const OWN_FLAGS: Readonly<Record<string, string>> = {
    "--token-file": "the token is made and given to k0s by this package",
    "--config": "use the input k0sConfig",
    "-c": "use the input k0sConfig",
    "--data-dir": "use the input dataDir",
    "--kubelet-root-dir": "use the input kubeletRootDir",
    "--enable-worker": "use the input role",
    "--single": "a single node cannot join a cluster",
    "--labels": "use the input labels",
    "--taints": "use the input taints",
    "--force": "an installed service is never overwritten",
    "--start": "the service is started by this package",
};

const OWN_KUBELET_FLAGS: Readonly<Record<string, string>> = {
    "--hostname-override": "use the input nodeName",
    "--node-ip": "use the input privateAddress",
    "--node-labels": "use the input labels",
    "--register-with-taints": "use the input taints",
};

/** The kubelet sets these on its Node again and again. */
const KUBELET_LABELS = new Set(["kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"]);

export function labelKey(key: string): string | undefined {
    if (KUBELET_LABELS.has(key)) return `holds ${key}, which the kubelet sets itself`;
    return isQualifiedName(key) ? undefined : `holds ${quote(key)}, which is not a label key ([prefix/]name)`;
}

export function labelValue(value: string): string | undefined {
    const fine = value === "" || (value.length <= 63 && NAME.test(value));
    return fine ? undefined : "must be a label value: at most 63 letters, digits, -, _ and .";
}

export function taint(value: string): string | undefined {
    const [, key = "", assigned = ""] = TAINT.exec(value) ?? [];
    const fine = isQualifiedName(key) && labelValue(assigned.slice(1)) === undefined;
    return fine ? undefined : `must be key=value:Effect or key:Effect (${EFFECTS}), got ${quote(value)}`;
}

const EFFECTS = "NoSchedule, PreferNoSchedule or NoExecute";

/** Names the flag only: a value may be secret. */
export function installFlag(value: string): string | undefined {
    const flag = /^--?[A-Za-z][A-Za-z0-9-]*(?==|$)/.exec(value)?.[0];
    if (flag === undefined) return "must be one flag of k0s install in one text: --name or --name=value";
    if (/[\0\r\n]/.test(value)) return `${flag}: must be a single line`;
    const own = OWN_FLAGS[flag];
    if (own !== undefined) return `${flag} cannot be set here: ${own}`;
    return flag === "--kubelet-extra-args" ? kubeletFlags(value) : undefined;
}

/** k0s splits them at spaces and takes quotes for a part of a value (k0s 1.36.3, flags.go). */
function kubeletFlags(value: string): string | undefined {
    const words = value.slice(value.indexOf("=") + 1).split(/\s+/);
    if (words.some((word) => /(^|=)["']|["']$/.test(word)))
        return "--kubelet-extra-args: must hold no quotes, which k0s would hand on as a part of the value";
    // privateAddress takes both addresses as well; this is how people have them in their files.
    const isFine = (flag: string): boolean =>
        flag === "--node-ip" && isDualStack(/--node-ip=(?<both>\S+)/.exec(value)?.groups?.["both"] ?? "");
    const own = Object.keys(OWN_KUBELET_FLAGS).find(
        (flag) => new RegExp(`[\\s=]${flag}(=|\\s|$)`).test(value) && !isFine(flag),
    );
    return own === undefined ? undefined : `${own} cannot be set in --kubelet-extra-args: ${OWN_KUBELET_FLAGS[own]}`;
}

export function directory(value: string): string | undefined {
    const reason = filePath(value);
    if (reason !== undefined) return reason;
    return SYSTEM_DIRECTORIES.has(value) ? `must not be ${value}: a reset empties this directory` : undefined;
}

export function filePath(value: string): string | undefined {
    if (PATH.test(value) && !/\/\.\.?(\/|$)/.test(value)) return undefined;
    return `must be an absolute path without spaces, "..", or a slash at the end, got ${quote(value)}`;
}

function isQualifiedName(key: string): boolean {
    const [name = "", prefix, ...more] = key.split("/").reverse();
    if (more.length > 0 || name.length > 63 || !NAME.test(name)) return false;
    return prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix));
}
