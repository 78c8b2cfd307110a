import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { addHost, changeFlags, removeHost } from "../../provider/decide/mke-hosts";
import type { NodeInputs } from "../../provider/inputs";
import { checked } from "../support/node-bags";

const inputs = (change: object = {}, kind: "controller" | "worker" = "controller"): NodeInputs =>
    checked({ host: "10.0.0.3", ...change }, kind) as unknown as NodeInputs;

const entry = (address: string, role = "controller+worker", ssh: object = { keyPath: "/k" }): object => ({
    role,
    ssh: { address, user: "ubuntu", port: 22, ...ssh },
});
const OTHERS = [entry("10.0.0.1"), entry("10.0.0.11", "worker", { keyPath: "/w" })];

/** The entry that would be appended. */
function appended(hosts: readonly unknown[] | undefined, given: NodeInputs): unknown {
    const change = addHost(hosts, given);
    if (change.kind !== "patch") throw new Error(JSON.stringify(change));
    return change.operations[0]?.value;
}

describe("the host's entry in MkeConfig", () => {
    it("has the fields of a k0sctl host, and no more than the program gives", () => {
        assert.deepEqual(addHost(OTHERS, inputs()), {
            kind: "patch",
            operations: [
                {
                    op: "add",
                    path: "/spec/hosts/-",
                    value: entry("10.0.0.3", undefined, { user: "root", keyPath: "/k" }),
                },
            ],
        });
        const proxy = { host: "198.51.100.7", user: "jump", port: 2222, privateKey: "" };
        const all = inputs({
            connection: { user: "admin", port: 2022, proxy: { host: proxy.host, user: proxy.user, port: proxy.port } },
            privateAddress: "10.1.0.3",
            nodeName: "c3",
            installFlags: ["--debug", "--profile=x"],
        });
        assert.deepEqual(appended(OTHERS, all), {
            role: "controller+worker",
            ssh: {
                ...{ address: "10.0.0.3", user: "admin", port: 2022, keyPath: "/k" },
                bastion: { address: "198.51.100.7", user: "jump", port: 2222, keyPath: "/k" },
            },
            privateAddress: "10.1.0.3",
            hostname: "c3",
            installFlags: ["--debug", "--profile=x"],
        });
    });

    it("names a key file: the program's, else that of an entry of its role, else any, else none as the others do", () => {
        const keyOf = (hosts: readonly unknown[], given: NodeInputs): unknown =>
            (appended(hosts, given) as { ssh: { keyPath?: string } }).ssh.keyPath;
        const worker = inputs({}, "worker");
        assert.equal(keyOf(OTHERS, inputs({ mke: { keyPath: "/mine" } })), "/mine");
        assert.equal(keyOf(OTHERS, worker), "/w");
        assert.equal(keyOf([entry("10.0.0.1")], worker), "/k");
        assert.equal(keyOf([entry("10.0.0.1", "worker", {})], worker), undefined);
    });

    it("takes a bastion's key file from an entry with the same bastion", () => {
        const bastion = { address: "198.51.100.7", user: "jump", port: 22, keyPath: "/b" };
        const given = inputs({ connection: { proxy: { host: "198.51.100.7", user: "jump" } } });
        const made = appended([entry("10.0.0.1", "worker", { keyPath: "/k", bastion })], given);
        assert.deepEqual((made as { ssh: { bastion: object } }).ssh.bastion, bastion);
    });

    it("never holds a key or a password", () => {
        const given = inputs({
            connection: { password: "pass-1", sudoPassword: "pass-2" },
        });
        assert.ok(!JSON.stringify(appended(OTHERS, given)).includes("pass-"));
    });

    it("starts the list where there is none, with a key file given", () => {
        const given = inputs({ mke: { keyPath: "/mine" } });
        assert.deepEqual(addHost(undefined, given), {
            kind: "patch",
            operations: [
                {
                    op: "add",
                    path: "/spec/hosts",
                    value: [entry("10.0.0.3", undefined, { user: "root", keyPath: "/mine" })],
                },
            ],
        });
    });

    const nothingOrRefused: readonly [string, unknown[], NodeInputs, string, RegExp][] = [
        [
            "is there already, whatever else it says",
            [entry("10.0.0.3", undefined, { port: 1 })],
            inputs(),
            "nothing",
            /listed already/,
        ],
        [
            "is there in another spelling",
            [entry("2001:DB8:0::3")],
            inputs({ host: "2001:db8::3" }),
            "nothing",
            /listed already/,
        ],
        [
            "is no entry for a plain controller",
            OTHERS,
            inputs({ role: "controller" }),
            "nothing",
            /no role for a controller/,
        ],
        ["has another role", [entry("10.0.0.3", "worker")], inputs(), "refuse", /lists 10\.0\.0\.3 with role "worker"/],
        ["has no key file to go by", [], inputs(), "refuse", /which key file/],
    ];
    for (const [what, hosts, given, kind, why] of nothingOrRefused) {
        it(`${what}: ${kind}`, () => {
            const change = addHost(hosts, given);
            assert.equal(change.kind, kind);
            assert.match("why" in change ? change.why : "", why);
        });
    }
});

