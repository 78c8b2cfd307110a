import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, request as startRequest, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createPrivateKey, sign, X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Leaf, TestCa } from "./pki";
import { findProgram, freePort, RunningProgram, temporaryFolder } from "./program";
import type { PushedManifest } from "./registry-content";

export const REPOSITORY = "mke/k0s";
export const LOGIN = { username: "reader", password: "pass:with-colon" } as const;
/** The password, by bcrypt. */
const HTPASSWD = "$2b$05$abcdefghijklmnopqrstuu.Dr4y/2CN3KiBWHqs3FcTCBIMqAG95i";
const SERVICE = "test-registry";
const START_LIMIT = 30_000;

/** How a registry wants its readers to log in. */
export type RegistryAuth = "none" | "basic" | "token";

/** A registry on loopback, with TLS of its own authority. */
export interface TestRegistry {
    /** `127.0.0.1:port`. */
    readonly name: string;
    readonly ca: string;
    /** Lines `GET /v2/…` with the kind of authorization that came with each, where the registry is ours. */
    readonly requests: string[];
    push(tag: string, manifest: PushedManifest): Promise<void>;
    close(): Promise<void>;
}

const registryProgram = findProgram("registry");

/** The part of the distribution protocol that reading needs, with blobs kept at another address as cloud registries do. */
export async function fakeRegistry(auth: RegistryAuth): Promise<TestRegistry> {
    const ca = await TestCa.create("registry-ca");
    const leaf = await ca.issue("CN=registry", ["127.0.0.1"]);
    const content = new Map<string, { readonly type: string; readonly body: Buffer }>();
    const requests: string[] = [];
    const storage = await serve(leaf, (request, response) => {
        requests.push(`storage ${kindOf(request)}`);
        const found = content.get(request.url ?? "");
        response.writeHead(found === undefined ? 404 : 200).end(found?.body);
    });
    const tokens = auth === "token" ? await tokenServer(leaf, () => "the-token") : undefined;
    const registry = await serve(leaf, (request, response) => {
        const path = request.url ?? "";
        requests.push(`${path} ${kindOf(request)}`);
        const wanted = { none: undefined, basic: basicOf(LOGIN), token: "Bearer the-token" }[auth];
        if (wanted !== undefined && request.headers.authorization !== wanted) {
            response.setHeader("www-authenticate", challenge(auth, tokens?.realm));
            return answer(response, 401, {
                errors: [{ code: "UNAUTHORIZED", message: "authentication required" }],
            });
        }
        const found = content.get(path);
        if (found === undefined) {
            answer(response, 404, { errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] });
            return;
        }
        if (path.includes("/blobs/")) response.writeHead(307, { location: `https://${storage.name}${path}` }).end();
        else response.writeHead(200, { "content-type": found.type }).end(found.body);
    });
    const keep = (kind: string, reference: string, type: string, body: Buffer): void =>
        void content.set(`/v2/${REPOSITORY}/${kind}/${reference}`, { type, body });
    const push = (tag: string, { digest, mediaType, content: body, blobs, manifests }: PushedManifest): void => {
        for (const one of manifests) push(one.digest, one);
        for (const one of blobs) keep("blobs", one.digest, "application/octet-stream", one.content);
        for (const reference of [tag, digest]) keep("manifests", reference, mediaType, body);
    };
    return {
        name: registry.name,
        ca: ca.cert,
        requests,
        push: async (tag, manifest) => push(tag, manifest),
        close: async () => {
            for (const one of [registry, storage, tokens]) await one?.close();
        },
    };
}

