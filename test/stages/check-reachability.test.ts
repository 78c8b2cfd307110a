import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { Deadline } from "../../provider/deadline";
import { ConnectionError, RefusedError } from "../../provider/errors";
import { checkReachability } from "../../provider/stages/check-reachability";
import { blankHost, cluster } from "../decide/build";
import { type Calls, only } from "../support/fake-calls";
import { fakeHost } from "../support/fake-host";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

type Answer = Awaited<ReturnType<Host["reach"]>>;

const two = cluster({}, ["c1", "c2"]);
/** What is not open: `10.0.0.1:2380` to its answer. */
type Closed = Readonly<Record<string, Answer>>;
const reach = (closed: Closed): Pick<Host, "reach"> => ({
    reach: async (host, port) => closed[`${host}:${port}`] ?? "open",
});

/** c3 is about to join c1 and c2, which both can be logged in to. */
async function check(
    closed: Closed,
    options: SceneOptions = {},
    listed: readonly string[] = [],
    others: Readonly<Record<string, Partial<Host>>> = {},
): Promise<{ calls: Calls; outcome: unknown; lines: readonly string[] }> {
    const world: Scene = scene({ cluster: two, ...options, target: reach(closed) });
    const controllers = ["c1", "c2", ...listed].map((name) =>
        fakeHost(name, world.calls, { facts: blankHost(name), answers: { ...reach(closed), ...others[name] } }),
    );
    const outcome = await checkReachability(world.operation, controllers, Deadline.after(5000));
    return { calls: world.calls, outcome, lines: world.lines };
}

describe("the way to a new controller", () => {
    it("is tried from every controller, and from it to every port of each", async () => {
        const { calls, outcome } = await check({});
        assert.equal(outcome, "10 paths open");
        assert.deepEqual(only(calls, "c1 reach", "c2 reach"), [
            "c1 reach 10.0.0.3:2380",
            "c1 reach 10.0.0.3:10250",
            "c2 reach 10.0.0.3:2380",
            "c2 reach 10.0.0.3:10250",
        ]);
        assert.deepEqual(
            only(calls, "c3 reach"),
            ["10.0.0.1", "10.0.0.2"].flatMap((host) => [2380, 6443, 9443].map((port) => `c3 reach ${host}:${port}`)),
        );
    });

    it("is not tried from a listed controller that is no member, whatever it would say", async () => {
        const others = { c4: { reach: async () => "blocked" as const } };
        const { calls, outcome, lines } = await check({}, {}, ["c4"], others);
        assert.equal(outcome, "10 paths open");
        assert.deepEqual(only(calls, "c4 reach"), []);
        assert.deepEqual(lines, []);
    });

    it("is not tried from a listed controller that cannot be logged in to, which is told", async () => {
        const off = new ConnectionError({ stage: "connecting", host: "10.0.0.4", what: "no connection to port 22" });
        const { outcome, lines } = await check({}, {}, ["c4"], { c4: { probe: () => Promise.reject(off) } });
        assert.equal(outcome, "10 paths open");
        assert.deepEqual(lines, [
            "not trying the way to this host from 10.0.0.4: connecting on 10.0.0.4: no connection to port 22",
        ]);
    });

    it("needs no kubelet's port on a plain controller", async () => {
        const { calls } = await check({}, { inputs: { role: "controller" } });
        assert.deepEqual(only(calls, "c1"), ["c1 reach 10.0.0.3:2380"]);
    });

    it("goes to the ports of this cluster", async () => {
        const { calls } = await check({}, { apiPort: 7443, config: { spec: { api: { k0sApiPort: 9999 } } } });
        assert.deepEqual(
            only(calls, "c3 reach 10.0.0.2"),
            [2380, 7443, 9999].map((port) => `c3 reach 10.0.0.2:${port}`),
        );
    });

    it("also leads to the address in the join token, where that is none of the controllers'", async () => {
        const config = { spec: { api: { externalAddress: "k8s.example.com" } } };
        const { calls } = await check({}, { config });
        assert.deepEqual(only(calls, "c3 reach k8s.example.com"), ["c3 reach k8s.example.com:9443"]);
        await assert.rejects(
            check({ "k8s.example.com:9443": "refused" }, { config }),
            refusal("10.0.0.3 → k8s.example.com:9443 is refused"),
        );
        const withPort = { spec: { api: { externalAddress: "k8s.example.com:8443", k0sApiPort: 9999 } } };
        const there = await check({}, { config: withPort });
        assert.deepEqual(only(there.calls, "c3 reach k8s.example.com"), ["c3 reach k8s.example.com:8443"]);
    });

    it("does not lead to itself where it is a member already", async () => {
        const { calls } = await check({}, { cluster: cluster() });
        assert.deepEqual(only(calls, "c3 reach 10.0.0.3"), []);
    });

    it("is open where nothing listens yet and the packet came back", async () => {
        const { outcome } = await check({ "10.0.0.3:2380": "refused", "10.0.0.3:10250": "refused" });
        assert.equal(outcome, "10 paths open");
    });

    const refusal =
        (...paths: readonly string[]) =>
        (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.equal(error.details.what, paths.join("; "));
            return true;
        };

    it("is closed where something should listen and does not", async () => {
        await assert.rejects(check({ "10.0.0.2:9443": "refused" }), refusal("10.0.0.3 → 10.0.0.2:9443 is refused"));
    });

    it("is closed where a packet is dropped, and every such path is named", async () => {
        const closed: Closed = { "10.0.0.3:2380": "blocked", "10.0.0.1:2380": "blocked" };
        await assert.rejects(
            check(closed),
            refusal(
                "10.0.0.1 → 10.0.0.3:2380 is blocked",
                "10.0.0.2 → 10.0.0.3:2380 is blocked",
                "10.0.0.3 → 10.0.0.1:2380 is blocked",
            ),
        );
    });
});

describe("the way of a new worker", () => {
    it("leads to the API server that its token will name, and nowhere else", async () => {
        const config = { spec: { api: { externalAddress: "k8s.example.com", port: 7443 } } };
        assert.deepEqual((await check({}, { name: "w1", config })).calls, ["w1 reach k8s.example.com:7443"]);
        assert.deepEqual((await check({}, { name: "w1" })).calls, ["w1 reach 10.0.0.1:6443"]);
    });

    it("is closed where nothing listens there", async () => {
        await assert.rejects(check({ "10.0.0.1:6443": "refused" }, { name: "w1" }), RefusedError);
    });
});
