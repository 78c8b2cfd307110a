import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { API_SERVER_ANNOTATION } from "../../provider/decide/names";
import { planRemove } from "../../provider/decide/plan";
import { accessWithout, serverNames, strandedWorkers } from "../../provider/decide/stranded";
import type { ClusterFacts } from "../../provider/facts/cluster";
import { cluster, node } from "./build";
import { leaving, refused, removed } from "./situations";

const LEAVING = ["10.0.0.3", "fd00::3"];

/** w1, marked with that server, beside the controllers. */
function marked(server: string | undefined, change: Partial<ClusterFacts> = {}): ClusterFacts {
    const annotations: Record<string, string> = server === undefined ? {} : { [API_SERVER_ANNOTATION]: server };
    return cluster({ nodes: [...cluster().nodes, node("w1", { annotations })], ...change });
}

const isStranded = (...[server, access, resolved = {}]: Asked): boolean =>
    strandedWorkers(marked(server, { resolved }), LEAVING, access).length > 0;
type Asked = [
    server: string | undefined,
    access?: Parameters<typeof strandedWorkers>[2],
    resolved?: Record<string, string[]>,
];

describe("workers that a removal strands", () => {
    it("are those that reach the API through the controller that leaves", () => {
        assert.deepEqual(strandedWorkers(marked("https://10.0.0.3:6443"), LEAVING), [
            "worker w1 reaches the API through 10.0.0.3",
        ]);
        assert.ok(isStranded("https://[fd00::3]:6443"));
        assert.ok(!isStranded("https://10.0.0.2:6443"));
    });

    it("are those of which nobody knows, where workers use the controllers themselves", () => {
        assert.deepEqual(strandedWorkers(marked(undefined), LEAVING), [
            "it is not known which API server worker w1 uses",
        ]);
        assert.ok(isStranded("nonsense"));
        assert.ok(!isStranded(undefined, { apiAccess: "external", externalAddress: "10.0.0.100" }));
        assert.ok(!isStranded(undefined, { apiAccess: "node-local" }));
    });

    it("are never those that use the external address, or a balancer of their own", () => {
        const external = { apiAccess: "external", externalAddress: "api.example.com" } as const;
        assert.ok(!isStranded("https://API.example.com.:6443", external));
        for (const local of ["127.0.0.1", "localhost", "[::1]"]) assert.ok(!isStranded(`https://${local}:7443`));
    });

    it("are those whose own mark names it, whatever the cluster is configured for by now", () => {
        assert.ok(isStranded("https://10.0.0.3:6443", { apiAccess: "external", externalAddress: "10.0.0.100" }));
        assert.ok(isStranded("https://10.0.0.3:6443", { apiAccess: "node-local" }));
    });

    it("are those whose name leads nowhere else, or nobody knows where", () => {
        const name = "https://c3.example.com:6443";
        assert.ok(isStranded(name, {}, { "c3.example.com": ["10.0.0.3", "fd00::3"] }));
        assert.ok(!isStranded(name, {}, { "c3.example.com": ["10.0.0.3", "10.0.0.2"] }));
        assert.ok(!isStranded(name, {}, { "c3.example.com": ["10.0.0.2"] }));
        assert.ok(isStranded(name));
        assert.ok(isStranded(name, {}, { "c3.example.com": [] }));
    });

    it("have names looked up only where there is a name", () => {
        const nodes = ["https://10.0.0.3:6443", "https://localhost:7443", "https://c3.example.com:6443", "nonsense"]
            .map((server) => ({ annotations: { [API_SERVER_ANNOTATION]: server } }))
            .concat([{ annotations: {} as never }]);
        assert.deepEqual(serverNames(nodes), ["c3.example.com"]);
    });
});

describe("an external address that is the leaving controller's own", () => {
    it("is no balancer", () => {
        const access = { apiAccess: "external", externalAddress: "10.0.0.3" } as const;
        assert.deepEqual(accessWithout(["10.0.0.3"], access), {});
        assert.deepEqual(accessWithout(["10.0.0.2"], access), access);
        for (const server of ["https://10.0.0.3:6443", undefined]) {
            const plan = planRemove(leaving({ cluster: marked(server), ...access }));
            assert.equal(refused(plan).topic, "stranded-workers");
        }
    });

    it("is one where it moves between the controllers: the machine only has it today", () => {
        const access = { apiAccess: "external", externalAddress: "10.0.0.100" } as const;
        const host = leaving().host;
        assert.ok(host);
        const holder = { ...host, addresses: [...host.addresses, "10.0.0.100"] };
        assert.ok(removed(leaving({ host: holder, cluster: marked("https://10.0.0.100:6443"), ...access })));
    });
});
