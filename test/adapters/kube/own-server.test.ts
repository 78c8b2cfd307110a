import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { ownServer, serverOfUrl } from "../../../provider/adapters/kube/own-server";

const ADMIN = { host: "localhost", port: 6443 };
const at = (api: unknown, admin = ADMIN): string => {
    const { host, port } = ownServer({ spec: { api } }, admin);
    return `${host} ${port}`;
};

describe("where a controller's API server is asked from its own host", () => {
    const cases: readonly (readonly [why: string, api: unknown, expected: string])[] = [
        ["by loopback", { address: "10.0.0.1" }, "127.0.0.1 6443"],
        ["at the port in force", { port: 7443 }, "127.0.0.1 7443"],
        [
            "at its address where it is bound to that one",
            { address: "10.0.0.1", onlyBindToAddress: true },
            "10.0.0.1 6443",
        ],
        ["at the address of its argument", { extraArgs: { "bind-address": "10.0.0.2" } }, "10.0.0.2 6443"],
        [
            "at the argument's, which wins over k0s's own",
            { address: "10.0.0.1", onlyBindToAddress: true, extraArgs: { "bind-address": "::" } },
            "127.0.0.1 6443",
        ],
        [
            "at the last argument's",
            { extraArgs: { "bind-address": "10.0.0.2" }, rawArgs: ["--v=2", "--bind-address", "fd00::3"] },
            "fd00::3 6443",
        ],
        [
            "by loopback where an argument names all addresses",
            { rawArgs: ["--bind-address=0.0.0.0"] },
            "127.0.0.1 6443",
        ],
        ["by loopback where nothing can be read", "no tree", "127.0.0.1 6443"],
    ];
    for (const [why, api, expected] of cases) it(`is ${why}`, () => assert.equal(at(api), expected));

    it("is what admin.conf says where the configuration in force is not known", () => {
        assert.deepEqual(ownServer(undefined, { host: "10.0.0.1", port: 7443 }), { host: "10.0.0.1", port: 7443 });
        assert.deepEqual(ownServer(undefined, undefined), { host: "127.0.0.1", port: 6443 });
    });

    it("is read from admin.conf's URL, brackets and all", () => {
        assert.deepEqual(serverOfUrl("https://[fd00::11]:6443"), { host: "fd00::11", port: 6443 });
        assert.deepEqual(serverOfUrl("https://localhost:7443"), { host: "localhost", port: 7443 });
        assert.deepEqual([serverOfUrl("nothing"), serverOfUrl(undefined)], [undefined, undefined]);
    });
});
