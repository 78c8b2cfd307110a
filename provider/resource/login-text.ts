/** Rules for passwords and addresses. Each answers what is wrong, or undefined. */
import { isIP } from "node:net";
import { quote } from "./shape";

/** It is given to sudo as a line. */
export function oneLine(value: string): string | undefined {
    if (value === "") return "must not be empty";
    return /[\r\n]/.test(value) ? "must be a single line" : undefined;
}

/** Peers and the API server must be able to reach it. */
export function privateAddress(value: string): string | undefined {
    if (isIP(value) === 0) return `must be an IP address, got ${quote(value)}`;
    const isLocal = /^(127\.|0\.0\.0\.0$|::1?$|fe[89ab][0-9a-f]:)/i.test(value);
    return isLocal ? `must be an address that other machines reach, got ${quote(value)}` : undefined;
}
