import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { referredFiles } from "../../provider/stages/referred-files";
import { fakeHost } from "../support/fake-host";
import { emptyMaterial } from "../support/fake-material";

function filesOf(files: Readonly<Record<string, string>>, spec: unknown): Promise<string[]> {
    const content = new Map(Object.entries(files));
    const host = fakeHost("c1", [], { files: content, material: emptyMaterial() });
    return referredFiles(host, { spec }, "/var/lib/k0s", Deadline.after(5000));
}

describe("the files that a controller's configuration refers to", () => {
    it("are those of its arguments and known fields, and those that they name in turn", async () => {
        const admission = "kind: AdmissionConfiguration\nplugins:\n- name: EventRateLimit\n  path: limits.yaml\n";
        const found = await filesOf(
            { "/etc/k0s/admission.yaml": admission, "/etc/k0s/limits.yaml": "kind: Configuration\n" },
            {
                api: {
                    extraArgs: { "admission-control-config-file": "/etc/k0s/admission.yaml" },
                    rawArgs: ["--audit-policy-file=/etc/k0s/audit.yaml"],
                },
                extensions: { helm: { repositories: [{ name: "r", caFile: "/etc/ssl/helm.pem" }] } },
            },
        );
        const expected = [
            "/etc/k0s/admission.yaml",
            "/etc/k0s/audit.yaml",
            "/etc/k0s/limits.yaml",
            "/etc/ssl/helm.pem",
        ];
        assert.deepEqual(found, expected);
    });

    it("are not what the components write, what k0s makes, or a path that is no file", async () => {
        const extraArgs = {
            "audit-log-path": "/var/log/audit.log",
            "client-ca-file": "/var/lib/k0s/pki/ca.crt",
            "egress-socket": "/run/k0s/egress.sock",
            "flex-volume-plugin-dir": "/usr/libexec/k0s",
        };
        assert.deepEqual(await filesOf({}, { api: { extraArgs } }), []);
        assert.deepEqual(await filesOf({}, {}), []);
    });

    it("end where files name each other", async () => {
        const naming = (path: string): string => `kind: AdmissionConfiguration\nplugins:\n- name: A\n  path: ${path}\n`;
        const files = { "/etc/a.yaml": naming("b.yaml"), "/etc/b.yaml": naming("a.yaml") };
        const spec = { api: { extraArgs: { "admission-control-config-file": "/etc/a.yaml" } } };
        assert.deepEqual(await filesOf(files, spec), ["/etc/a.yaml", "/etc/b.yaml"]);
    });
});
