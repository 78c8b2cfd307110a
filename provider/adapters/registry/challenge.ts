/** What a registry asks for in `WWW-Authenticate`. */
export type Challenge =
    | { readonly scheme: "basic" }
    /** A token from there, asked for with the service and scope that the registry named. */
    | { readonly scheme: "bearer"; readonly tokenUrl: URL };

/** undefined: no challenge, or one of another kind. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
    const [, scheme = "", rest = ""] = /^\s*(\w+)\s*(.*)$/s.exec(header ?? "") ?? [];
    if (scheme.toLowerCase() === "basic") return { scheme: "basic" };
    if (scheme.toLowerCase() !== "bearer") return undefined;
    const fields = Object.fromEntries(
        [...rest.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, key = "", quoted, bare]) => [
            key.toLowerCase(),
            quoted ?? bare ?? "",
        ]),
    );
    const { realm = "", service, scope } = fields;
    if (!URL.canParse(realm)) return undefined;
    const tokenUrl = new URL(realm);
    if (service !== undefined) tokenUrl.searchParams.set("service", service);
    if (scope !== undefined) tokenUrl.searchParams.set("scope", scope);
    return { scheme: "bearer", tokenUrl };
}

/** Token servers use one of two names for it. */
export function bearerToken(answer: unknown): string | undefined {
    const { token, access_token: accessToken } = (answer ?? {}) as { token?: unknown; access_token?: unknown };
    return [token, accessToken].find((one): one is string => typeof one === "string" && one !== "");
}