describe("taking a host out of MkeConfig", () => {
    it("removes its entries by address and role, the last one first, and nothing else", () => {
        const hosts = [entry("10.0.0.3"), ...OTHERS, "odd", entry("10.0.0.3", "worker"), entry("10.0.0.3")];
        assert.deepEqual(removeHost(hosts, inputs()), {
            kind: "patch",
            operations: [
                { op: "remove", path: "/spec/hosts/5" },
                { op: "remove", path: "/spec/hosts/0" },
            ],
        });
    });

    it("does nothing where it is not listed, or is a plain controller", () => {
        for (const hosts of [undefined, [], OTHERS, [null, 1]])
            assert.equal(removeHost(hosts, inputs()).kind, "nothing");
        assert.equal(removeHost([entry("10.0.0.3")], inputs({ role: "controller" })).kind, "nothing");
    });
});

describe("flags of a host in MkeConfig, after the program changed them", () => {
    const before = ["--profile=a"];
    const after = ["--profile=b", "--debug"];
    const withFlags = (installFlags: unknown): object => ({ ...entry("10.0.0.3"), noTaints: true, installFlags });
    const change = (hosts: readonly unknown[] | undefined, installFlags = after, earlier = [before]): unknown => {
        const decided = changeFlags(earlier)(hosts, inputs({ installFlags }));
        return decided.kind === "patch" ? decided.operations : decided;
    };
    const path = "/spec/hosts/1/installFlags";

    it("are what an add would have written, in every entry of its address and role and in nothing else of it", () => {
        const hosts = [entry("10.0.0.1"), withFlags(before), entry("10.0.0.3", "worker"), withFlags(before)];
        assert.deepEqual(change(hosts), [
            { op: "add", path, value: after },
            { op: "add", path: "/spec/hosts/3/installFlags", value: after },
        ]);
        assert.deepEqual(change([entry("10.0.0.1"), entry("10.0.0.3")], after, [[]]), [
            { op: "add", path, value: after },
        ]);
        assert.deepEqual(change([entry("10.0.0.1"), withFlags(before)], []), [{ op: "remove", path }]);
    });

    it("are known in another spelling, and after a change that did not end", () => {
        assert.deepEqual(change([entry("10.0.0.1"), withFlags(["--debug=true"])], after, [["--debug"]]), [
            { op: "add", path, value: after },
        ]);
        assert.deepEqual(change([entry("10.0.0.1"), withFlags(after)], before, [before, after]), [
            { op: "add", path, value: before },
        ]);
    });

    it("leave those of others there, as they stay in the service", () => {
        const theirs = ["--theirs=1", "--profile=a", "--kubelet-extra-args=--theirs=1"];
        const value = ["--theirs=1", "--profile=b", "--kubelet-extra-args=--theirs=1", "--debug=true"];
        assert.deepEqual(change([entry("10.0.0.1"), withFlags(theirs)]), [{ op: "add", path, value }]);
    });

    const untouched: readonly [string, readonly unknown[] | undefined, RegExp][] = [
        ["it is not listed", OTHERS, /not listed/],
        ["there is no list", undefined, /not listed/],
        ["its entry has another role", [entry("10.0.0.3", "worker")], /not listed/],
        ["its entry has them, in whatever words", [withFlags(["--debug=true", "--profile=b"])], /listed already/],
        ["its entry has something else there", [withFlags("--profile=a"), withFlags([1])], /listed already/],
    ];
    for (const [what, hosts, why] of untouched) {
        it(`are not touched where ${what}`, () => {
            const decided = changeFlags([before])(hosts, inputs({ installFlags: after }));
            assert.match("why" in decided ? decided.why : "", why);
        });
    }

    it("are nobody's business where a plain controller has no entry", () => {
        const decided = changeFlags([before])([withFlags(before)], inputs({ role: "controller", installFlags: after }));
        assert.equal(decided.kind, "nothing");
    });
});
