import { isIP } from "node:net";
import { parseAllDocuments, stringify } from "yaml";
import { httpsUrl } from "../model/address";
import type { SimHost } from "../model/host";
import type { Unit } from "../model/units";
import { versionOfProgram } from "../model/k0s-program";

/** Anything may be null in it. */
export interface RawConfig {
    readonly spec?: {
        readonly api?: {
            readonly address?: string;
            readonly externalAddress?: string;
            readonly port?: number;
            readonly k0sApiPort?: number;
            readonly onlyBindToAddress?: boolean;
            readonly extraArgs?: Readonly<Record<string, string>> | null;
        } | null;
        readonly storage?: { readonly type?: string; readonly etcd?: { readonly peerAddress?: string } | null } | null;
        readonly network?: {
            readonly podCIDR?: string;
            readonly nodeLocalLoadBalancing?: { readonly enabled?: boolean } | null;
            readonly controlPlaneLoadBalancing?: CplbConfig | null;
        } | null;
    } | null;
}

export interface CplbConfig {
    readonly enabled?: boolean;
    readonly keepalived?: {
        readonly configTemplateVRRP?: string;
        readonly configTemplateVS?: string;
        readonly vrrpInstances?: readonly {
            readonly unicastSourceIP?: string;
            readonly unicastPeers?: readonly string[];
        }[];
    };
}

/** What a k0s daemon takes from its arguments and its k0s.yaml. */
export interface NodeConfig {
    readonly version: string;
    readonly dataDir: string;
    readonly kubeletRootDir: string;
    readonly configPath: string;
    readonly apiAddress: string;
    readonly apiPort: number;
    /** Of the API that controllers join through. */
    readonly joinPort: number;
    /** The one address that its API servers listen on; undefined: on all (api.go, 1.36.3). */
    readonly boundTo: string | undefined;
    /** What k0s itself asks, and admin.conf names. */
    readonly localApi: string;
    readonly externalAddress: string | undefined;
    readonly peerAddress: string;
    readonly nodeName: string;
    readonly nodeAddress: string;
    readonly tokenFile: string | undefined;
    readonly enableWorker: boolean;
    readonly noTaints: boolean;
    readonly labels: Readonly<Record<string, string>>;
    readonly taints: readonly string[];
    readonly ignorePreflight: boolean;
    readonly raw: RawConfig;
    /** With which it was started. */
    readonly args: readonly string[];
}

export function nodeConfigOf(unit: Unit): NodeConfig {
    const { host, args } = unit;
    const value = (name: string): string | undefined => unit.flag(name);
    const isSet = (name: string): boolean => value(name) === "true";
    const configPath = value("config") ?? "/etc/k0s/k0s.yaml";
    const dataDir = value("data-dir") ?? "/var/lib/k0s";
    const raw = readConfig(host, configPath);
    const apiAddress = raw.spec?.api?.address ?? host.address;
    const { port: apiPort = 6443, onlyBindToAddress } = raw.spec?.api ?? {};
    const kubelet = value("kubelet-extra-args") ?? "";
    return {
        version: versionOfProgram(host.files.read(args[0] ?? "")) ?? "v0.0.0",
        dataDir,
        kubeletRootDir: value("kubelet-root-dir") ?? `${dataDir}/kubelet`,
        configPath,
        apiAddress,
        apiPort,
        joinPort: raw.spec?.api?.k0sApiPort ?? 9443,
        boundTo: boundTo(raw, apiAddress),
        localApi: httpsUrl(onlyBindToAddress === true ? apiAddress : "localhost", apiPort),
        externalAddress: raw.spec?.api?.externalAddress,
        peerAddress: raw.spec?.storage?.etcd?.peerAddress ?? host.address,
        nodeName: (/--hostname-override[= ](\S+)/.exec(kubelet)?.[1] ?? host.hostName).trim().toLowerCase(),
        nodeAddress: /--node-ip[= ](\S+)/.exec(kubelet)?.[1] ?? host.address,
        tokenFile: value("token-file"),
        enableWorker: isSet("enable-worker") || args[1] === "worker",
        noTaints: isSet("no-taints"),
        labels: Object.fromEntries(list(value("labels")).map((pair) => pair.split("=") as [string, string])),
        taints: list(value("taints")),
        ignorePreflight: isSet("ignore-pre-flight-checks"),
        raw,
        args,
    };
}

