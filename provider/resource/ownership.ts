import { randomUUID } from "node:crypto";
import type { Bag } from "./shape";

/**
 * Ownership tokens that a `create` of this process made, or that Pulumi handed to this process as a resource's own. A `delete`
 * that meets a newer token on its host leaves the node alone only if that token is one of them: then the machine was taken
 * over by its own replacement (safety.md 6), in this update or in one that ended between the two.
 */
const known = new Set<string>();

export function newToken(): string {
    const token = randomUUID();
    known.add(token);
    return token;
}

/** Keeps the token of a resource that is in the state. */
export function rememberToken({ token }: Bag): void {
    if (typeof token === "string") known.add(token);
}

export function tokensOfThisProcess(): string[] {
    return [...known];
}