/** Docker's own registry. */
export async function realRegistry(auth: RegistryAuth): Promise<TestRegistry> {
    const ca = await TestCa.create("registry-ca");
    const leaf = await ca.issue("CN=registry", ["127.0.0.1"]);
    const signer = await ca.issue("CN=token-signer");
    const folder = temporaryFolder("registry");
    const write = (name: string, text: string): string => {
        writeFileSync(join(folder.path, name), text, { mode: 0o600 });
        return join(folder.path, name);
    };
    const port = await freePort();
    const tokens = auth === "token" ? await tokenServer(leaf, (scope) => signedToken(signer, scope)) : undefined;
    const config = {
        version: 0.1,
        log: { level: "error" },
        storage: { filesystem: { rootdirectory: join(folder.path, "data") } },
        http: {
            addr: `127.0.0.1:${port}`,
            secret: "test",
            tls: { certificate: write("tls.crt", leaf.cert), key: write("tls.key", leaf.key) },
        },
        ...(auth === "basic" && {
            auth: { htpasswd: { realm: "test", path: write("htpasswd", `${LOGIN.username}:${HTPASSWD}\n`) } },
        }),
        ...(tokens && {
            auth: {
                token: {
                    realm: tokens.realm,
                    service: SERVICE,
                    issuer: SERVICE,
                    rootcertbundle: write("signers.crt", ca.cert),
                },
            },
        }),
    };
    const program = new RunningProgram(registryProgram ?? "registry", [
        "serve",
        write("config.yml", stringify(config)),
    ]);
    const name = `127.0.0.1:${port}`;
    const authorization =
        auth === "basic"
            ? basicOf(LOGIN)
            : auth === "token"
              ? `Bearer ${signedToken(signer, `repository:${REPOSITORY}:pull,push`)}`
              : undefined;
    const send = async (method: string, url: string, type: string, body?: Buffer): Promise<string> => {
        const headers = { "content-type": type, ...(authorization !== undefined && { authorization }) };
        const { status, location } = await exchange(
            new URL(url, `https://${name}`),
            { method, headers, ca: ca.cert },
            body,
        );
        if (status > 299) throw new Error(`${method} ${url}: ${status}`);
        return location;
    };
    const push = async (tag: string, { mediaType, content, blobs, manifests }: PushedManifest): Promise<void> => {
        for (const one of manifests) await push(one.digest, one);
        for (const one of blobs) {
            const upload = new URL(
                await send("POST", `/v2/${REPOSITORY}/blobs/uploads/`, "text/plain"),
                `https://${name}`,
            );
            upload.searchParams.set("digest", one.digest);
            await send("PUT", upload.href, "application/octet-stream", one.content);
        }
        await send("PUT", `/v2/${REPOSITORY}/manifests/${tag}`, mediaType, content);
    };
    const close = async (): Promise<void> => {
        await program.stop();
        await tokens?.close();
        folder.remove();
    };
    try {
        const answers = (): Promise<boolean> =>
            exchange(new URL(`https://${name}/v2/`), { method: "GET", headers: {}, ca: ca.cert }).then(() => true);
        await program.until(answers, START_LIMIT);
    } catch (error) {
        await close();
        throw error;
    }
    return { name, ca: ca.cert, requests: [], push, close };
}

interface Serving {
    readonly name: string;
    close(): Promise<void>;
}

async function serve(
    { cert, key }: Leaf,
    handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Serving> {
    const server: Server = createServer({ cert, key }, handle);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    return {
        name: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () => {
            server.closeAllConnections();
            return new Promise((resolve) => server.close(() => resolve()));
        },
    };
}

/** Gives a token for the login, and only for it. */
async function tokenServer(
    leaf: Leaf,
    issue: (scope: string) => string,
): Promise<Serving & { readonly realm: string }> {
    const server = await serve(leaf, (request, response) => {
        const query = new URL(request.url ?? "/", "https://localhost").searchParams;
        const isReader = request.headers.authorization === basicOf(LOGIN) && query.get("service") === SERVICE;
        if (isReader) answer(response, 200, { token: issue(query.get("scope") ?? "") });
        else answer(response, 401, { errors: [{ code: "UNAUTHORIZED", message: "incorrect username or password" }] });
    });
    return { ...server, realm: `https://${server.name}/token` };
}

/** As the distribution project's token specification has it: ES256, with the signer's certificate. */
function signedToken({ cert, key }: Leaf, scope: string): string {
    const [type = "", name = "", actions = ""] = scope.split(":");
    const now = Math.floor(Date.now() / 1000);
    const claims = {
        ...{
            iss: SERVICE,
            aud: SERVICE,
            sub: LOGIN.username,
            jti: String(now),
            iat: now,
            nbf: now - 60,
            exp: now + 600,
        },
        access: [{ type, name, actions: actions.split(",") }],
    };
    const header = { typ: "JWT", alg: "ES256", x5c: [new X509Certificate(cert).raw.toString("base64")] };
    const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = sign("sha256", Buffer.from(text), { key: createPrivateKey(key), dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
}

function challenge(auth: RegistryAuth, realm = ""): string {
    if (auth === "basic") return 'Basic realm="test"';
    return `Bearer realm="${realm}",service="${SERVICE}",scope="repository:${REPOSITORY}:pull"`;
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
    return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function kindOf({ headers: { authorization } }: IncomingMessage): string {
    return authorization?.split(" ")[0] ?? "anonymous";
}

function answer(response: ServerResponse, status: number, content: object): void {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
}

function exchange(
    url: URL,
    { ca, method, headers }: { readonly ca: string; readonly method: string; readonly headers: Record<string, string> },
    body?: Buffer,
): Promise<{ readonly status: number; readonly location: string }> {
    return new Promise((resolve, reject) => {
        startRequest(url, { ca, method, headers, agent: false }, (response) => {
            response.resume();
            response.once("end", () =>
                resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? "" }),
            );
        })
            .once("error", reject)
            .end(body);
    });
}
