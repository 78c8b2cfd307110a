import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { peerNetworkNotes } from "../../provider/decide/peer-network";

const helper = { api: "10.0.1.11", peer: "10.0.1.11" };
const notes = (addresses: readonly string[], chosen: string, peers: readonly string[], its = helper): string[] =>
    peerNetworkNotes({ addresses, chosen, peers, helper: its });

describe("the network of a joining controller's etcd", () => {
    it("is told where all members are on another one that the machine is on too", () => {
        const [note, ...more] = notes(["10.0.0.12", "10.0.1.12"], "10.0.0.12", ["10.0.1.11", "10.0.1.13"]);
        assert.match(
            note ?? "",
            /at 10\.0\.0\.12, on another network .*10\.0\.1\.11.*has 10\.0\.1\.12 .*privateAddress/,
        );
        assert.deepEqual(more, []);
        assert.equal(notes(["fd00:a::12", "fd00:b::12"], "fd00:a::12", ["fd00:b:0:0:1::11"]).length, 1);
    });

    it("is not told of where it is the members', or the machine is on none of theirs", () => {
        assert.deepEqual(notes(["10.0.0.12", "10.0.1.12"], "10.0.1.12", ["10.0.1.11"]), []);
        assert.deepEqual(notes(["10.0.0.12", "172.17.0.1"], "10.0.0.12", ["10.0.7.11"]), []);
        assert.deepEqual(notes(["fd00:a::12"], "fd00:a::12", ["fd00:a::11"]), []);
    });

    it("is told where the helper's API server is on another one than its etcd", () => {
        const [note] = notes(["10.0.0.12"], "10.0.0.12", ["10.0.1.11"], { api: "10.0.0.11", peer: "10.0.1.11" });
        assert.match(note ?? "", /share one address, 10\.0\.0\.12, .*\(10\.0\.0\.11 and 10\.0\.1\.11\)/);
    });
});
