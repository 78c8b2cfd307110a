import type { Connection } from "ssh2";
import type { SimHost } from "../model/host";
import type { World } from "../model/world";
import { TIMING } from "../timing";

interface Protocol {
    channelOpenFail(sender: number, reason: number, text: string): void;
}

/** Opens forwarded connections where the simulated network leads them. `from` undefined: the bastion, outside. */
export function serveForwards(connection: Connection, world: World, from: SimHost | undefined): void {
    const refuse = explained(connection);
    connection.on("tcpip", (accept, reject, { destIP, destPort }) => {
        const route = world.act(() => world.network.route(from, destIP, destPort));
        if (route.verdict === "open") return route.accept(accept());
        if (route.verdict === "refused") return refuse(reject, "Connection refused");
        world.clock.after(TIMING.tcpConnect, () => refuse(reject, "Connection timed out"));
    });
}

/** ssh2's server refuses a channel without a word; clients tell refused and timed out apart by sshd's text. */
function explained(connection: Connection): (reject: () => void, text: string) => void {
    const protocol = (connection as unknown as { readonly _protocol: Protocol })._protocol;
    const send = protocol.channelOpenFail.bind(protocol);
    let reason = "";
    protocol.channelOpenFail = (sender, code, _text) => send(sender, code, reason);
    return (reject, text) => {
        reason = text;
        reject();
        reason = "";
    };
}
