import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { apiError } from "../../../provider/adapters/kube/errors";

const request = { method: "GET", path: "/api/v1/nodes?limit=5" } as const;

describe("errors of the Kubernetes API", () => {
    for (const [status, retryable] of [
        [400, false],
        [401, false],
        [403, false],
        [404, false],
        [408, true],
        [409, false],
        [422, false],
        [429, true],
        [500, true],
        [503, true],
        [504, true],
    ] as const) {
        it(`${status} is ${retryable ? "" : "not "}worth another try`, () => {
            const error = apiError("10.0.0.1", request, { status, text: "" });
            assert.deepEqual([error.retryable, error.code], [retryable, status]);
        });
    }

    it("say what was asked, of whom, and the server's reason", () => {
        const text = JSON.stringify({ kind: "Status", message: "etcdserver: leader changed" });
        assert.equal(
            apiError("10.0.0.1", request, { status: 500, text }).message,
            "asking the Kubernetes API on 10.0.0.1: GET /api/v1/nodes: 500 etcdserver: leader changed",
        );
    });

    it("show one line of an answer that is no JSON", () => {
        const { message } = apiError("h", request, { status: 500, text: "[-]etcd failed\nreadyz check failed" });
        assert.match(message, /500 \[-\]etcd failed$/);
    });
});
