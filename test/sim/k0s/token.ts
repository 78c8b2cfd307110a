import { gunzipSync, gzipSync } from "node:zlib";
import { parse, stringify } from "yaml";
import { httpsUrl, serverOf } from "../model/address";
import { base64 } from "../model/pki";

export type TokenRole = "controller" | "worker";

export interface JoinToken {
    readonly role: TokenRole;
    /** Host and port of the server it names. */
    readonly host: string;
    readonly port: number;
    readonly ca: string;
    readonly id: string;
    readonly secret: string;
}

const USERS = { controller: "controller-bootstrap", worker: "kubelet-bootstrap" } as const;

/** As `k0s token create` prints it: base64 of a gzipped kubeconfig (k0s-interfaces.md 2.5). */
export function encodeToken({ role, host, port, ca, id, secret }: JoinToken): string {
    const text = stringify(
        {
            apiVersion: "v1",
            kind: "Config",
            clusters: [
                {
                    name: "k0s",
                    cluster: { server: httpsUrl(host, port), "certificate-authority-data": base64(ca) },
                },
            ],
            contexts: [{ name: "k0s", context: { cluster: "k0s", user: USERS[role] } }],
            "current-context": "k0s",
            users: [{ name: USERS[role], user: { token: `${id}.${secret}` } }],
        },
        { lineWidth: 0 },
    );
    return gzipSync(text).toString("base64");
}

interface TokenConfig {
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
    readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
}

/** undefined: blank, a comment, or something else that is no token. */
export function decodeToken(text: string | undefined): JoinToken | undefined {
    try {
        const config = parse(gunzipSync(Buffer.from((text ?? "").trim(), "base64")).toString()) as TokenConfig;
        const cluster = config.clusters[0]?.cluster ?? {};
        const { host, port } = serverOf(cluster["server"] ?? "");
        const [id = "", secret = ""] = (config.users[0]?.user.token ?? "").split(".");
        return {
            role: config.users[0]?.name === USERS.controller ? "controller" : "worker",
            host,
            port,
            ca: Buffer.from(cluster["certificate-authority-data"] ?? "", "base64").toString(),
            id,
            secret,
        };
    } catch {
        return undefined;
    }
}
