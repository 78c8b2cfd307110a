import assert from "node:assert/strict";
import { it } from "mocha";
import type { LeaseObject } from "../../../provider/adapters/kube";
import { describeReal } from "./real-server";

describeReal("the Leases", (real) => {
    const request = {
        namespace: "kube-system",
        durationSeconds: 60,
        labels: { "app.kubernetes.io/managed-by": "test" },
        annotations: { "pulumi-mke/process": "p" },
    };
    const create = async (name: string): Promise<LeaseObject> => {
        const lease = await real.open().createLease({ ...request, name, holder: "me" });
        assert.ok(lease);
        return lease;
    };

    it("are created once", async () => {
        const lease = await create("once");
        assert.deepEqual([lease.holder, lease.durationSeconds], ["me", 60]);
        assert.match(lease.renewTime, /^\d{4}-.*\.\d{6}Z$/);
        assert.equal(await real.open().createLease({ ...request, name: "once", holder: "you" }), undefined);
        assert.deepEqual(await real.open().lease("kube-system", "once"), lease);
        assert.equal(await real.open().lease("kube-system", "never"), undefined);
    });

    it("are replaced only at the version that was read", async () => {
        const lease = await create("replaced");
        const longer = await real.open().replaceLease({ ...lease, durationSeconds: 900 });
        assert.equal(longer?.durationSeconds, 900);
        assert.equal(await real.open().replaceLease({ ...lease, holder: "you" }), undefined);
        assert.equal((await real.open().lease("kube-system", "replaced"))?.holder, "me");
    });

    it("may be without a holder", async () => {
        const released = await real.open().replaceLease({ ...(await create("released")), holder: "" });
        assert.equal(released?.holder, "");
    });

    it("answer undefined when they were deleted meanwhile", async () => {
        const lease = await create("deleted");
        assert.equal(await real.open().deleteLease("kube-system", "deleted"), true);
        assert.equal(await real.open().replaceLease(lease), undefined);
    });

    it("are deleted only at that version", async () => {
        const lease = await create("kept");
        await real.open().replaceLease(lease);
        assert.equal(await real.open().deleteLease("kube-system", "kept", lease.resourceVersion), false);
        assert.equal(await real.open().deleteLease("kube-system", "kept"), true);
        assert.equal(await real.open().deleteLease("kube-system", "kept"), true);
    });

    it("are found by their label", async () => {
        await create("labelled");
        const names = async (selector?: string): Promise<string[]> =>
            (await real.open().leases("kube-system", selector)).map(({ name }) => name);
        assert.ok((await names("app.kubernetes.io/managed-by=test")).includes("labelled"));
        assert.ok(!(await names("app.kubernetes.io/managed-by=other")).includes("labelled"));
    });
});
