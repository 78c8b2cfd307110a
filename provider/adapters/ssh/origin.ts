import { isIP } from "node:net";
import { OtherMachineError } from "../../errors";
import type { HostKey } from "./host-key";

/** Where a connection ended: what the later ones of its operation must end at, too (safety.md 4). */
export interface Origin {
    /** IP address; the name itself where a bastion resolves it, so that the host key alone tells. */
    readonly address: string;
    readonly hostKey: HostKey;
}

/** `reached`: the address of the TCP connection; undefined where it was not ours. */
export function originOf(host: string, reached: string | undefined, hostKey: HostKey): Origin {
    return { address: reached === undefined || isIP(host) !== 0 ? host : reached, hostKey };
}

export function originKey({ address, hostKey: { fingerprint } }: Origin): string {
    return `${address} ${fingerprint}`;
}

/** `shown`: the keys that are shown there by now, in words. */
export function movedAway(host: string, { address, hostKey }: Origin, shown: string): OtherMachineError {
    return new OtherMachineError({
        stage: "connecting",
        host,
        what:
            `another machine answers${address === host ? "" : ` at ${address}`}: when this operation began, the host key was ` +
            `${hostKey.type} ${hostKey.fingerprint}, and now it is ${shown}`,
        advice:
            "Nothing was done on it. The address leads elsewhere than when the operation began, or the machine was given another " +
            "host key meanwhile. Find out who answers there, then run again: everything is looked at afresh.",
        topic: "other-machine",
    });
}
