/** Rules for passwords and addresses. Each answers what is wrong, or undefined. */
import { isIP } from "node:net";
import { quote } from "./shape";

/** It is given to sudo as a line. */
export function oneLine(value: string): string | undefined {
    if (value === "") return "must not be empty";
    return /[\r\n]/.test(value) ? "must be a single line" : undefined;
}

/** One address, or two: one of each family, the primary one first. */
export function privateAddress(value: string): string | undefined {
    const addresses = value.split(",");
    if (addresses.length === 1) return reachableAddress(value);
    const reason = addresses.map(reachableAddress).find((one) => one !== undefined);
    return (
        reason ?? (isDualStack(value) ? undefined : `must be one address, or one of each family, got ${quote(value)}`)
    );
}

/** `10.0.0.12,fd00::12`, or the other way round. */
export function isDualStack(value: string): boolean {
    const families = value.split(",").map((address) => isIP(address));
    return families.length === 2 && families.includes(4) && families.includes(6);
}

/** Peers and the API server must be able to reach it. */
function reachableAddress(value: string): string | undefined {
    if (isIP(value) === 0) return `must be an IP address, got ${quote(value)}`;
    const isLocal = /^(127\.|0\.0\.0\.0$|::1?$|fe[89ab][0-9a-f]:)/i.test(value);
    return isLocal ? `must be an address that other machines reach, got ${quote(value)}` : undefined;
}
