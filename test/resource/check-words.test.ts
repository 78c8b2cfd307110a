import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { check } from "../../provider/resource/check";
import { type Bag, UNKNOWN } from "../../provider/resource/shape";

const OWN = { owner: "o/p/s/n", host: "10.0.0.12", cluster: { controllers: [{ host: "10.0.0.11" }] } };

function reasonsFor(given: Bag): Record<string, string> {
    const { failures } = check("controller", { ...OWN, ...given });
    return Object.fromEntries(failures.map(({ property, reason }) => [property, reason]));
}

describe("check of words of other tools", () => {
    const cases: readonly (readonly [given: Bag, property: string, reason: RegExp])[] = [
        [{ connection: { keyPath: "~/.ssh/id" } }, "connection.keyPath", /privateKey takes the key itself/],
        [{ connection: { bastion: { address: "b" } } }, "connection.bastion", /is the input proxy/],
        [{ keyPath: "~/.ssh/id" }, "keyPath", /privateKey takes the key itself.*in connection/],
        [{ bastion: {} }, "bastion", /connection\.proxy/],
        [{ hooks: {} }, "hooks", /@pulumi\/command/],
        [{ files: [] }, "files", /@pulumi\/command/],
        [{ environment: {} }, "environment", /drop-in/],
        [{ ssh: {} }, "ssh", /is the input connection/],
    ];
    for (const [given, property, reason] of cases) {
        it(`explains ${property}`, () => assert.match(reasonsFor(given)[property] ?? "", reason));
    }
});

describe("check of a connection that is shared with @pulumi/command", () => {
    it("accepts and leaves out the host where it is the resource's, or may be", () => {
        for (const host of ["10.0.0.12", UNKNOWN]) {
            const { inputs, failures } = check("worker", { ...OWN, connection: { host, user: "me" } });
            assert.deepEqual(failures, []);
            assert.deepEqual(
                inputs["connection"],
                check("worker", { ...OWN, connection: { user: "me" } }).inputs["connection"],
            );
        }
    });

    it("accepts it of a controller as well", () => {
        const named = { host: "10.0.0.11", connection: { host: "10.0.0.11" } };
        assert.deepEqual(reasonsFor({ cluster: { controllers: [named] } }), {});
    });

    it("refuses another host", () => {
        assert.match(reasonsFor({ connection: { host: "10.0.0.99" } })["connection.host"] ?? "", /names no other/);
    });
});
