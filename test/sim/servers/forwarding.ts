import type { Connection } from "ssh2";
import type { SimHost } from "../model/host";
import type { World } from "../model/world";
import { TIMING } from "../timing";

/** RFC 4254 5.1. */
const PROHIBITED = 1;
const CONNECT_FAILED = 2;

interface Protocol {
    channelOpenFail(sender: number, reason: number, text: string): void;
}

/** Opens forwarded connections where the simulated network leads them. `from` undefined: the bastion, outside. */
export function serveForwards(connection: Connection, world: World, from: SimHost | undefined): void {
    const refuse = explained(connection);
    connection.on("tcpip", (accept, reject, { destIP, destPort }) => {
        if (from?.forbidsForwarding === true) return refuse(reject, PROHIBITED, "open failed");
        const route = world.act(() => world.network.route(from, destIP, destPort));
        if (route.verdict === "open") return route.accept(accept());
        if (route.verdict === "refused") return refuse(reject, CONNECT_FAILED, "Connection refused");
        world.clock.after(TIMING.tcpConnect, () => refuse(reject, CONNECT_FAILED, "Connection timed out"));
    });
}

/**
 * ssh2's server refuses a channel without a word, and always for one reason. OpenSSH says why: with `CONNECT_FAILED` the text of the error, and
 * "open failed" where it may not forward (serverloop.c, channels.c).
 */
function explained(connection: Connection): (reject: () => void, reason: number, text: string) => void {
    const protocol = (connection as unknown as { readonly _protocol: Protocol })._protocol;
    const send = protocol.channelOpenFail.bind(protocol);
    let said: readonly [reason: number, text: string] | undefined;
    protocol.channelOpenFail = (sender, code, text) => send(sender, ...(said ?? ([code, text] as const)));
    return (reject, reason, text) => {
        said = [reason, text];
        reject();
        said = undefined;
    };
}
