import assert from "node:assert/strict";
import { it } from "mocha";
import { connectKube } from "../../../provider/adapters/kube/client";
import { Deadline } from "../../../provider/deadline";
import type { ApiError } from "../../../provider/errors";
import { loopbackHost } from "../../support/loopback-host";
import { ANOTHER_UID, describeReal } from "./real-server";

const ETCD_MEMBERS = "/apis/etcd.k0sproject.io/v1beta1/etcdmembers";

describeReal("the objects", (real) => {
    const createNode = (name: string): Promise<unknown> =>
        real.server().request("POST", "/api/v1/nodes", {
            apiVersion: "v1",
            kind: "Node",
            metadata: { name, labels: { a: "1" } },
        });
    const createMember = (name: string): Promise<unknown> =>
        real.server().request("POST", ETCD_MEMBERS, {
            apiVersion: "etcd.k0sproject.io/v1beta1",
            kind: "EtcdMember",
            metadata: { name },
            spec: {},
        });
    const node = async (name: string) => {
        const found = await real.open().node(name);
        assert.ok(found, `Node ${name}`);
        return found;
    };

    it("is reached with the credentials in admin.conf, and tells its kube-system and its health", async () => {
        const host = loopbackHost({ files: { "/data/pki/admin.conf": real.server().adminConf } });
        const kube = await connectKube(host, "/data", Deadline.after(5000), {
            server: { host: "127.0.0.1", port: real.server().port },
        });
        real.closing(kube);
        assert.match(await kube.clusterId(), /^[0-9a-f-]{36}$/);
        assert.equal(await kube.isReady("/readyz"), true);
        assert.equal(await kube.isReady("/readyz/etcd"), true);
    });

    it("cordons, annotates and labels a Node, and takes it all back", async () => {
        const kube = real.open();
        await createNode("w1");
        await kube.setUnschedulable("w1", true, { "pulumi-mke/cordoned": "operation" });
        await kube.annotateNode("w1", { "pulumi-mke/owner": "me" });
        await kube.labelNode("w1", { a: null, b: "2" });
        const changed = await node("w1");
        assert.deepEqual([changed.unschedulable, changed.annotations["pulumi-mke/owner"]], [true, "me"]);
        assert.equal(changed.annotations["pulumi-mke/cordoned"], "operation");
        assert.deepEqual([changed.labels["a"], changed.labels["b"]], [undefined, "2"]);
        await kube.setUnschedulable("w1", false, { "pulumi-mke/cordoned": null });
        await kube.annotateNode("w1", { "pulumi-mke/owner": null });
        const restored = await node("w1");
        assert.equal(restored.annotations["pulumi-mke/cordoned"], undefined);
        assert.deepEqual([restored.unschedulable, restored.annotations["pulumi-mke/owner"]], [false, undefined]);
    });

    it("lists Nodes, and answers undefined for one that does not exist", async () => {
        await createNode("w2");
        assert.ok((await real.open().nodes()).some(({ name }) => name === "w2"));
        assert.equal(await real.open().node("nobody"), undefined);
    });

    it("deletes a Node only while it is the one that was meant", async () => {
        const kube = real.open();
        await createNode("w3");
        await kube.deleteNode("w3", ANOTHER_UID);
        const { uid } = await node("w3");
        await kube.deleteNode("w3", uid);
        assert.equal(await kube.node("w3"), undefined);
        await kube.deleteNode("w3", uid);
    });

    it("asks an EtcdMember to leave and annotates it in one patch, and only the one that was meant", async () => {
        const kube = real.open();
        await createMember("c7");
        const [member] = (await kube.etcdMembers()).filter(({ name }) => name === "c7");
        assert.ok(member);
        await assert.rejects(kube.patchEtcdMember("c7", ANOTHER_UID, { leave: true }), (error: ApiError) => {
            assert.deepEqual([error.code, error.retryable], [409, false]);
            return true;
        });
        await kube.patchEtcdMember("c7", member.uid, { leave: true, annotations: { "pulumi-mke/operation": "o1" } });
        const [asked] = (await kube.etcdMembers()).filter(({ name }) => name === "c7");
        assert.deepEqual([asked?.leave, asked?.annotations["pulumi-mke/operation"]], [true, "o1"]);
        await kube.deleteEtcdMember("c7", ANOTHER_UID);
        assert.ok((await kube.etcdMembers()).some(({ name }) => name === "c7"));
        await kube.deleteEtcdMember("c7", member.uid);
        assert.ok(!(await kube.etcdMembers()).some(({ name }) => name === "c7"));
    });

    it("lists and deletes ControlNodes", async () => {
        const kube = real.open();
        const path = "/apis/autopilot.k0sproject.io/v1beta2/controlnodes";
        const metadata = { name: "c8" };
        await real.server().request("POST", path, {
            apiVersion: "autopilot.k0sproject.io/v1beta2",
            kind: "ControlNode",
            metadata,
        });
        const [object] = await kube.controlNodes();
        assert.ok(object);
        assert.equal(object.name, "c8");
        await kube.deleteControlNode("c8", object.uid);
        assert.deepEqual(await kube.controlNodes(), []);
    });

    it("has no MKE without its CRD", async () => {
        assert.equal(await real.open().hasMke(), false);
    });

    it("fails with the API's reason, not retryable, when an object is not there to be changed", async () => {
        await assert.rejects(real.open().annotateNode("nobody", { a: "b" }), (error: ApiError) => {
            assert.deepEqual([error.code, error.retryable], [404, false]);
            assert.match(error.message, /PATCH \/api\/v1\/nodes\/nobody: 404 nodes "nobody" not found/);
            return true;
        });
    });

    it("is not ready, and its failures are worth another try, while its etcd is away", async () => {
        const etcd = real.server().etcd.members[0]?.process;
        const kube = real.open(8000);
        etcd?.suspend();
        try {
            assert.equal(await kube.isReady("/readyz/etcd"), false);
        } finally {
            etcd?.resume();
        }
    });
});
