import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import type { NodeInputs } from "../../provider/inputs";
import { nothingToDo } from "../../provider/stages/stage";
import { syncRegistry } from "../../provider/stages/sync-registry";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const DROP_IN = "/etc/k0s/containerd.d/registry.toml";
const CERTS = "/etc/k0s/containerd.d/certs.d";
const REGISTRY = `[plugins."io.containerd.cri.v1.images".registry]\nconfig_path = "${CERTS}"\n`;
const CA = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";

/** The helper as `docs/runtime.md` of k0s tells to set it up. */
function world(options: SceneOptions = {}): Scene {
    const made = scene({ name: "w1", ...options });
    made.helperFiles
        .set(DROP_IN, REGISTRY)
        .set("/etc/k0s/containerd.d/gvisor.toml", "[plugins.x.runtimes.runsc]\n")
        .set("/etc/k0s/containerd.toml", "# k0s_managed=true\nversion = 3\n")
        .set(`${CERTS}/docker.io/hosts.toml`, '[host."https://m"]\nca = ["m.crt", "/etc/ssl/m.pem"]\n')
        .set(`${CERTS}/docker.io/m.crt`, CA)
        .set("/etc/ssl/m.pem", CA);
    return made;
}

const sync = ({ operation }: Scene): Promise<unknown> => syncRegistry(operation, Deadline.after(5000));
const written = ({ calls }: Scene): string[] =>
    only(calls, "w1 writeFile").map((call) => call.replace("w1 writeFile ", ""));

describe("registry settings", () => {
    it("are copied with hosts directories and certificates, and noted in the marker first", async () => {
        const given = world();
        assert.equal(await sync(given), "4 files copied from 10.0.0.1");
        assert.deepEqual(written(given), [
            `${CERTS}/docker.io/hosts.toml 644`,
            `${CERTS}/docker.io/m.crt 644`,
            `${DROP_IN} 644`,
            "/etc/ssl/m.pem 644",
        ]);
        assert.equal(given.operation.progress.marked?.put?.files.length, 4);
        assert.ok(
            given.calls.indexOf("w1 writeMarker worker settled") <
                given.calls.findIndex((call) => /File/.test(call) && call.startsWith("w1 write")),
        );
    });

    it("are not what k0s writes, nor drop-ins about something else, which are named", async () => {
        const given = world();
        await sync(given);
        assert.ok(!given.files.has("/etc/k0s/containerd.toml"));
        assert.ok(!given.files.has("/etc/k0s/containerd.d/gvisor.toml"));
        assert.deepEqual(given.lines, ["  not about registries, not copied: /etc/k0s/containerd.d/gvisor.toml"]);
    });

    it("include a configuration that the administrator took over, where the data directories agree", async () => {
        const taken = "/etc/k0s/containerd.toml";
        const given = world();
        given.helperFiles.set(taken, `version = 3\n${REGISTRY}`);
        await sync(given);
        assert.ok(given.files.has(taken));
        const elsewhere = world({ inputs: { dataDir: "/data/k0s" } });
        elsewhere.helperFiles.set(taken, `version = 3\n${REGISTRY}`);
        await sync(elsewhere);
        assert.ok(!elsewhere.files.has(taken));
        assert.match(elsewhere.lines.join(), /for another data directory, not copied/);
    });

    it("leave what the host has already, and say so", async () => {
        const given = world();
        given.files.set(DROP_IN, "its own").set(`${CERTS}/docker.io/m.crt`, CA);
        assert.equal(await sync(given), "2 files copied from 10.0.0.1");
        assert.equal(given.files.get(DROP_IN), "its own");
        assert.deepEqual(given.lines[0], `  the host has its own ${DROP_IN}; left as they are`);
    });

    it("are none where the helper has none", async () => {
        const given = scene({ name: "w1" });
        assert.deepEqual(await sync(given), nothingToDo("nothing to copy"));
        assert.deepEqual(only(given.calls, "w1 write"), []);
    });

    it("without hosts directories of their own are looked for where containerd looks", async () => {
        const given = scene({ name: "w1" });
        given.helperFiles.set("/etc/containerd/certs.d/r.example.com/ca.crt", CA);
        assert.equal(await sync(given), "1 file copied from 10.0.0.1");
    });
});

describe("the CA of the registry input", () => {
    const given = (k0s: Partial<NodeInputs["k0s"]>, files: Readonly<Record<string, string>> = {}): Scene => {
        const made = world();
        Object.entries(files).forEach(([path, text]) => made.files.set(path, text));
        const inputs = { ...made.operation.inputs, registry: { caCertificate: CA } };
        return { ...made, operation: { ...made.operation, inputs: { ...inputs, k0s: { ...inputs.k0s, ...k0s } } } };
    };
    const artifact = { ociArtifact: "r.example.com:5000/mke/k0s:v1" };
    const path = `${CERTS}/r.example.com:5000/ca.crt`;

    it("goes to the first hosts directory, for the registry of the k0s artifact", async () => {
        const made = given(artifact);
        assert.equal(await sync(made), `4 files copied from 10.0.0.1, ${path} written`);
        assert.equal(made.files.get(path), CA);
        assert.ok(made.operation.progress.marked?.put?.files.includes(path));
    });

    it("replaces nobody's, and goes nowhere while no registry is named", async () => {
        const theirs = given(artifact, { [path]: "theirs" });
        assert.match(String(await sync(theirs)), /ca\.crt is there already$/);
        assert.equal(theirs.files.get(path), "theirs");
        assert.equal(await sync(given({})), "4 files copied from 10.0.0.1");
    });
});
