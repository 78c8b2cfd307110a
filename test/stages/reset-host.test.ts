import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { nothingToDo } from "../../provider/stages/stage";
import { cleanFolders, resetHost, stopService } from "../../provider/stages/reset-host";
import { BINARY, blankHost, controllerHost } from "../decide/build";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";
import { warningOf } from "../support/outcome";

const soon = (): Deadline => Deadline.after(5000);
const world = (options: SceneOptions = {}): Scene => scene({ hostFacts: controllerHost("c3"), ...options });

describe("stopping k0s", () => {
    it("disables it first, so that nothing starts it between leaving and resetting", async () => {
        const { operation, calls } = world();
        await stopService(operation, soon());
        assert.deepEqual(calls, ["c3 service disable controller", "c3 service stop controller"]);
    });
});

describe("resetting a host", () => {
    it("is k0s's own, with the directories of the installation and the program that is there", async () => {
        const paths: string[] = [];
        const { operation } = world({
            hostFacts: controllerHost("c3", { binary: { ...BINARY, path: "/opt/k0s" } }),
            inputs: { dataDir: "/data", kubeletRootDir: "/kubelet" },
            target: {
                reset: async (path, dirs) => {
                    paths.push(path, dirs.dataDir, dirs.kubeletRootDir ?? "");
                    return { exitCode: 0, output: "" };
                },
            },
        });
        assert.equal(await resetHost(operation, soon()), undefined);
        assert.deepEqual(paths, ["/opt/k0s", "/data", "/kubelet"]);
    });

    it("that fails shows its last lines and does not stop the removal", async () => {
        const output = ["1", "2", "3", "4", "5", "6", "7"].join("\n");
        const { operation, lines } = world({ target: { reset: async () => ({ exitCode: 1, output }) } });
        assert.equal(
            warningOf(await resetHost(operation, soon())),
            "k0s reset ended with exit 1, cleaning up what it left",
        );
        assert.deepEqual(
            lines,
            ["3", "4", "5", "6", "7"].map((line) => `  k0s reset: ${line}`),
        );
    });

    it("has nothing to run where there is no k0s", async () => {
        const { operation, calls } = world({ hostFacts: blankHost("c3") });
        assert.deepEqual(await resetHost(operation, soon()), nothingToDo("k0s is not installed; nothing to reset"));
        assert.deepEqual(calls, []);
    });
});

describe("cleaning the folders", () => {
    it("takes the program away only where we put it there, and the marker last", async () => {
        const theirs = world();
        assert.equal(await cleanFolders(theirs.operation, soon()), "clean");
        assert.deepEqual(theirs.calls, ["c3 cleanUp /var/lib/k0s", "c3 removeMarker"]);

        const ours = world();
        ours.operation.progress.installedBinary = true;
        await cleanFolders(ours.operation, soon());
        assert.deepEqual(ours.calls, ["c3 cleanUp /var/lib/k0s /usr/local/bin/k0s", "c3 removeMarker"]);
    });

    it("takes away what we put there, inner directories first, once k0s's own folders are gone, and the marker last", async () => {
        const put = { files: ["/etc/k0s/a.yaml"], directories: ["/etc/x", "/etc/x/y"], selinux: [], units: [] };
        const given = world();
        given.operation.progress.marked = { record: undefined, put };
        assert.equal(await cleanFolders(given.operation, soon()), "clean");
        assert.deepEqual(given.calls, [
            "c3 cleanUp /var/lib/k0s",
            "c3 material remove /etc/k0s/a.yaml /etc/x/y /etc/x /etc/k0s/containerd.d /etc/k0s",
            "c3 removeMarker",
        ]);
        assert.deepEqual(given.operation.progress, {
            ...given.operation.progress,
            marked: { record: undefined, put: undefined },
        });
    });

    it("says what could not be removed", async () => {
        const { operation } = world({ target: { cleanUp: async () => ({ left: ["/a", "/b"] }) } });
        assert.equal(warningOf(await cleanFolders(operation, soon())), "could not remove /a, /b");
    });

    it("keeps the marker when it fails: the host is still ours to clean", async () => {
        const { operation, calls } = world({ target: { cleanUp: () => Promise.reject(new Error("busy")) } });
        await assert.rejects(cleanFolders(operation, soon()), /busy/);
        assert.deepEqual(calls, ["c3 cleanUp /var/lib/k0s"]);
    });
});
