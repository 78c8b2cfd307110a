import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { request as startRequest } from "node:https";
import type { Readable } from "node:stream";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { Deadline } from "../../deadline";
import { ApiError, ConnectionError, messageOf, MkeError } from "../../errors";
import { bearerToken, type Challenge, parseChallenge } from "./challenge";
import type { RegistryLogin } from "./docker-config";

/** How to read from a registry; without a login it is asked anonymously. */
export interface RegistryAccess {
    readonly login: RegistryLogin | undefined;
    /** PEM, trusted beside the authorities that Node knows. */
    readonly ca: string | undefined;
}

export interface Document {
    readonly digest: string;
    readonly content: unknown;
}

const MANIFEST_TYPES = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const MAX_DOCUMENT = 4 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;
/** Names of images that leave the registry out mean Docker Hub, which serves under another name. */
const SERVED_BY: Readonly<Record<string, string>> = { "docker.io": "registry-1.docker.io" };

/**
 * Reads from one registry by the OCI distribution protocol, over HTTPS only. The login stays in this process: redirects to
 * where a registry keeps its blobs are followed without it.
 */
export class Registry {
    private authorization: string | undefined;
    /** Made once: reading all authorities takes a tenth of a second. */
    private readonly trust: SecureContext | undefined;

    constructor(
        readonly name: string,
        private readonly access: RegistryAccess,
        /** For errors. */
        private readonly stage: string,
    ) {
        const { ca } = access;
        this.trust = ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] });
    }

    /** By tag or digest; what comes under a digest is compared with it. */
    async manifest(repository: string, reference: string, deadline: Deadline): Promise<Document> {
        const url = this.url(repository, "manifests", reference);
        const response = await this.get(url, MANIFEST_TYPES, deadline);
        const body = await this.readAll(response, url);
        const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
        if (reference.startsWith("sha256:") && reference !== digest) {
            throw this.failure(url, `the manifest's digest is ${digest}`);
        }
        return { digest, content: this.parsed(body, url) };
    }

    /** The content as it comes; whoever reads it compares it with the digest. */
    async blob(repository: string, digest: string, deadline: Deadline): Promise<Readable> {
        return this.get(this.url(repository, "blobs", digest), "*/*", deadline);
    }

    private url(repository: string, kind: "manifests" | "blobs", reference: string): URL {
        return new URL(`https://${SERVED_BY[this.name] ?? this.name}/v2/${repository}/${kind}/${reference}`);
    }

    private async get(url: URL, accept: string, deadline: Deadline): Promise<IncomingMessage> {
        const send = (): Promise<IncomingMessage> => this.follow(url, accept, deadline);
        let response = await send();
        if (response.statusCode === UNAUTHORIZED && this.authorization === undefined) {
            response.resume();
            await this.authorize(parseChallenge(response.headers["www-authenticate"]), url, deadline);
            response = await send();
        }
        if (response.statusCode !== 200) throw await this.refused(response, url);
        return response;
    }

    private async follow(url: URL, accept: string, deadline: Deadline): Promise<IncomingMessage> {
        let at = url;
        for (let hops = 0; ; hops += 1) {
            const authorization = at.host === url.host ? this.authorization : undefined;
            const response = await this.send(at, { accept, ...(authorization && { authorization }) }, deadline);
            const { location } = response.headers;
            if (!isRedirect(response.statusCode) || location === undefined) return response;
            response.resume();
            at = new URL(location, at);
            if (hops === MAX_REDIRECTS) throw this.failure(url, "it redirects too often");
            if (at.protocol !== "https:") throw this.failure(url, "it redirects to an address without TLS");
        }
    }

    /** By what the registry asks for: the login itself, or a token that its token server gives for it. */
    private async authorize(challenge: Challenge | undefined, url: URL, deadline: Deadline): Promise<void> {
        const { login } = this.access;
        const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
        if (challenge?.scheme === "basic") {
            if (basic === undefined) throw this.needsLogin(url);
            this.authorization = basic;
        } else if (challenge?.scheme === "bearer") {
            const server = challenge.tokenUrl;
            if (server.protocol !== "https:") throw this.failure(url, "its token server has no TLS");
            const headers = { accept: "application/json", ...(basic && { authorization: basic }) };
            const response = await this.send(server, headers, deadline);
            if (response.statusCode !== 200) throw await this.refused(response, server);
            const token = bearerToken(this.parsed(await this.readAll(response, server), server));
            if (token === undefined) throw this.failure(server, "the answer holds no token");
            this.authorization = `Bearer ${token}`;
        } else throw this.failure(url, "it asks for a login of a kind that is not known");
    }

    private send(url: URL, headers: Readonly<Record<string, string>>, deadline: Deadline): Promise<IncomingMessage> {
        const options = {
            headers,
            signal: AbortSignal.timeout(Math.max(1, Math.ceil(deadline.remaining))),
            ...(this.trust && { secureContext: this.trust }),
            // A connection of its own: nothing is left open when the artifact is read.
            agent: false as const,
        };
        return new Promise((resolve, reject) => {
            startRequest(url, options, resolve)
                .once("error", (cause) => reject(this.unreachable(url, cause)))
                .end();
        });
    }

    private async readAll(response: IncomingMessage, url: URL): Promise<Buffer> {
        const chunks: Buffer[] = [];
        let size = 0;
        try {
            for await (const chunk of response) {
                chunks.push(chunk as Buffer);
                size += (chunk as Buffer).length;
                if (size > MAX_DOCUMENT) throw this.failure(url, "the answer is too long");
            }
        } catch (error) {
            throw error instanceof MkeError ? error : this.unreachable(url, error);
        }
        return Buffer.concat(chunks);
    }

    private parsed(body: Buffer, url: URL): unknown {
        try {
            return JSON.parse(body.toString("utf8")) as unknown;
        } catch {
            throw this.failure(url, "the answer is not JSON");
        }
    }

    private async refused(response: IncomingMessage, url: URL): Promise<ApiError> {
        const status = response.statusCode ?? 0;
        const body = await this.readAll(response, url).catch(() => Buffer.alloc(0));
        if (status === UNAUTHORIZED && this.access.login === undefined) return this.needsLogin(url);
        return this.failure(url, `${status} ${reasonIn(body.toString("utf8"))}`.trimEnd(), status);
    }

    private needsLogin(url: URL): ApiError {
        return this.failure(url, "it wants a login, and none was given", UNAUTHORIZED);
    }

    private failure(url: URL, what: string, code?: number): ApiError {
        return new ApiError({
            stage: this.stage,
            host: url.host,
            what: `GET ${url.pathname}: ${what}`,
            code,
            retryable: code === TOO_MANY_REQUESTS || (code ?? 0) >= SERVER_ERROR,
            advice: code === UNAUTHORIZED ? "Give `registry.username` and `registry.password`." : undefined,
        });
    }

    private unreachable(url: URL, cause: unknown): ConnectionError {
        const isTrust = TRUST_ERRORS.test(String((cause as { code?: unknown } | null)?.code));
        return new ConnectionError({
            stage: this.stage,
            host: url.host,
            what: `GET ${url.pathname}: ${messageOf(cause)}`,
            retryable: !isTrust,
            advice: isTrust ? "Give the registry's authority as `registry.caCertificate`." : undefined,
            cause,
        });
    }
}

const TRUST_ERRORS = /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

function isRedirect(status: number | undefined): boolean {
    return status !== undefined && [301, 302, 303, 307, 308].includes(status);
}

/** The first message of the protocol's error document. */
function reasonIn(text: string): string {
    try {
        const { errors } = JSON.parse(text) as { errors?: readonly { code?: unknown; message?: unknown }[] };
        const [first] = errors ?? [];
        if (typeof first?.message === "string") return first.message;
    } catch {
        // not JSON: proxies answer in HTML
    }
    return "";
}
