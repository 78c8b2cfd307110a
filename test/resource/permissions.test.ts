import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import type { NodeInputs } from "../../provider/inputs";
import { forgetPermissions, rememberPermissions, withPermissions } from "../../provider/resource/permissions";

const OWNER = "organization/mke/test/c1";
const inState = { owner: OWNER, allowStrandedWorkers: false, onUnreachable: "fail" } as NodeInputs;

describe("permissions of a removal", () => {
    afterEach(forgetPermissions);

    it("are those in state where no program was seen", () => {
        assert.deepEqual(withPermissions("controller", inState), inState);
    });

    it("are those that the program gives the same resource now", () => {
        rememberPermissions("controller", {
            ...inState,
            allowStrandedWorkers: true,
            onUnreachable: "remove-from-cluster",
        });
        const { allowStrandedWorkers, onUnreachable } = withPermissions("controller", inState);
        assert.deepEqual([allowStrandedWorkers, onUnreachable], [true, "remove-from-cluster"]);
    });

    it("are taken back by the program too", () => {
        rememberPermissions("controller", { ...inState });
        const { allowStrandedWorkers } = withPermissions("controller", { ...inState, allowStrandedWorkers: true });
        assert.equal(allowStrandedWorkers, false);
    });

    it("of another resource, of the other kind, or not known yet are none", () => {
        const all = { allowStrandedWorkers: true, onUnreachable: "remove-from-cluster" };
        rememberPermissions("controller", { ...all, owner: `${OWNER}x` });
        rememberPermissions("worker", { ...all, owner: OWNER });
        assert.deepEqual(withPermissions("controller", inState), inState);
        rememberPermissions("controller", { owner: OWNER, onUnreachable: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" });
        assert.deepEqual(withPermissions("controller", inState), inState);
    });
});
