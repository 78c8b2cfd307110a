import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { addressesOf, normalAddress, urlHost, withPort } from "../provider/address";

describe("an address", () => {
    it("has one spelling", () => {
        const spellings = ["fd00::1", "FD00:0:0::1", "[fd00::1]", " fd00:0000::0001 ", "fd00::1%eth0"];
        assert.deepEqual([...new Set(spellings.map(normalAddress))], ["fd00::1"]);
        assert.equal(normalAddress("C1.Example.org."), "c1.example.org");
    });

    it("has brackets where a colon follows it and would be one of its own", () => {
        assert.deepEqual([urlHost("fd00::1"), urlHost("10.0.0.1"), urlHost("c1")], ["[fd00::1]", "10.0.0.1", "c1"]);
        assert.equal(withPort({ host: "fd00::1", port: 6443 }), "[fd00::1]:6443");
        assert.equal(withPort({ host: "10.0.0.1", port: 6443 }), "10.0.0.1:6443");
    });

    it("tells no machine where it is of one link alone, except by which it was reached", () => {
        const calico = "fe80::ecee:eeff:feee:eeee";
        const addresses = ["fd00::1", "FD00:0::1", calico, "10.0.0.1"];
        assert.deepEqual(addressesOf({ address: "fd00::1", addresses }), ["fd00::1", "10.0.0.1"]);
        assert.deepEqual(addressesOf({ address: "fe80::1%eth0", addresses: [calico] }), ["fe80::1"]);
    });
});
