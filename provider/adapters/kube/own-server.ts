import type { Deadline } from "../../deadline";
import type { HostView } from "../host";
import { rawArgsIn } from "../k0s/raw-args";
import { parseK0sYaml } from "../k0s/yaml";
import { isTree, treeOf } from "../tree";

/** An API server, as seen from the host that it is asked from. */
export interface Server {
    readonly host: string;
    readonly port: number;
}

/** Written by k0s while it runs; root only (observed.md). */
export const RUNTIME_CONFIG = "/run/k0s/k0s.yaml";

const LOOPBACK = "127.0.0.1";
const EVERYWHERE = new Set(["0.0.0.0", "::", "localhost"]);
/** k0s's, where neither file says it. */
const DEFAULT_PORT = 6443;

/**
 * Where a controller's API server is asked from its own host: by loopback, unless it is bound to one address. `nodeConfig` is the
 * configuration in force (`spec.nodeConfig` of `/run/k0s/k0s.yaml`), `admin` the server in admin.conf: k0s writes the address
 * there only with `onlyBindToAddress` (api.go, 1.36.3), so an address among kube-apiserver's arguments wins.
 */
export function ownServer(nodeConfig: unknown, admin: Server | undefined): Server {
    const { address, port, onlyBindToAddress, extraArgs, rawArgs } = treeOf(treeOf(treeOf(nodeConfig)["spec"])["api"]);
    const own = onlyBindToAddress === true && typeof address === "string" ? address : undefined;
    const bound = boundByArguments(extraArgs, rawArgs) ?? own ?? admin?.host ?? LOOPBACK;
    return {
        host: EVERYWHERE.has(bound) ? LOOPBACK : bound,
        port: typeof port === "number" ? port : (admin?.port ?? DEFAULT_PORT),
    };
}

/** The configuration that k0s runs with on a controller; undefined: it does not run, or says nothing that can be read. */
export async function nodeConfigInForce(host: HostView, deadline: Deadline): Promise<unknown> {
    const content = await host.readFile(RUNTIME_CONFIG, deadline);
    try {
        return treeOf(treeOf(parseK0sYaml(content?.toString("utf8") ?? ""))["spec"])["nodeConfig"];
    } catch {
        return undefined;
    }
}

/** k0s appends the raw arguments to the others, and the last one counts. */
function boundByArguments(extraArgs: unknown, rawArgs: unknown): string | undefined {
    const extra = isTree(extraArgs) ? extraArgs["bind-address"] : undefined;
    const raw = rawArgsIn(rawArgs).filter(({ name }) => name === "bind-address");
    return raw.at(-1)?.value ?? (typeof extra === "string" && extra !== "" ? extra : undefined);
}

/** `https://localhost:6443`, `https://[fd00::11]:6443`. undefined: no such URL. */
export function serverOfUrl(url: string | undefined): Server | undefined {
    if (url === undefined || !URL.canParse(url)) return undefined;
    const { hostname, port } = new URL(url);
    return port === "" ? undefined : { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) };
}
