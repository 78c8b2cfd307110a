import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isManagedByK0s, registrySettings } from "../../../provider/adapters/k0s/containerd-config";

describe("registry settings of containerd", () => {
    it("are found in a drop-in: hosts directories, also several, and certificates of the old form", () => {
        const text = `
# ca = "/no/comment.crt"
[plugins."io.containerd.cri.v1.images".registry]
config_path = "/etc/k0s/containerd.d/certs.d:/etc/docker/certs.d"
[plugins.'io.containerd.grpc.v1.cri'.registry.configs."r.example.com".tls]
  ca_file = '/etc/ssl/r.pem'
`;
        assert.deepEqual(registrySettings("/etc/k0s/containerd.d/r.toml", text), {
            hasRegistries: true,
            hostsDirectories: ["/etc/k0s/containerd.d/certs.d", "/etc/docker/certs.d"],
            files: ["/etc/ssl/r.pem"],
        });
    });

    it("name certificates in a hosts.toml relative to it, in lists over lines too", () => {
        const text = `server = "https://registry-1.docker.io"
[host."https://mirror.example.com:5000"]
  capabilities = ["pull", "resolve"]
  ca = "mirror.crt" # ours
  client = [
    ["client.cert", "client.key"],
    "/etc/ssl/both.pem",
  ]
`;
        const base = "/etc/containerd/certs.d/docker.io";
        assert.deepEqual(registrySettings(`${base}/hosts.toml`, text).files, [
            `${base}/mirror.crt`,
            `${base}/client.cert`,
            `${base}/client.key`,
            "/etc/ssl/both.pem",
        ]);
    });

    it("are not in a drop-in about something else", () => {
        const text = "[plugins.'io.containerd.cri.v1.runtime']\n  enable_selinux = true\n";
        assert.equal(registrySettings("/etc/k0s/containerd.d/selinux.toml", text).hasRegistries, false);
    });
});

describe("containerd's configuration", () => {
    it("is k0s's while its first line says so", () => {
        assert.equal(isManagedByK0s("# k0s_managed=true\nversion = 3\n"), true);
        assert.equal(isManagedByK0s("version = 3\n# k0s_managed=true\n"), false);
    });
});
