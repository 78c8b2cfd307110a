import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { etcdError, grpcFailure, isMemberNotFound } from "../../../provider/adapters/etcd/errors";
import { ApiError, ConnectionError } from "../../../provider/errors";

const failed = (message: string) => etcdError("10.0.0.1", "removing member 2a", new Error(message));

describe("errors of etcd", () => {
    it("find code and text in etcd3's message", () => {
        assert.deepEqual(
            grpcFailure(new Error("GRPCUnavailableError: 14 UNAVAILABLE: etcdserver: unhealthy cluster")),
            {
                code: 14,
                text: "etcdserver: unhealthy cluster",
            },
        );
    });

    for (const [text, retryable] of [
        ["14 UNAVAILABLE: etcdserver: unhealthy cluster", true],
        ["14 UNAVAILABLE: etcdserver: leader changed", true],
        ["14 UNAVAILABLE: etcdserver: no leader", true],
        ["14 UNAVAILABLE: etcdserver: request timed out", true],
        ["9 FAILED_PRECONDITION: etcdserver: re-configuration failed due to not enough started members", false],
        ["14 UNAVAILABLE: etcdserver: rpc not supported for learner", false],
        ["9 FAILED_PRECONDITION: etcdserver: not leader", false],
        ["8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded", false],
    ] as const) {
        it(`${text} is ${retryable ? "" : "not "}worth another try`, () => {
            const error = failed(text);
            assert.ok(error instanceof ApiError);
            assert.equal(error.retryable, retryable);
        });
    }

    it("tell a member that is gone", () => {
        assert.equal(isMemberNotFound(new Error("GRPCNotFoundError: 5 NOT_FOUND: etcdserver: member not found")), true);
        assert.equal(isMemberNotFound(new Error("14 UNAVAILABLE: etcdserver: unhealthy cluster")), false);
    });

    it("take a call without an answer from etcd for a broken connection", () => {
        const error = failed("14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED");
        assert.ok(error instanceof ConnectionError && error.retryable);
        assert.ok(failed("4 DEADLINE_EXCEEDED: Deadline exceeded after 10s") instanceof ConnectionError);
    });

    it("prefer the reason why the connection below broke", () => {
        const reason = new ConnectionError({ stage: "connecting", what: "host key differs", retryable: false });
        assert.equal(etcdError("h", "status", new Error("14 UNAVAILABLE: read ECONNRESET"), reason), reason);
    });

    it("say what was asked, of whom, and what to do about a lost majority", () => {
        assert.match(
            failed("9 FAILED_PRECONDITION: etcdserver: re-configuration failed due to not enough started members")
                .message,
            /^asking etcd on 10.0.0.1: removing member 2a: etcdserver: re-configuration.*\nToo few other members run/,
        );
    });
});
