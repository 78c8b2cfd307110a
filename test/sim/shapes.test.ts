import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { parseK0sYaml } from "../../provider/adapters/k0s/yaml";
import { treeOf } from "../../provider/adapters/tree";
import { RefusedError } from "../../provider/errors";
import { type Created, readShapes, ShapeScene } from "./shape";

/** What is to come of a shape besides the usual: adopted, a controller and a worker join, the controller leaves. */
interface Expected {
    /** The refusal of the controller's join, before anything is touched. */
    readonly c2?: RegExp;
    /** The refusal of the adoption; nothing else is tried then. */
    readonly c1?: RegExp;
    /** The refusal of the removal of c1, while c2 stays. */
    readonly leaving?: RegExp;
    /** In the log of c2's join, of w1's, of c2's removal. */
    readonly said?: readonly RegExp[];
    /** API server that w1's Node is marked with. */
    readonly server?: string;
    readonly more?: (scene: ShapeScene, c2: Created) => Promise<void> | void;
    /** After a refused join: what mends it, so that it goes on. */
    readonly mend?: (scene: ShapeScene) => void;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
    "01-no-file": {
        more: (scene) =>
            assert.deepEqual(parseK0sYaml(scene.configOf("c2")), {
                apiVersion: "k0s.k0sproject.io/v1beta1",
                kind: "ClusterConfig",
                spec: {
                    api: { address: "10.0.0.12", port: 6443, k0sApiPort: 9443 },
                    storage: { type: "etcd", etcd: { peerAddress: "10.0.0.12" } },
                },
            }),
    },
    "05-private-network-api": {
        more: (scene) => {
            assert.equal(at(scene.configOf("c2"), "spec.api.address"), "10.0.1.12");
            assert.equal(at(scene.configOf("c2"), "spec.storage.etcd.peerAddress"), "10.0.1.12");
            assert.ok(scene.flagsOf("w1").includes("--kubelet-extra-args=--node-ip=10.0.1.31"));
        },
    },
    "06-private-network-unsaid": { said: [/etcd will be reached at 10\.0\.0\.12, on another network/] },
    "07-etcd-own-network": { said: [/its API server and its etcd share one address, 10\.0\.0\.12/] },
    "09-external-name": { server: "https://api.k0s.lab.test:6443" },
    "11-external-is-first-controller": { leaving: /worker w1 reaches the API through 10\.0\.0\.11/ },
    "12-external-with-port": { server: "https://10.0.0.100:8443" },
    "13-nllb-envoy": { server: "https://127.0.0.1:7443" },
    "17-cplb-unicast-all-listed": {
        more: (scene) =>
            assert.deepEqual(unicastOf(scene.configOf("c2")), {
                unicastSourceIP: "10.0.0.12",
                unicastPeers: ["10.0.0.13", "10.0.0.11"],
            }),
    },
    "19-kine-sqlite": { c1: /its cluster keeps its objects in kine, which is not supported/ },
    "20-external-etcd": { c1: /its cluster uses an external etcd, which is not supported/ },
    "21-single": { c1: /it runs with `--single`, a cluster that nothing can join, which is not supported/ },
    "22-etcd-tuning": { said: [/left out of its k0s\.yaml.*extraArgs\.name, .*listen-client-urls$/m] },
    "23-etcd-own-disk": {
        c2: /data of an earlier etcd member: \/data\/etcd\/member, \/data\/etcd-wal/,
        mend: (scene) => {
            const { files } = scene.sim.find("c2");
            for (const path of ["/data/etcd", "/data/etcd-wal"]) files.removeTree(path);
        },
        said: [
            /left out of its k0s\.yaml.*etcd\.extraArgs\.data-dir/,
            /\/data\/etcd, \/data\/etcd-wal stays on the host/,
        ],
    },
    "28-custom-ports": { server: "https://10.0.0.11:7443" },
    "33-airgap": { said: [/pulls no images .*\/var\/lib\/k0s\/images is empty/] },
    "37-config-gone": {
        c2: /k0s on 10\.0\.0\.11 was started with \/tmp\/k0s\.yaml, and that file is gone/,
        mend: (scene) => scene.sim.find("c1").files.write("/tmp/k0s.yaml", scene.shape.text),
    },
    "47-data-dir-moved-helper-only": { c2: /\/data\/k0s\/pki\/front-proxy-ca\.crt \(spec\.api\.extraArgs\.requesth/ },
    "54-cplb-unicast-pair": {
        said: [/keepalived's unicastPeers in the other controllers' k0s\.yaml do not name 10\.0\.0\.12/],
        more: (scene) =>
            assert.deepEqual(unicastOf(scene.configOf("c2")), {
                unicastSourceIP: "10.0.0.12",
                unicastPeers: ["10.0.0.13", "10.0.0.11"],
            }),
    },
};

describe("a cluster as people configure it", () => {
    let scene: ShapeScene | undefined;

    afterEach(async function () {
        if (this.currentTest?.state === "failed") console.log(["c1", "c2", "w1"].map((name) => scene?.said(name)));
        await scene?.close();
    });

    for (const shape of readShapes()) {
        const expected = EXPECTED[shape.name] ?? {};
        it(`${shape.name}, ${shape.why}: ${inWords(expected)}`, async () => {
            scene = await ShapeScene.start(shape);
            await live(scene, expected);
            scene.sim.assertInvariants();
        });
    }
});

function inWords({ c1, c2, leaving, mend }: Expected): string {
    if (c1 !== undefined) return "is refused before anything is touched";
    const join = c2 === undefined ? "" : `a controller is refused before anything is touched${mend ? ", then " : ""}`;
    const way = c2 === undefined || mend !== undefined ? "a controller and a worker join" : "; a worker joins";
    const end = leaving !== undefined ? "the first one may not leave" : "the controller leaves";
    return `is adopted, ${join}${way}${c2 !== undefined && mend === undefined ? "" : `, ${end}`}`;
}

async function live(scene: ShapeScene, expected: Expected): Promise<void> {
    if (expected.c1 !== undefined) {
        for (const name of ["c1", "c2", "w1"] as const) await refuses(scene, name, expected.c1);
        return;
    }
    const c1 = await scene.create("c1");
    assert.equal(c1.outs["status"], "ready");
    if (expected.c2 !== undefined) await refuses(scene, "c2", expected.c2);
    expected.mend?.(scene);
    const isJoining = expected.c2 === undefined || expected.mend !== undefined;
    const c2 = isJoining ? await scene.create("c2") : undefined;
    const w1 = await scene.create("w1");
    assert.equal(w1.outs["status"], "ready");
    if (expected.server !== undefined) assert.equal(scene.serverOf("w1"), expected.server);
    if (c2 !== undefined) {
        checkJoined(scene);
        await expected.more?.(scene, c2);
        await end(scene, { c1, c2 }, expected);
    }
    const said = ["c2", "w1"].map((name) => scene.said(name)).join("\n");
    for (const words of expected.said ?? []) assert.match(said, words);
}

async function refuses(scene: ShapeScene, name: "c1" | "c2" | "w1", words: RegExp): Promise<void> {
    await assert.rejects(scene.create(name), (error: Error) => {
        assert.ok(error instanceof RefusedError, error.stack);
        assert.match(error.message, words);
        assert.match(error.message, /Nothing was changed/);
        return true;
    });
    if (name !== "c1") assert.deepEqual(scene.changesOn(name), []);
    assert.equal(scene.sim.members().length, 1);
}

async function end(scene: ShapeScene, { c1, c2 }: Record<"c1" | "c2", Created>, { leaving }: Expected): Promise<void> {
    if (leaving !== undefined) {
        await assert.rejects(controller.delete(c1.id, c1.outs), { message: leaving });
        assert.equal(scene.sim.members().length, 2);
    }
    await controller.delete(c2.id, c2.outs);
    assert.deepEqual(scene.sim.memberNames(), ["c1"]);
    for (const path of scene.shape.node.copied ?? []) assert.ok(!scene.sim.find("c2").files.exists(path), path);
}

/** What the shape's header says of the controller that joined; its addresses are always its own. */
function checkJoined(scene: ShapeScene): void {
    const { shape } = scene;
    const { keep = [], drop = [], value = {}, copied = [], flag = [], dropText, configPath } = shape.node;
    const [text, c2] = [scene.configOf("c2"), scene.sim.find("c2")];
    const own = shape.node.c2?.["privateAddress"] ?? c2.address;
    assert.equal(at(text, "spec.api.address"), own);
    assert.equal(at(text, "spec.storage.etcd.peerAddress"), own);
    for (const path of keep) assert.deepEqual(at(text, path), at(shape.text, path), path);
    for (const path of drop) assert.equal(at(text, path), undefined, path);
    for (const [path, wanted] of Object.entries(value)) assert.deepEqual(at(text, path), wanted, path);
    for (const path of copied) {
        assert.equal(c2.files.text(path), scene.sim.find("c1").files.text(path), path);
    }
    for (const wanted of flag) {
        assert.ok(
            scene.flagsOf("c2").some((one) => one === wanted || one === `${wanted}=true`),
            `${wanted}: ${scene.flagsOf("c2").join(" ")}`,
        );
    }
    if (dropText !== undefined) assert.ok(!text.includes(dropText), text);
    assert.ok(configPath === undefined || !c2.files.exists(configPath));
}

/** The value at `spec.api.sans`. */
function at(text: string, path: string): unknown {
    let value: unknown = parseK0sYaml(text);
    for (const key of path.split(".")) value = treeOf(value)[key];
    return value;
}

function unicastOf(text: string): unknown {
    const instances = at(text, "spec.network.controlPlaneLoadBalancing.keepalived") as {
        readonly vrrpInstances: readonly Record<string, unknown>[];
    };
    const { unicastSourceIP, unicastPeers } = instances.vrrpInstances[0] ?? {};
    return { unicastSourceIP, unicastPeers };
}
