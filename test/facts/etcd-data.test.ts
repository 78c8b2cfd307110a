import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { etcdIdsIn } from "../../provider/facts/etcd-data";
import { etcdLog } from "../sim/k0s/etcd-log";

/** Written by etcd 3.6.14's own code. */
const WRITTEN = Buffer.from(
    "040000000000008408041000000000002000000000000000080110bb81c7fc051a1608cdd2918bd2b881cf8e01" +
        "10b298eaf1948386fccd010e0000000000008208051094bbc7ed0e1a0408001000000000000000000000000000",
    "hex",
);
const IDS = { memberId: 0x8e9e05c52164694dn, clusterId: 0xcdf818194e3a8c32n };

describe("whose an etcd database is", () => {
    it("stands in the beginning of its log", () => {
        assert.deepEqual(etcdIdsIn(WRITTEN), IDS);
        assert.deepEqual(etcdIdsIn(WRITTEN.subarray(0, 56)), IDS, "as much of it as the probe sends");
    });

    it("is not known from a log that is cut short, is empty or is none", () => {
        for (const length of [0, 7, 16, 40]) assert.equal(etcdIdsIn(WRITTEN.subarray(0, length)), undefined);
        assert.equal(etcdIdsIn(Buffer.from("this is a text and no log of etcd at all, however long")), undefined);
        assert.equal(etcdIdsIn(Buffer.alloc(128)), undefined);
    });

    it("is written by the simulation as etcd does it", () => {
        assert.deepEqual(etcdIdsIn(etcdLog(IDS.memberId, IDS.clusterId)), IDS);
        assert.deepEqual(etcdIdsIn(etcdLog(0xf03n, 1n)), { memberId: 0xf03n, clusterId: 1n });
    });
});
