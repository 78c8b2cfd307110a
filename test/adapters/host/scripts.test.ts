import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { ownEntries } from "../../../provider/adapters/host/values";
import { parseHostProbe } from "../../../provider/facts/host-probe";
import { inNamespace, needNamespaces } from "../../support/namespace";

const DIRS = {
    DATA_DIR: "/var/lib/k0s",
    KUBELET_ROOT_DIR: "",
    K0S: "",
    ...ownEntries({ dataDir: "/var/lib/k0s", put: ["/var/lib/k0s/ours/file"] }, "here"),
};

describe("the programs that clean up and stop", () => {
    before(needNamespaces);

    it("remove what k0s left, and nothing behind a mount or a link", () => {
        const { exitCode, said, seen } = inNamespace(
            "clean-up",
            DIRS,
            `mkdir -p /var/lib/user/data "/var/lib/k0s/kubelet/pods/x/volumes/a b" /var/lib/k0s/etcd/member
            echo precious >/var/lib/user/data/file
            mount --bind /var/lib/user/data "/var/lib/k0s/kubelet/pods/x/volumes/a b"
            ln -s /var/lib/user /var/lib/k0s/kubelet/link
            mkdir -p /run/k0s/containerd/rootfs; mount -t tmpfs tmpfs /run/k0s/containerd/rootfs`,
            `cat /var/lib/user/data/file; ls -d /var/lib/k0s /run/k0s 2>/dev/null || true`,
        );
        assert.equal(exitCode, 0);
        assert.equal(said, "");
        assert.deepEqual(seen, ["precious"]);
    });

    it("empty a data directory that is a mount point, and leave a link to one alone", () => {
        const mounted = inNamespace(
            "clean-up",
            DIRS,
            "mount -t tmpfs tmpfs /var/lib/k0s; mkdir /var/lib/k0s/pki; : >/var/lib/k0s/.pulumi-mke-1",
            "ls -A /var/lib/k0s; grep -c ' /var/lib/k0s ' /proc/self/mountinfo",
        );
        assert.deepEqual([mounted.said, mounted.seen], ["", ["1"]]);
        const linked = inNamespace(
            "clean-up",
            DIRS,
            "rmdir /var/lib/k0s; mkdir /var/lib/other; : >/var/lib/other/file; ln -s other /var/lib/k0s",
            "ls /var/lib/other",
        );
        assert.match(linked.said, /^\/var\/lib\/k0s \(a symbolic link/);
        assert.deepEqual(linked.seen, ["file"]);
    });

    it("leave a directory as it is that holds what neither k0s nor we put there", () => {
        const { said, seen } = inNamespace(
            "clean-up",
            { ...DIRS, KUBELET_ROOT_DIR: "/var/lib/kubelet-root" },
            `mkdir -p /var/lib/k0s/pki /var/lib/k0s/ours /var/lib/kubelet-root/pods /var/lib/kubelet-root/pki
            : >/var/lib/kubelet-root/customers.db; : >/var/lib/k0s/.pulumi-mke-1`,
            "ls /var/lib /var/lib/kubelet-root",
        );
        assert.match(said, /^\/var\/lib\/kubelet-root \(k0s did not put there: customers\.db \)\n$/);
        assert.deepEqual(seen, ["/var/lib:", "kubelet-root", "/var/lib/kubelet-root:", "customers.db", "pki", "pods"]);
    });

    it("remove services, configuration and logs of k0s, and keep files of others", () => {
        const { said, seen } = inNamespace(
            "clean-up",
            { ...DIRS, K0S: "/var/lib/k0s-program" },
            `: >/var/lib/k0s-program
            mkdir -p /etc/k0s/containerd.d /etc/cni/net.d /var/log/pods/ns_pod_uid/c /var/log/pods/mine /var/log/containers
            : >/etc/k0s/k0s.yaml; : >/etc/k0s/k0stoken; : >/etc/k0s/containerd.d/mine.toml
            echo '# k0s_managed=true' >/etc/k0s/containerd.toml
            : >/etc/cni/net.d/10-kuberouter.conflist; : >/etc/cni/net.d/10-mine.conflist
            ln -s /nowhere /var/log/containers/a.log; : >/var/log/containers/mine.log
            cd /etc/systemd/system; mkdir -p k0sworker.service.d k0scontroller.service.d multi-user.target.wants
            : >k0sworker.service; ln -s ../k0sworker.service multi-user.target.wants/k0sworker.service
            : >k0sworker.service.d/env.conf; : >k0scontroller.service.d/proxy.conf; cd /`,
            `find /etc/k0s /etc/cni/net.d /var/log /etc/systemd/system -name '*mine*' -o -name '*k0s*' \\
                -o -name '*.conf' -path '*k0s*' -o -name '*pod*' | sort; ls /var/lib`,
        );
        assert.equal(said, "");
        assert.deepEqual(seen, [
            "/etc/cni/net.d/10-mine.conflist",
            "/etc/k0s",
            "/etc/k0s/containerd.d/mine.toml",
            "/etc/systemd/system/k0scontroller.service.d",
            "/etc/systemd/system/k0scontroller.service.d/proxy.conf",
            "/var/log/containers/mine.log",
            "/var/log/pods",
            "/var/log/pods/mine",
        ]);
    });

    it("refuse a directory of the system", () => {
        for (const DATA_DIR of [
            "/",
            "/var",
            "/var/lib",
            "/etc/k0s",
            "relative/path",
            "/var/lib/../lib",
            "/var/lib/k0s/",
            "",
        ]) {
            const { exitCode, stderr } = inNamespace("clean-up", { ...DIRS, DATA_DIR }, ":", ":");
            assert.equal(exitCode, 1, DATA_DIR);
            assert.match(stderr, /refusing to clean/);
        }
    });

    it("refuse to clean up below a running k0s", () => {
        const { exitCode, stderr } = inNamespace(
            "clean-up",
            DIRS,
            "mkdir /run/k0s; exec 9>/run/k0s/k0s.yaml.lock; flock 9",
            "ls -d /var/lib/k0s",
        );
        assert.equal(exitCode, 1);
        assert.match(stderr, /k0s is still running/);
    });

    it("end what a stopped k0s left running, but no container's shim", () => {
        const { exitCode, seen, stderr } = inNamespace(
            "service",
            { ACTION: "stop", SERVICE: "k0sworker" },
            `mkdir -p /run/systemd/system /var/lib/k0s/bin
            printf '#!/bin/sh\\ncase $1 in show) echo loaded ;; *) echo "$@" >>/run/said ;; esac\\n' >/run/fake/systemctl
            chmod +x /run/fake/systemctl
            echo 'ExecStart=/usr/local/bin/k0s "worker" "--data-dir=/var/lib/k0s"' >/etc/systemd/system/k0sworker.service
            for name in kubelet containerd-shim-runc-v2; do
                cp "$(command -v sleep)" /var/lib/k0s/bin/$name
                /var/lib/k0s/bin/$name 300 </dev/null >/dev/null 2>&1 &
                echo $! >/run/$name
                until [ "$(readlink /proc/$!/exe)" = /var/lib/k0s/bin/$name ]; do :; done
            done`,
            `cat /run/said
            for name in kubelet containerd-shim-runc-v2; do
                kill -0 "$(cat /run/$name)" 2>/dev/null && grep -q 'State:.[RSD]' "/proc/$(cat /run/$name)/status" && echo "$name lives"
            done
            kill "$(cat /run/containerd-shim-runc-v2)"`,
        );
        assert.equal(exitCode, 0, stderr);
        assert.deepEqual(seen, ["--no-ask-password stop k0sworker.service", "containerd-shim-runc-v2 lives"]);
    });

    it("take stop and disable of an absent service as done, and start as an error", () => {
        for (const [ACTION, expected] of [
            ["stop", 0],
            ["disable", 0],
            ["start", 1],
            ["enable", 1],
        ] as const) {
            assert.equal(inNamespace("service", { ACTION, SERVICE: "k0sworker" }, ":", ":").exitCode, expected, ACTION);
        }
    });

    it("leave lines with secrets out of the journal", () => {
        const { said } = inNamespace(
            "journal",
            { SERVICE: "k0sworker", LINES_WANTED: "10" },
            `echo starting >/var/log/k0s.log; echo 'token: abc123.0123456789abcdef' >>/var/log/k0s.log
            echo "joined with $(head -c 300 /dev/zero | tr '\\0' A)" >>/var/log/k0s.log; echo ready >>/var/log/k0s.log`,
            ":",
        );
        assert.deepEqual(said.trim().split("\n"), ["starting", "ready"]);
    });

    it("show what the service said since its last start, and all of it where systemd restarted it", () => {
        const journal = (properties: string): string[] =>
            inNamespace(
                "journal",
                { SERVICE: "k0sworker", LINES_WANTED: "10" },
                `mkdir -p /run/systemd/system
                printf '#!/bin/sh\\nprintf "%%s\\\\n" ${properties}\\n' >/run/fake/systemctl
                printf '#!/bin/sh\\necho "$@"\\n' >/run/fake/journalctl
                chmod +x /run/fake/systemctl /run/fake/journalctl`,
                ":",
            )
                .said.trim()
                .split(" --lines")[0]
                ?.split(" ") ?? [];
        assert.deepEqual(journal("NRestarts=0 InvocationID=8fd1"), [
            "_SYSTEMD_INVOCATION_ID=8fd1",
            "+",
            "INVOCATION_ID=8fd1",
        ]);
        assert.deepEqual(journal("NRestarts=2 InvocationID=8fd1"), ["--unit=k0sworker.service"]);
        assert.deepEqual(journal("NRestarts=0 InvocationID="), ["--unit=k0sworker.service"], "an old systemd");
    });

    it("tell how long ago k0sctl touched its lock", () => {
        for (const [age, expected] of [
            [5, "laptop-123"],
            [40, undefined],
        ] as const) {
            const { said } = inNamespace(
                "probe",
                { DATA_DIR: "/var/lib/k0s", K0S: "/usr/local/bin/k0s", KUBELET_ROOT_DIR: "", MARKER: "/none" },
                `mkdir -p /run/lock; echo laptop-123 >/run/lock/k0sctl; touch -d '${age} seconds ago' /run/lock/k0sctl`,
                ":",
            );
            assert.equal(parseHostProbe(said, "10.0.0.1", "/var/lib/k0s").k0sctlLock?.holder, expected, said);
        }
    });
});
