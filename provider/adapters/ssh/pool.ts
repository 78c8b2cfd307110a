import type { Connection } from "../../inputs";
import { SshPool } from "./endpoint";
import type { Host } from "../host";
import { RootShell } from "../host/root-shell";
import { SshHost } from "../host/ssh-host";

const pool = new SshPool();

/**
 * A host to work on. Nothing is dialled until it is used; all hosts opened with the same address and connection share
 * one SSH connection. There is nothing to close: an unused connection ends by itself after a few seconds.
 */
export function openHost(address: string, connection: Connection): Host {
    const endpoint = pool.endpoint(address, connection);
    return new SshHost(address, endpoint, new RootShell(endpoint, address, connection.user, connection.sudoPassword));
}

/** Ends all SSH connections of this process at once. */
export function closeAll(): void {
    pool.closeAll();
}
