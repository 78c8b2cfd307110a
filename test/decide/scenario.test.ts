import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { scenarioOf } from "../../provider/decide/scenario";
import type { HostFacts } from "../../provider/facts/host";
import {
    answer,
    BINARY,
    blankHost,
    CA,
    cluster,
    controllerHost,
    NO_DATA,
    node,
    stopped,
    unit,
    workerHost,
} from "./build";

const OTHER_CA = "sha256:99";
function withCa(host: HostFacts, ca: Partial<HostFacts["ca"]>): HostFacts {
    return { ...host, ca: { pki: undefined, kubelet: undefined, unreadable: false, ...ca } };
}

describe("scenarios", () => {
    const noNode = cluster({ nodes: [node("c1"), node("c2")] });
    const notReady = cluster({ nodes: [node("c3", { ready: false })] });
    const withBinary = (change: Partial<HostFacts> = {}): HostFacts => blankHost("c3", { binary: BINARY, ...change });
    const data = (change: object): Partial<HostFacts> => ({ data: { ...NO_DATA, exists: true, ...change } });
    const other = withCa(controllerHost("c3"), { pki: OTHER_CA });
    const cases: readonly (readonly [number | "fail", string, HostFacts, ReturnType<typeof cluster>])[] = [
        [0, "only the program is there", withBinary(), cluster()],
        [0, "the program and images are there", withBinary(data({})), cluster()],
        [9, "the program and pki without CA are there", withBinary(data({ pki: true })), cluster()],
        [9, "the program and etcd data are there", withBinary(data({ etcdMember: true })), cluster()],
        [9, "the program and kubelet.conf are there", withBinary(data({ kubeletConf: true })), cluster()],
        [
            9,
            "there is a service without CA",
            withBinary({ units: { controller: unit([], "inactive"), worker: undefined } }),
            cluster(),
        ],
        [9, "the CA cannot be read", withCa(withBinary(), { unreadable: true }), cluster()],
        [1, "nothing is there", blankHost("c3"), cluster()],
        [1, "nothing but images is there", blankHost("c3", data({})), cluster()],
        [9, "data without program and CA are there", blankHost("c3", data({ etcdMember: true })), cluster()],
        [10, "this cluster's CA without the program is there", withCa(blankHost("c3"), { pki: CA }), cluster()],
        [
            "fail",
            "another cluster's CA without the program is there",
            withCa(blankHost("c3"), { pki: OTHER_CA }),
            cluster(),
        ],
        [2, "it runs and its Node is Ready", controllerHost("c3"), cluster()],
        [3, "it runs and its Node is NotReady", controllerHost("c3"), notReady],
        [4, "it runs and has no Node", controllerHost("c3"), noNode],
        [
            4,
            "it runs and the Node of its name is another machine's",
            controllerHost("c3"),
            cluster({ nodes: [node("c3", { machineId: "x", addresses: ["10.9.9.9"] })] }),
        ],
        [2, "a worker runs and its Node is Ready", workerHost("w1"), cluster({ nodes: [node("w1")] })],
        [5, "it runs for another cluster", other, cluster()],
        ["fail", "it runs and has no CA", withCa(controllerHost("c3"), {}), cluster()],
        [6, "it is stopped and its Node is registered", stopped(controllerHost("c3")), cluster()],
        [7, "it is stopped and its Node is not registered", stopped(controllerHost("c3")), noNode],
        [
            6,
            "its unit is active and its status silent",
            { ...controllerHost("c3"), status: { state: "silent", reason: "" } },
            cluster(),
        ],
        [
            6,
            "its service is gone and its data is not",
            { ...stopped(controllerHost("c3")), units: { controller: undefined, worker: undefined } },
            cluster(),
        ],
        [8, "it is stopped and another cluster's", stopped(other), cluster()],
        [
            "fail",
            "k0s runs without a service",
            { ...controllerHost("c3"), units: { controller: undefined, worker: undefined } },
            cluster(),
        ],
        ["fail", "something holds the run lock of a blank host", blankHost("c3", { runLockHeld: true }), cluster()],
    ];
    for (const [expected, what, host, facts] of cases) {
        it(`is ${expected} where ${what}`, () => {
            const report = scenarioOf(host, facts, host.hostName);
            assert.equal(report.kind === "refuse" ? "fail" : report.scenario, expected);
            assert.ok(report.evidence.length > 0);
        });
    }

    it("takes a plain controller, which has no Node, for ready where its k0s is healthy", () => {
        const plain = controllerHost("c3", {
            status: answer("controller", false),
            units: { controller: unit(["k0s", "controller"]), worker: undefined },
        });
        const report = scenarioOf(plain, noNode, "c3");
        assert.equal(report.kind === "scenario" && report.scenario, 2);
    });

    it("calls an active unit with a silent status passing: every start looks like that", () => {
        const starting = scenarioOf(
            { ...controllerHost("c3"), status: { state: "silent", reason: "" } },
            cluster(),
            "c3",
        );
        const halted = scenarioOf(stopped(controllerHost("c3")), cluster(), "c3");
        assert.equal(starting.kind === "scenario" && starting.passing, true);
        assert.equal(halted.kind === "scenario" && halted.passing, false);
    });
});
