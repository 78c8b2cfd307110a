import { after, afterEach, before, describe } from "mocha";
import type { Kube } from "../../../provider/adapters/kube";
import { KUBE_SERVER_PARTS, KubeServer } from "../../support/kube-server";
import { skipWithout } from "../../support/real-parts";

/** A kube-apiserver of its own for one topic's tests. */
export interface RealServer {
    readonly server: () => KubeServer;
    /** A client, closed after the test. `timeout`: milliseconds for one call. */
    open(timeout?: number): Kube;
    /** Closes it after the test. */
    closing(kube: Kube): Kube;
}

export const ANOTHER_UID = "00000000-0000-0000-0000-000000000000";

/** Tests against a real kube-apiserver with a real etcd, skipped where there are none. */
export function describeReal(topic: string, tests: (real: RealServer) => void): void {
    describe(`${topic} of a real kube-apiserver`, function () {
        this.timeout("5m");
        let server: KubeServer | undefined;
        const opened: Kube[] = [];
        const closing = (kube: Kube): Kube => {
            opened.push(kube);
            return kube;
        };
        const running = (): KubeServer => {
            if (server === undefined) throw new Error("the server was not started");
            return server;
        };
        before(async function () {
            skipWithout(this, ...KUBE_SERVER_PARTS);
            server = await KubeServer.start();
        });
        afterEach(() => {
            for (const kube of opened.splice(0)) kube.close();
        });
        after(() => server?.stop());
        tests({ server: running, closing, open: (timeout) => closing(running().kube(timeout)) });
    });
}
