import net from "node:net";

export interface Balancer {
    close(): Promise<void>;
}

export interface Endpoint {
    readonly host: string;
    readonly port: number;
}

/** How long a backend may take to accept a connection before the next one is tried. */
const connectTimeoutMs = 2000;

function connect(backend: Endpoint): Promise<net.Socket> {
    return new Promise((resolve, reject) => {
        const socket = net.connect({ host: backend.host, port: backend.port, allowHalfOpen: true });
        const timer = setTimeout(() => {
            socket.destroy(new Error(`${backend.host}:${backend.port} did not answer in ${connectTimeoutMs} ms`));
        }, connectTimeoutMs);
        socket.once("connect", () => {
            clearTimeout(timer);
            socket.removeAllListeners("error");
            resolve(socket);
        });
        socket.once("error", (error) => {
            clearTimeout(timer);
            reject(error);
        });
    });
}

/** Passes on what `from` sends, its end, and (after all of that) its breaking. */
function join(from: net.Socket, to: net.Socket): void {
    from.on("error", () => from.destroy());
    from.once("close", () => {
        if (!from.readableEnded) {
            to.destroy();
        }
    });
    from.pipe(to);
}

/**
 * A TCP balancer for the lab: each new connection goes to the next backend in turn that accepts it. `backends` is asked
 * anew for every connection, so that a test may add and remove controllers while it runs.
 */
export async function startBalancer(listen: Endpoint, backends: () => readonly Endpoint[]): Promise<Balancer> {
    const open = new Set<net.Socket>();
    let turn = 0;

    const track = (socket: net.Socket): void => {
        open.add(socket);
        socket.once("close", () => open.delete(socket));
    };

    const serve = async (client: net.Socket): Promise<void> => {
        track(client);
        client.on("error", () => client.destroy());
        const candidates = backends();
        const first = turn++;
        for (let i = 0; i < candidates.length && !client.destroyed; i++) {
            const candidate = candidates[(first + i) % candidates.length];
            if (candidate === undefined) {
                continue;
            }
            let server: net.Socket;
            try {
                server = await connect(candidate);
            } catch {
                continue;
            }
            track(server);
            if (isGone(client)) {
                server.destroy();
                return;
            }
            join(client, server);
            join(server, client);
            return;
        }
        client.destroy();
    };

    // Either side may end its half of a connection before the other.
    const server = net.createServer({ allowHalfOpen: true }, (client) => void serve(client));
    await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(listen.port, listen.host, () => {
            server.removeListener("error", reject);
            resolve();
        });
    });

    return {
        close: () =>
            new Promise<void>((resolve, reject) => {
                server.close((error) => (error === undefined ? resolve() : reject(error)));
                for (const socket of open) {
                    socket.destroy();
                }
            }),
    };
}

/** Asked after a wait, when what was known before it may have changed. */
function isGone(socket: net.Socket): boolean {
    return socket.destroyed;
}