/** `/run/k0s/k0s.yaml`, as it lies there while k0s runs. */
export function runtimeConfig(config: NodeConfig, invocationId: string): string {
    const { apiAddress, apiPort, externalAddress, peerAddress, dataDir, configPath } = config;
    return stringify({
        apiVersion: "k0s.k0sproject.io/v1beta1",
        kind: "RuntimeConfig",
        spec: {
            nodeConfig: {
                apiVersion: "k0s.k0sproject.io/v1beta1",
                kind: "ClusterConfig",
                metadata: { name: "k0s", namespace: "kube-system" },
                spec: {
                    ...config.raw.spec,
                    api: {
                        ...config.raw.spec?.api,
                        address: apiAddress,
                        port: apiPort,
                        k0sApiPort: config.joinPort,
                        ...(externalAddress !== undefined && { externalAddress }),
                    },
                    storage: storageOf(config.raw, peerAddress),
                },
            },
            k0sVars: {
                InvocationID: invocationId,
                DataDir: dataDir,
                KubeletRootDir: config.kubeletRootDir,
                StartupConfigPath: configPath,
                RuntimeConfigPath: "/run/k0s/k0s.yaml",
                StatusSocketPath: "/run/k0s/status.sock",
            },
        },
    });
}

function storageOf({ spec }: RawConfig, peerAddress: string): object {
    const { type = "etcd", etcd, ...others } = spec?.storage ?? {};
    return type === "etcd" ? { type, etcd: { ...etcd, peerAddress } } : { type, ...others };
}

/** Host and port that its tokens name (k0s 1.36.3, api.go): an external address may bring its port, for both kinds of nodes. */
export function tokenServer(
    { externalAddress, apiAddress, apiPort, joinPort }: NodeConfig,
    role: "controller" | "worker",
): { readonly host: string; readonly port: number } {
    const port = role === "worker" ? apiPort : joinPort;
    if (externalAddress === undefined) return { host: apiAddress, port };
    if (isIP(externalAddress) !== 0) return { host: externalAddress, port };
    const url = new URL(`https://${externalAddress}`);
    return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? port : Number(url.port) };
}

function boundTo({ spec }: RawConfig, apiAddress: string): string | undefined {
    const { onlyBindToAddress, extraArgs } = spec?.api ?? {};
    const bound = extraArgs?.["bind-address"] ?? (onlyBindToAddress === true ? apiAddress : undefined);
    return bound === "0.0.0.0" || bound === "::" ? undefined : bound;
}

/** Its first document, as YAML 1.1. Throws Error on what is not YAML. */
export function readConfig(host: SimHost, path: string): RawConfig {
    const documents = parseAllDocuments(host.files.text(path) ?? "", { version: "1.1" });
    const [first] = Array.isArray(documents) ? documents : [];
    if (first !== undefined && first.errors.length > 0) throw first.errors[0] ?? new Error("not YAML");
    return (first?.toJS() as RawConfig | null | undefined) ?? {};
}

/** What k0s says of a configuration that it does not start with (k0s 1.36.3: network.go, cplb.go, cplb_linux.go); undefined: it does. */
export function configProblem(host: SimHost, { raw: { spec }, args }: NodeConfig): string | undefined {
    const podCidr = spec?.network?.podCIDR ?? "";
    if (podCidr.includes(":") && !args.some((arg) => /^--feature-gates=(.*,)?IPv6SingleStack=true(,|$)/.test(arg))) {
        const why = "feature gate IPv6SingleStack must be explicitly enabled to use IPv6 single stack";
        return `spec: network: podCIDR: Invalid value: "${podCidr}": ${why}`;
    }
    const { enabled, keepalived } = spec?.network?.controlPlaneLoadBalancing ?? {};
    if (enabled !== true) return undefined;
    for (const { unicastSourceIP, unicastPeers = [] } of keepalived?.vrrpInstances ?? []) {
        if (unicastSourceIP !== undefined && unicastPeers.includes(unicastSourceIP)) {
            return `UnicastPeers must not contain the UnicastSourceIP. Got: ${unicastSourceIP}`;
        }
    }
    const templates = [keepalived?.configTemplateVRRP, keepalived?.configTemplateVS];
    const missing = templates.find((path) => path !== undefined && !host.files.isFile(path));
    return missing === undefined ? undefined : `failed to parse keepalived template: open ${missing}: no such file`;
}

function list(text: string | undefined): string[] {
    return (text ?? "").split(",").filter((part) => part !== "");
}
