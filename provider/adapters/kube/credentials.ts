import { parse } from "yaml";
import { ConnectionError } from "../../errors";
import type { Deadline } from "../../deadline";
import type { HostView } from "../host";
import { type Server, serverOfUrl } from "./own-server";

/** PEM. The key is all-powerful in its cluster: kept in memory only, never logged. */
export interface KubeCredentials {
    readonly ca: string;
    readonly cert: string;
    readonly key: string;
}

/** Those of a controller, with what its admin.conf says besides. */
export interface AdminConf extends KubeCredentials {
    /** Its own API server, as k0s itself asks it; undefined: admin.conf names none. */
    readonly server: Server | undefined;
}

interface Kubeconfig {
    readonly clusters?: readonly {
        readonly cluster?: { readonly server?: string; readonly "certificate-authority-data"?: string };
    }[];
    readonly users?: readonly {
        readonly user?: { readonly "client-certificate-data"?: string; readonly "client-key-data"?: string };
    }[];
}

/** Reads the admin's credentials of a controller, from `<data-dir>/pki/admin.conf`. */
export async function readKubeCredentials(host: HostView, dataDir: string, deadline: Deadline): Promise<AdminConf> {
    const path = `${dataDir}/pki/admin.conf`;
    const content = await host.readFile(path, deadline);
    const credentials = content === undefined ? undefined : parseAdminConf(content.toString("utf8"));
    if (credentials !== undefined) return credentials;
    throw new ConnectionError({
        stage: "reading the API credentials",
        host: host.address,
        what: content === undefined ? `${path} does not exist` : `${path} holds no CA, client certificate and key`,
        advice: "k0s writes it when a controller starts: is this host a controller of the cluster?",
        retryable: content === undefined,
    });
}

/** undefined: not a kubeconfig with an embedded CA, client certificate and key. */
export function parseAdminConf(text: string): AdminConf | undefined {
    const config = parseQuietly(text);
    const cluster = config?.clusters?.[0]?.cluster;
    const ca = cluster?.["certificate-authority-data"];
    const user = config?.users?.[0]?.user;
    const cert = user?.["client-certificate-data"];
    const key = user?.["client-key-data"];
    if (!ca || !cert || !key) return undefined;
    return { ca: fromBase64(ca), cert: fromBase64(cert), key: fromBase64(key), server: serverOfUrl(cluster.server) };
}

/** The parser's own message would quote the file, and the file holds a key. */
function parseQuietly(text: string): Kubeconfig | undefined {
    try {
        return parse(text) as Kubeconfig | undefined;
    } catch {
        return undefined;
    }
}

function fromBase64(text: string): string {
    return Buffer.from(text, "base64").toString("utf8");
}
