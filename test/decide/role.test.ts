import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { checkRole } from "../../provider/decide/role";
import type { HostFacts } from "../../provider/facts/host";
import type { Role } from "../../provider/inputs";
import {
    address,
    answer,
    blankHost,
    cluster,
    controllerHost,
    member,
    NO_DATA,
    stopped,
    unit,
    workerHost,
} from "./build";

describe("role check", () => {
    const plain = controllerHost("c3", {
        status: answer("controller", false),
        units: { controller: unit(["k0s", "controller"]), worker: undefined },
    });
    const etcdLeft = blankHost("c9", { data: { ...NO_DATA, exists: true, etcdMember: true } });
    const cases: readonly (readonly [Role, string, HostFacts, boolean])[] = [
        ["worker", "a blank host", blankHost("w1"), true],
        ["worker", "a worker", workerHost("w1"), true],
        ["worker", "a controller", controllerHost("c9"), false],
        ["worker", "etcd data without a service", etcdLeft, false],
        ["worker", "a blank host whose address is an etcd member's", blankHost("c3"), false],
        ["worker", "a host reached at a member's address", blankHost("w1", { address: address("c3") }), false],
        ["controller+worker", "a blank host", blankHost("c4"), true],
        ["controller+worker", "a controller with worker", controllerHost("c3"), true],
        ["controller+worker", "a controller without worker", plain, false],
        ["controller+worker", "a stopped controller without worker", stopped(plain), false],
        ["controller+worker", "a worker", workerHost("w1"), false],
        ["controller", "a controller without worker", plain, true],
        ["controller", "a controller with worker", controllerHost("c3"), false],
        ["controller", "a stopped controller with worker", stopped(controllerHost("c3")), false],
        ["controller", "a worker", workerHost("w1"), false],
        [
            "controller+worker",
            "a single node",
            controllerHost("c3", {
                status: { ...answer("controller", true), singleNode: true } as HostFacts["status"],
            }),
            false,
        ],
    ];
    for (const [role, what, host, ok] of cases) {
        it(`${ok ? "accepts" : "refuses"} ${what} as ${role}`, () => {
            const verdict = checkRole(role, host, cluster());
            assert.equal(verdict.ok, ok);
            if (!verdict.ok) assert.ok(verdict.evidence.length > 0);
        });
    }

    const advised: readonly (readonly [Role, string, HostFacts, RegExp | undefined])[] = [
        [
            "worker",
            "a controller with worker",
            controllerHost("c9"),
            /use MkeControllerNode with role: "controller\+worker" /,
        ],
        ["worker", "a controller without worker", plain, /use MkeControllerNode with role: "controller" /],
        ["controller", "a controller with worker", controllerHost("c3"), /: use role: "controller\+worker" for it/],
        ["controller", "a stopped one", stopped(controllerHost("c3")), /: use role: "controller\+worker" for it/],
        ["controller+worker", "a controller without worker", stopped(plain), /: use role: "controller" for it/],
        ["controller", "a worker", workerHost("w1"), /use MkeWorkerNode for it/],
        ["worker", "etcd data without a service", etcdLeft, undefined],
    ];
    for (const [role, what, host, advice] of advised) {
        it(`names what to use for ${what} as ${role}${advice === undefined ? ": nothing" : ""}`, () => {
            const verdict = checkRole(role, host, cluster());
            assert.ok(!verdict.ok);
            if (advice === undefined) assert.equal(verdict.advice, undefined);
            else assert.match(verdict.advice ?? "", advice);
        });
    }

    it("names the member with address and ID", () => {
        const verdict = checkRole("worker", blankHost("c3"), { members: [member("c3", { name: "" })] });
        assert.deepEqual(verdict, {
            ok: false,
            why: "the resource is a worker, the host is not",
            evidence: ["etcd lists member without a name at 10.0.0.3 (f03)"],
        });
    });
});
