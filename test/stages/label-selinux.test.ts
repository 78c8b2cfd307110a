import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { RefusedError } from "../../provider/errors";
import { selinuxRules } from "../../provider/decide/selinux";
import { nothingToDo } from "../../provider/stages/stage";
import { labelSelinux, unlabelSelinux } from "../../provider/stages/label-selinux";
import { blankHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const soon = (): Deadline => Deadline.after(5000);
const world = (options: SceneOptions = {}): Scene =>
    scene({ hostFacts: blankHost("c3", { selinux: "enforcing" }), ...options });

describe("the SELinux rules", () => {
    it("are those of k0s's documentation, for the directories of the node", () => {
        const rules = selinuxRules({ dataDir: "/data/k0s.d", k0sPath: "/usr/local/bin/k0s" });
        assert.deepEqual(
            rules.map(({ type, pattern }) => `${type} ${pattern}`),
            [
                String.raw`container_runtime_exec_t /data/k0s\.d/bin/containerd.*`,
                String.raw`container_runtime_exec_t /data/k0s\.d/bin/runc`,
                String.raw`container_var_lib_t /data/k0s\.d/containerd(/.*)?`,
                String.raw`container_ro_file_t /data/k0s\.d/containerd/io.containerd.snapshotter.*/snapshots(/.*)?`,
                "container_file_t /etc/cni/.*",
                "container_file_t /opt/cni/.*",
            ],
        );
    });

    it("let systemd start a program that lies elsewhere", () => {
        const rules = selinuxRules({ dataDir: "/var/lib/k0s", k0sPath: "/opt/k0s/k0s" });
        assert.deepEqual(rules.at(-1), { type: "bin_t", pattern: "/opt/k0s/k0s" });
    });
});

describe("labelling for SELinux", () => {
    it("does nothing, and says so, where there is none", async () => {
        const given = scene();
        assert.deepEqual(await labelSelinux(given.operation, soon()), nothingToDo("the host has no SELinux"));
        assert.deepEqual(given.calls, []);
    });

    it("adds the rules that are missing, noted before, and adds none the second time", async () => {
        const given = world();
        given.material.rules.push({ type: "container_file_t", pattern: "/etc/cni/.*" });
        assert.equal(await labelSelinux(given.operation, soon()), "enforcing, 5 rules added");
        assert.deepEqual(given.calls, [
            "c3 material selinuxRules",
            "c3 writeMarker controller settled",
            "c3 material labelSelinux +5 -0",
        ]);
        assert.equal(await labelSelinux(given.operation, soon()), "enforcing, 0 rules added");
        assert.equal(given.material.rules.length, 6);
    });

    it("refuses where the host labels the same paths otherwise", async () => {
        const given = world();
        given.material.rules.push({ type: "etc_t", pattern: "/etc/cni/.*" });
        await assert.rejects(labelSelinux(given.operation, soon()), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /\/etc\/cni\/\.\* is etc_t, k0s asks for container_file_t/);
            return true;
        });
        assert.deepEqual(only(given.calls, "c3 material label"), []);
    });

    it("is taken back by the removal, less what was there before us or is gone", async () => {
        const given = world();
        given.material.rules.push({ type: "container_file_t", pattern: "/etc/cni/.*" });
        await labelSelinux(given.operation, soon());
        given.material.rules.splice(1, 1);
        await unlabelSelinux(given.operation, soon());
        assert.deepEqual(given.material.rules, [{ type: "container_file_t", pattern: "/etc/cni/.*" }]);
        assert.equal(given.calls.at(-1), "c3 material labelSelinux +0 -4");
    });
});
