import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { installFlags } from "../../../provider/adapters/k0s/install-flags";
import type { NodeInputs, Role } from "../../../provider/inputs";
import { checked } from "../../support/node-bags";

const ADDRESS = "10.0.0.12";

const flags = (role: Role, given: Partial<NodeInputs> = {}): string[] => {
    const inputs = checked({}, role === "worker" ? "worker" : "controller") as unknown as NodeInputs;
    return installFlags({ ...inputs, role, ...given }, ADDRESS);
};

describe("the flags of k0s install", () => {
    it("are what a joining node of each role needs, and no more", () => {
        const common = ["--data-dir=/var/lib/k0s", "--token-file=/etc/k0s/k0stoken"];
        assert.deepEqual(flags("worker"), common);
        assert.deepEqual(flags("controller"), ["--config=/etc/k0s/k0s.yaml", ...common]);
        assert.deepEqual(flags("controller+worker"), ["--config=/etc/k0s/k0s.yaml", ...common, "--enable-worker"]);
    });

    it("name other directories", () => {
        assert.deepEqual(flags("worker", { dataDir: "/data/k0s", kubeletRootDir: "/data/kubelet" }).slice(0, 2), [
            "--data-dir=/data/k0s",
            "--kubelet-root-dir=/data/kubelet",
        ]);
    });

    it("set labels and taints of a node that has a kubelet", () => {
        const given = { labels: { zone: "a", "example.com/x": "" }, taints: ["gpu=1:NoSchedule", "x:NoExecute"] };
        for (const role of ["worker", "controller+worker"] as const) {
            assert.deepEqual(flags(role, given).slice(-2), [
                "--labels=zone=a,example.com/x=",
                "--taints=gpu=1:NoSchedule,x:NoExecute",
            ]);
        }
        assert.deepEqual(flags("controller", given), flags("controller"));
    });

    it("leave out labels with which a kubelet would not start", () => {
        const labels = {
            "node-role.kubernetes.io/infra": "",
            "kubernetes.io/x": "1",
            "a.b.k8s.io/x": "1",
            "mykubernetes.io/x": "1",
        };
        assert.equal(flags("worker", { labels }).at(-1), "--labels=mykubernetes.io/x=1");
    });

    it("give the kubelet name and address only where the program does", () => {
        assert.equal(
            flags("worker", { nodeName: "w1", privateAddress: ADDRESS }).at(-1),
            "--kubelet-extra-args=--hostname-override=w1 --node-ip=10.0.0.12",
        );
    });

    it("give the kubelet both addresses, the primary one first", () => {
        assert.equal(
            flags("worker", { privateAddress: `${ADDRESS},fd00::12` }).at(-1),
            `--kubelet-extra-args=--node-ip=${ADDRESS},fd00::12`,
        );
        const own = "--kubelet-extra-args=--node-ip=10.0.0.12,fd00::12";
        assert.equal(flags("worker", { installFlags: [own] }).at(-1), own);
    });

    it("merge all arguments of the kubelet into one flag, because k0s takes it once", () => {
        const installFlags = ["--kubelet-extra-args=--v=2", "--debug", "--kubelet-extra-args=--max-pods=50"];
        assert.deepEqual(flags("worker", { nodeName: "w1", installFlags }).slice(-2), [
            "--kubelet-extra-args=--hostname-override=w1 --v=2 --max-pods=50",
            "--debug",
        ]);
    });

    it("end with what the program says, which therefore wins", () => {
        assert.equal(flags("controller", { installFlags: ["--data-dir=/other"] }).at(-1), "--data-dir=/other");
    });
});
