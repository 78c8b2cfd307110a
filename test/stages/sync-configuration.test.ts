import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { RefusedError } from "../../provider/errors";
import type { PutOnHost } from "../../provider/facts/host";
import type { CopyPlan } from "../../provider/stages/copy-files";
import { nothingToDo } from "../../provider/stages/stage";
import { giveOwners, planConfiguration, syncConfiguration } from "../../provider/stages/sync-configuration";
import { blankHost, CLUSTER_ID, TOKEN } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const POLICY = "/etc/k0s/audit-policy.yaml";
const ENCRYPTION = "/var/lib/k0s/encryption.cfg";
const SECRET = "secret: c2VjcmV0";
const soon = (): Deadline => Deadline.after(5000);

const withArgs = (extraArgs: Readonly<Record<string, string>>): unknown => ({ spec: { api: { extraArgs } } });
const config = withArgs({
    "audit-policy-file": POLICY,
    "audit-log-path": "/var/log/k0s/audit/audit.log",
    "encryption-provider-config": ENCRYPTION,
    "client-ca-file": "/var/lib/k0s/pki/ca.crt",
});

function world(options: SceneOptions = {}): Scene {
    const made = scene({ config, ...options });
    made.helperFiles.set(POLICY, "rules: []").set(ENCRYPTION, SECRET).set("/var/log/k0s/audit/audit.log", "log");
    made.helperMaterial.owners.set(ENCRYPTION, { mode: 0o640, user: "kube-apiserver", group: "root" });
    made.helperMaterial.owners.set("/var/log/k0s/audit", { kind: "directory", mode: 0o700, user: "kube-apiserver" });
    return made;
}

const plan = ({ operation }: Scene): Promise<CopyPlan> => planConfiguration(operation, soon());
const pathsOf = ({ files }: CopyPlan): string[] => files.map(({ path }) => path);
const refused = (given: Scene, text: RegExp): Promise<void> =>
    assert.rejects(plan(given), (error: Error) => {
        assert.ok(error instanceof RefusedError, error.stack);
        assert.equal(error.topic, "configuration-files");
        assert.match(error.message, text);
        assert.ok(!error.message.includes(SECRET));
        assert.deepEqual(only(given.calls, "c3 write", "c3 material make", "c3 material own"), []);
        return true;
    });

/** The host as an interrupted run of ours has left it. */
const marked = (put: Partial<PutOnHost>): SceneOptions => {
    const machineId = blankHost("c3").machineId;
    const identity = { owner: "o", token: TOKEN, role: "controller", nodeName: "c3", clusterId: CLUSTER_ID } as const;
    const all = { files: [], directories: [], selinux: [], units: [], ...put };
    return { hostFacts: blankHost("c3", { marker: { version: 1, ...identity, machineId, put: all } }) };
};

