import type { Connection } from "../../inputs";
import { SshPool } from "./endpoint";
import type { HostView } from "../host";
import { RootShell } from "../host/root-shell";
import { UnboundSshHost } from "../host/ssh-host";

const pool = new SshPool();

/**
 * A host for one operation. Nothing is dialled until it is used; all hosts opened with the same address and connection share
 * one SSH connection to a machine. The first machine that answers is the only one that it talks to, whatever the address leads
 * to later. There is nothing to close: an unused connection ends by itself after a few seconds.
 */
export function openHost(address: string, connection: Connection): HostView {
    const endpoint = pool.endpoint(address, connection);
    return new UnboundSshHost(
        address,
        endpoint,
        new RootShell(endpoint, address, connection.user, connection.sudoPassword),
    );
}

/** Ends all SSH connections of this process at once. */
export function closeAll(): void {
    pool.closeAll();
}
