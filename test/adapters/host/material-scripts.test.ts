import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { inNamespace, needNamespaces } from "../../support/namespace";

/** A `semanage` with its local rules in a file, as `fcontext -l -C -n` and `fcontext -E` show them (3.4). */
const SEMANAGE = `cat >/run/fake/semanage <<'END OF SEMANAGE'
#!/bin/sh
touch /run/rules
case "$*" in
'fcontext -l -C -n') cat /run/rules ;;
import) cat >>/run/imported
    ! grep -q nonsense_t /run/imported || { echo 'ValueError: Type nonsense_t is invalid, must be a file or device type' >&2; exit 1; } ;;
*) exit 2 ;;
esac
END OF SEMANAGE
printf '#!/bin/sh\\necho "$@" >>/run/restored\\n' >/run/fake/restorecon
chmod +x /run/fake/semanage /run/fake/restorecon`;

const SYSTEMCTL = `mkdir -p /run/systemd/system
printf '#!/bin/sh\\ncase $1 in show) cat /run/load ;; *) echo "$@" >>/run/said ;; esac\\n' >/run/fake/systemctl
chmod +x /run/fake/systemctl`;

describe("the programs for labels and services", () => {
    before(needNamespaces);

    it("read the rules for labels that were added, whatever they are for", () => {
        const { exitCode, said } = inNamespace(
            "selinux-rules",
            {},
            `${SEMANAGE}
            cat >/run/rules <<'END'
/etc/cni/.*                                        all files          system_u:object_r:container_file_t:s0
/srv/a b(/.*)?                                     all files          system_u:object_r:etc_t:s0
/srv/dir                                           directory          system_u:object_r:etc_t:s0
END`,
            ":",
        );
        assert.equal(exitCode, 0);
        assert.equal(said, "container_file_t /etc/cni/.*\netc_t /srv/a b(/.*)?\n");
    });

    it("name the package where semanage is missing", () => {
        const { exitCode, stderr } = inNamespace("selinux-rules", {}, "PATH=/usr/bin:/bin", ":");
        assert.equal(exitCode, 1);
        assert.match(stderr, /install policycoreutils-python-utils/);
    });

    it("change rules in one transaction and label only what is there", () => {
        const CHANGES = "fcontext -a -f a -t container_file_t '/etc/cni/.*'\nfcontext -d -f a '/opt/cni/.*'";
        const { exitCode, seen } = inNamespace(
            "selinux-label",
            { CHANGES, PATHS: "/etc/systemd\n/nowhere" },
            SEMANAGE,
            "cat /run/imported /run/restored",
        );
        assert.equal(exitCode, 0);
        assert.deepEqual(seen, [...CHANGES.split("\n"), "-R /etc/systemd"]);
    });

    it("say what to install where the policy does not know a type", () => {
        const CHANGES = "fcontext -a -f a -t nonsense_t '/x'";
        const { exitCode, stderr } = inNamespace("selinux-label", { CHANGES, PATHS: "/etc/systemd" }, SEMANAGE, ":");
        assert.equal(exitCode, 1);
        assert.match(stderr, /nonsense_t is invalid.*container-selinux/);
    });

    it("find the units that run a program, with their drop-ins, and no others", () => {
        const { said } = inNamespace(
            "find-units",
            { PROGRAM: "/usr/local/bin/etcd-maintenance" },
            `${SYSTEMCTL}
            cd /etc/systemd/system; mkdir -p maintenance.service.d
            printf '[Service]\\nExecStart=-/usr/local/bin/etcd-maintenance serve\\n' >maintenance.service
            printf '[Service]\\nExecStart=/bin/echo /usr/local/bin/etcd-maintenance\\n' >mention.service
            printf '[Service]\\nExecStart=/usr/local/bin/etcd-maintenance-other\\n' >other.service
            : >maintenance.service.d/limits.conf; cd /`,
            ":",
        );
        assert.deepEqual(said.trim().split("\n"), [
            "/etc/systemd/system/maintenance.service",
            "/etc/systemd/system/maintenance.service.d/limits.conf",
        ]);
    });

    it("enable and start a unit, stop and disable it, and take an absent one as down", () => {
        const run = (ACTION: string, load: string): string[] =>
            inNamespace(
                "unit",
                { ACTION, UNIT: "x.service" },
                `${SYSTEMCTL}; echo ${load} >/run/load; : >/run/said`,
                "cat /run/said",
            ).seen;
        assert.deepEqual(run("up", "loaded"), [
            "daemon-reload",
            "--no-ask-password enable x.service",
            "--no-ask-password restart x.service",
        ]);
        assert.deepEqual(run("down", "loaded"), [
            "--no-ask-password disable x.service",
            "--no-ask-password stop x.service",
        ]);
        assert.deepEqual(run("down", "not-found"), []);
    });
});