describe("the files a joining controller needs", () => {
    it("are those its arguments name, with their directories, but not what k0s makes or the API server writes", async () => {
        const { files, directories } = await plan(world());
        assert.deepEqual(
            files.map(({ path, mode, user, content }) => [path, mode, user, content?.toString()]),
            [
                [POLICY, 0o644, "root", "rules: []"],
                [ENCRYPTION, 0o640, "kube-apiserver", SECRET],
            ],
        );
        assert.deepEqual(
            directories.map(({ path, mode, user }) => [path, mode, user]),
            [
                ["/etc/k0s", 0o755, "root"],
                ["/var/lib/k0s", 0o755, "root"],
                ["/var/log/k0s", 0o755, "root"],
                ["/var/log/k0s/audit", 0o700, "kube-apiserver"],
            ],
        );
    });

    it("are copied once they are noted in the marker, and get their owners afterwards", async () => {
        const given = world();
        const planned = await plan(given);
        given.calls.length = 0;
        assert.equal(await syncConfiguration(given.operation, planned, soon()), "2 files copied from 10.0.0.1");
        assert.deepEqual(given.calls, [
            "c3 writeMarker controller settled",
            "c3 material makeDirectories /etc/k0s 755 /var/lib/k0s 755 /var/log/k0s 755 /var/log/k0s/audit 700",
            `c3 writeFile ${POLICY} 644`,
            `c3 writeFile ${ENCRYPTION} 640`,
        ]);
        assert.equal(given.files.get(ENCRYPTION), SECRET);
        assert.deepEqual(given.operation.progress.marked?.put?.files, [POLICY, ENCRYPTION]);
        await giveOwners(given.operation, planned, soon());
        assert.equal(given.material.owners.get(ENCRYPTION)?.user, "kube-apiserver");
        assert.equal(given.material.owners.get("/var/log/k0s/audit")?.user, "kube-apiserver");
    });

    it("are left untouched where they are there already, alike", async () => {
        const given = world();
        given.files.set(POLICY, "rules: []").set(ENCRYPTION, SECRET).set("/var/log/k0s/audit/x", "");
        const planned = await plan(given);
        assert.deepEqual(planned, { files: [], directories: [], orphans: [] });
        assert.deepEqual(await syncConfiguration(given.operation, planned, soon()), nothingToDo("nothing to copy"));
        assert.deepEqual(only(given.calls, "c3 write"), []);
    });

    it("also are those that these files name", async () => {
        const admission = "/etc/k0s/admission.yaml";
        const given = world({ config: withArgs({ "admission-control-config-file": admission }) });
        given.helperFiles
            .set(admission, "kind: AdmissionConfiguration\nplugins: [{ name: EventRateLimit, path: limits.yaml }]")
            .set("/etc/k0s/limits.yaml", "kind: Configuration");
        assert.deepEqual(pathsOf(await plan(given)), [admission, "/etc/k0s/limits.yaml"]);
        given.helperFiles.delete("/etc/k0s/limits.yaml");
        await refused(given, /\/etc\/k0s\/limits\.yaml \(\/etc\/k0s\/admission\.yaml\)/);
    });

    it("stop the join where they are on neither side, by name and reference", async () => {
        const given = world();
        given.helperFiles.delete(POLICY);
        await refused(
            given,
            /neither on this host nor .*10\.0\.0\.1: \/etc\/k0s\/audit-policy\.yaml \(spec\.api\.extraArgs\.aud/,
        );
    });

    it("may be on the target alone", async () => {
        const k0sConfig = { spec: { controllerManager: { extraArgs: { "cloud-config": "/etc/cloud.conf" } } } };
        const given = world({ inputs: { k0sConfig } });
        await refused(given, /\/etc\/cloud\.conf \(spec\.controllerManager\.extraArgs\.cloud-config\)/);
        given.files.set("/etc/cloud.conf", "its own");
        assert.deepEqual(pathsOf(await plan(given)), [POLICY, ENCRYPTION]);
    });

    it("are refused where the target has others of that name, unless the program names them for it", async () => {
        const given = world();
        given.files.set(POLICY, "of somebody");
        await refused(
            given,
            /differ from those on 10\.0\.0\.1, and pulumi-mke did not put them there: \/etc\/k0s\/audit-policy\.yaml/,
        );
        const k0sConfig = withArgs({ "audit-policy-file": POLICY }) as Record<string, unknown>;
        const chosen = world({ inputs: { k0sConfig } });
        chosen.files.set(POLICY, "of somebody");
        assert.deepEqual(pathsOf(await plan(chosen)), [ENCRYPTION]);
    });

    it("are written again where our interrupted run left them differently, and get their owners where it left them alike", async () => {
        const given = world(marked({ files: [POLICY, ENCRYPTION], directories: ["/etc/k0s"] }));
        given.files.set(POLICY, "half").set(ENCRYPTION, SECRET).set("/var/log/k0s/audit/x", "");
        const planned = await plan(given);
        assert.deepEqual(
            planned.files.map(({ path, content }) => [path, content?.toString()]),
            [
                [POLICY, "rules: []"],
                [ENCRYPTION, undefined],
            ],
        );
        assert.deepEqual(
            planned.directories.map(({ path }) => path),
            ["/etc/k0s"],
        );
        assert.equal(await syncConfiguration(given.operation, planned, soon()), "1 file copied from 10.0.0.1");
    });

    it("are refused where an owner is neither there nor made by k0s", async () => {
        const given = world();
        given.helperMaterial.owners.set(POLICY, { mode: 0o600, user: "auditor", group: "auditors" });
        await refused(given, /has no user auditor, no group auditors, which must own \/etc\/k0s\/audit-policy\.yaml/);
        given.material.names.add("auditor").add("auditors");
        assert.deepEqual(pathsOf(await plan(given)), [POLICY, ENCRYPTION]);
    });

    it("go on with a log that an earlier node left, whose user is gone", async () => {
        const given = world();
        given.files.set("/var/log/k0s/audit/audit.log", "old");
        given.material.owners
            .set("/var/log/k0s/audit", { kind: "directory", mode: 0o700, user: "996", group: "995" })
            .set("/var/log/k0s/audit/audit.log", { mode: 0o600, user: "996" });
        given.helperMaterial.owners.set("/var/log/k0s/audit/audit.log", { user: "kube-apiserver" });
        const { orphans } = await plan(given);
        assert.deepEqual(
            orphans.map(({ path, mode, user, group }) => [path, mode, user, group]),
            [
                ["/var/log/k0s/audit", 0o700, "kube-apiserver", "root"],
                ["/var/log/k0s/audit/audit.log", 0o600, "kube-apiserver", "root"],
            ],
        );
    });

    it("are never k0s's own keys, where the two have different data directories", async () => {
        const given = world({ inputs: { dataDir: "/data/k0s" } });
        given.helperFiles.set("/var/lib/k0s/pki/ca.crt", "k0s's");
        await refused(given, /\/var\/lib\/k0s\/pki\/ca\.crt \(spec\.api\.extraArgs\.client-ca-file\)/);
    });

    it("that an argument of another kind names are made by the program, if their directory is there", async () => {
        const given = world({ config: withArgs({ profiling: "/srv/profiles/x" }) });
        assert.deepEqual((await plan(given)).directories, []);
        given.helperMaterial.owners.set("/srv", { kind: "directory" });
        given.helperMaterial.owners.set("/srv/profiles", { kind: "directory", mode: 0o750 });
        const { files, directories } = await plan(given);
        assert.deepEqual(files, []);
        assert.deepEqual(
            directories.map(({ path }) => path),
            ["/srv", "/srv/profiles"],
        );
    });
});
