import assert from "node:assert/strict";
import { controller } from "../../provider";
import { forgetControllers, knownControllers, rememberControllers } from "../../provider/resource/known-controllers";
import { UNKNOWN } from "../../provider/resource/shape";
import { checked, FOUND, stored } from "../support/node-bags";

describe("controllers that this process has heard of", () => {
    const ours = FOUND.clusterId;
    const through = (host: string) => ({ cluster: { controllers: [{ host }] } });
    const hosts = (clusterId: string | undefined, known: string[]) =>
        knownControllers(clusterId, known)
            .map(({ host }) => host)
            .sort();

    beforeEach(forgetControllers);
    afterEach(forgetControllers);

    it("are found by the cluster's id in any state, with the node itself where it is a working controller", () => {
        rememberControllers(stored(checked({ host: "10.0.0.12", ...through("10.0.0.11") })));
        rememberControllers(stored(checked({ host: "10.0.0.21", ...through("10.0.0.13") }, "worker")));
        rememberControllers(stored(checked({ host: "10.0.0.14", ...through("10.0.0.11") }), { status: "joining" }));
        assert.deepEqual(hosts(ours, ["10.0.0.31"]), ["10.0.0.11", "10.0.0.12", "10.0.0.13"]);
    });

    it("are found through hosts that were named together, over any number of steps", () => {
        rememberControllers(checked({ cluster: { controllers: [{ host: "b" }, { host: "c" }] } }));
        rememberControllers(checked({ cluster: { controllers: [{ host: "a" }, { host: "b" }] } }));
        rememberControllers(checked({ cluster: { controllers: [{ host: "y" }, { host: "z" }] } }));
        assert.deepEqual(hosts(undefined, ["a"]), ["b", "c"]);
    });

    it("are found for a new host when every host of the program is a new one", async () => {
        const olds = stored(checked({ host: "old1", ...through("old2") }));
        await controller.diff("id", olds, checked({ host: "new1", ...through("new2") }));
        assert.deepEqual(hosts(undefined, ["new1", "new2"]), ["old1", "old2"]);
    });

    it("are not taken from another cluster, although it names the same host", () => {
        rememberControllers(stored(checked({ host: "x", ...through("a") }), { clusterId: "another" }));
        assert.deepEqual(hosts(ours, ["a"]), []);
    });

    it("are never the hosts asked with, nor ones that are not known yet", () => {
        rememberControllers(stored(checked(through("a"))));
        rememberControllers({ cluster: { controllers: [{ host: UNKNOWN, connection: {} }, UNKNOWN], id: ours } });
        rememberControllers({ cluster: UNKNOWN });
        assert.deepEqual(hosts(ours, ["a", "10.0.0.12"]), []);
    });
});
