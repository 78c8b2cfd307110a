import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import type { NodeInputs } from "../../provider/inputs";
import { forgetPermissions, rememberPermissions, withPermissions } from "../../provider/resource/permissions";

const OWNER = "organization/mke/test/c1";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const old = {
    user: "root",
    port: 22,
    privateKey: "old",
    hostKey: "SHA256:old",
    dialErrorLimit: 10,
    perDialTimeout: 15,
};
const inState = {
    owner: OWNER,
    host: "10.0.0.1",
    connection: old,
    cluster: { controllers: [{ host: "10.0.0.2", connection: old }], minControllers: 1, maxControllers: 7 },
    allowStrandedWorkers: false,
    onUnreachable: "fail",
} as unknown as NodeInputs;

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
        rememberPermissions("controller", { owner: OWNER, onUnreachable: UNKNOWN });
        assert.deepEqual(withPermissions("controller", inState), inState);
    });

    it("come with the logins of today, but the host keys in state", () => {
        const now = { ...old, user: "admin", privateKey: "new", hostKey: "SHA256:new" };
        const controllers = [
            { host: "10.0.0.2", connection: now },
            { host: "10.0.0.3", connection: now },
        ];
        rememberPermissions("controller", { ...inState, connection: now, cluster: { controllers } });
        const { connection, cluster } = withPermissions("controller", inState);
        const expected = { ...now, hostKey: "SHA256:old" };
        assert.deepEqual(connection, expected);
        assert.deepEqual(cluster.controllers, [{ host: "10.0.0.2", connection: expected }]);
        assert.equal(cluster.minControllers, 1);
    });

    it("come with the logins in state where the node moved, or where the new ones are not known yet", () => {
        const now = { ...old, privateKey: "new" };
        rememberPermissions("controller", { owner: OWNER, host: "10.0.0.9", connection: now });
        assert.deepEqual(withPermissions("controller", inState), inState);
        rememberPermissions("controller", { ...inState, connection: { ...now, privateKey: UNKNOWN }, cluster: {} });
        assert.deepEqual(withPermissions("controller", inState), inState);
    });
});
