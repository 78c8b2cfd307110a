import { randomUUID } from "node:crypto";

/**
 * Ownership tokens that a `create` of this process made. A `delete` that meets a newer token on its host leaves the node
 * alone only if that token is one of them: then it is its own replacement that took the machine over (safety.md 6).
 */
const madeHere = new Set<string>();

export function newToken(): string {
    const token = randomUUID();
    madeHere.add(token);
    return token;
}

export function tokensMadeHere(): string[] {
    return [...madeHere];
}
