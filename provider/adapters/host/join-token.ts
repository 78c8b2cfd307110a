import { gunzipSync } from "node:zlib";

/**
 * The id inside a join token (`<id>.<secret>`), by which it is invalidated. The token is base64 of a gzipped kubeconfig
 * (k0s 1.30 – 1.36). Throws Error, without the token in its text.
 */
export function joinTokenId(token: string): string {
    let kubeconfig: string;
    try {
        kubeconfig = gunzipSync(Buffer.from(token, "base64")).toString();
    } catch {
        throw new Error("what k0s printed is not a join token");
    }
    const id = /^\s*token:\s*["']?([a-z0-9]{6})\.[a-z0-9]{16}["']?\s*$/m.exec(kubeconfig)?.[1];
    if (id === undefined) throw new Error("the join token holds no bootstrap token");
    return id;
}
