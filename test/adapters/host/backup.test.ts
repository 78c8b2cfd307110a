import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { parseBackupAnswer } from "../../../provider/adapters/host/backup-answer";
import { inNamespace, needNamespaces } from "../../support/namespace";

const DIRECTORY = "/var/lib/pulumi-mke/backups";
const VALUES = {
    K0S: "/run/fake/k0s",
    DATA_DIR: "/var/lib/k0s",
    DIRECTORY,
    NAME: "c3-before-add",
    KEEP: "5",
    FILES: "",
};

/** A controller whose k0s writes what is in /run/content, and says how it was asked. */
const CONTROLLER = `
mkdir -p /run/k0s /run/content/pki /etc/k0s /var/lib/k0s/etcd/member/snap ${DIRECTORY}
echo 'spec: {}' >/etc/k0s/k0s.yaml
printf 'spec:\\n  k0sVars:\\n    StartupConfigPath: /etc/k0s/k0s.yaml\\n' >/run/k0s/k0s.yaml
echo snapshot >/run/content/etcd-snapshot.db; echo key >/run/content/pki/ca.key; cp /etc/k0s/k0s.yaml /run/content
cat >/run/fake/k0s <<'END OF K0S'
#!/bin/sh
echo "$* in $TMPDIR, $(stat -c %a "$TMPDIR"), $(umask)" >/run/said
echo 'level=info msg="Starting backup"' >&2
cd /run/content && tar -cf - * | gzip
END OF K0S
chmod +x /run/fake/k0s
`;

const k0s = (text: string): string => `cat >/run/fake/k0s <<'END OF K0S'\n#!/bin/sh\n${text}\nEND OF K0S`;
const LIST = `cd ${DIRECTORY}; ls -A`;
const OWN = /^\d{8}T\d{6}Z-c3-before-add\.tar\.gz$/;

function backUp(values: Partial<typeof VALUES>, prepare: string, look: string) {
    const { said, ...rest } = inNamespace("backup", { ...VALUES, ...values }, CONTROLLER + prepare, look);
    return { ...rest, archive: parseBackupAnswer(said) };
}

describe("the program that backs a controller up", () => {
    before(needNamespaces);

    it("keeps k0s's archive under the time and its name, for root alone, and leaves nothing else", () => {
        const { archive, seen, stderr } = backUp(
            {},
            `rmdir -p ${DIRECTORY} 2>/dev/null || true`,
            `stat -c %a ${DIRECTORY} ${DIRECTORY}/*; ${LIST}; cat /run/said
            size=$(stat -c %s *); sum=$(sha256sum <"$(echo *)"); echo "$size \${sum%% *}"; tar -tzf *`,
        );
        assert.equal(stderr, "");
        const [directoryMode, mode, name = "", said, measured, ...content] = seen;
        assert.deepEqual([directoryMode, mode], ["700", "600"]);
        assert.match(name, OWN);
        assert.match(
            said ?? "",
            /^backup --data-dir=\/var\/lib\/k0s --save-path=- in \/var\/lib\/pulumi-mke\/backups\/\.unfinished-\d+, 700, 0077$/,
        );
        assert.deepEqual(archive && { ...archive, measured: `${archive.size} ${archive.sha256}` }, {
            path: `${DIRECTORY}/${name}`,
            size: archive?.size,
            sha256: archive?.sha256,
            without: [],
            measured,
        });
        const files = content.filter((entry) => !entry.endsWith("/"));
        assert.deepEqual(files, ["etcd-snapshot.db", "k0s.yaml", "pki/ca.key"]);
    });

    it("puts the files that k0s.yaml names in front, with mode and owner, and says which are none", () => {
        const long = `/etc/k0s/${"long".repeat(30)}.yaml`;
        const files = ["/etc/k0s/keys/enc.yaml", "/etc/k0s/zeros", long, "/etc/none", "/etc/k0s", "/etc/../etc/passwd"];
        const { archive, seen } = backUp(
            { FILES: files.join("\n") },
            `mkdir -m 710 /etc/k0s/keys; echo secret >/run/enc; ln -s /run/enc /etc/k0s/keys/enc.yaml
            chown 1234:5678 /run/enc /etc/k0s/keys; chmod 640 /run/enc
            head -c 3000 /dev/zero >/etc/k0s/zeros; : >${long}; : >/etc/init.d/k0scontroller`,
            // The order of a restore: k0s reads to the end of the first archive, which must be that of the whole.
            `cd ${DIRECTORY}; tar -tzf * | grep -c etcd-snapshot.db; mkdir /run/out; cd /run/out
            tar -xzpf ${DIRECTORY}/* --no-overwrite-dir; ls pulumi-mke; cd pulumi-mke/files/etc/k0s
            stat -c '%n %a %u:%g' keys keys/enc.yaml; cat keys/enc.yaml; stat -c '%n %s' zeros long*`,
        );
        assert.deepEqual(archive?.without, ["/etc/none", "/etc/k0s", "/etc/../etc/passwd"]);
        assert.deepEqual(seen, [
            "1",
            "files",
            "k0scontroller",
            "keys 710 1234:5678",
            "keys/enc.yaml 640 1234:5678",
            "secret",
            "zeros 3000",
            `${"long".repeat(30)}.yaml 0`,
        ]);
    });

    it("takes files with names of every length that tar treats in its own way", () => {
        const files = Array.from({ length: 12 }, (_, index) => `/etc/k0s/${"n".repeat(70 + index)}`);
        const { exitCode, seen } = backUp(
            { FILES: files.join("\n") },
            files.map((file) => `head -c 512 /dev/zero >${file}`).join("\n"),
            `cd ${DIRECTORY}; tar -tzf * | grep -c -e nnnn -e etcd-snapshot.db`,
        );
        assert.deepEqual([exitCode, seen], [0, [String(files.length + 1)]]);
    });

    it("keeps the last five of its own, whatever else lies there", () => {
        const old = [1, 2, 3, 4, 5, 6].map((day) => `2026010${day}T000000Z-c${day}-after-remove.tar.gz`);
        const others = ["20250101T000000Z-mine.tar.gz", "k0s_backup_2025.tar.gz", "notes"];
        const { seen } = backUp({}, `cd ${DIRECTORY}; touch ${[...old, ...others].join(" ")}; cd /`, LIST);
        const kept = seen.filter((name) => !OWN.test(name));
        assert.deepEqual(kept, [others[0], ...old.slice(2), ...others.slice(1)].sort());
        assert.equal(seen.length - kept.length, 1);
    });

    it("never writes over another of the same second and name", () => {
        const name = "20260101T000000Z-c3-before-add.tar.gz";
        const { exitCode, stderr, seen } = backUp(
            {},
            `printf '#!/bin/sh\\necho 20260101T000000Z\\n' >/run/fake/date; chmod +x /run/fake/date
            echo first >${DIRECTORY}/${name}`,
            `${LIST}; cat ${DIRECTORY}/${name}`,
        );
        assert.equal(exitCode, 1);
        assert.match(stderr, /exists already/);
        assert.deepEqual(seen, [name, "first"]);
    });

    it("keeps the one it just made, also where the clock went back", () => {
        const future = [1, 2, 3, 4, 5].map((day) => `2999010${day}T000000Z-c1-before-add.tar.gz`);
        const { archive, seen } = backUp({}, `cd ${DIRECTORY}; touch ${future.join(" ")}; cd /`, LIST);
        assert.ok(archive !== undefined && seen.includes(archive.path.slice(DIRECTORY.length + 1)));
        assert.equal(seen.length, 5);
    });

    it("gives an archive that is to be fetched another name, and removes none for it", () => {
        const old = [1, 2, 3, 4, 5, 6].map((day) => `2026010${day}T000000Z-c${day}-after-remove.tar.gz`);
        const { archive, seen } = backUp({ KEEP: "0" }, `cd ${DIRECTORY}; touch ${old.join(" ")}; cd /`, LIST);
        assert.match(archive?.path ?? "", /\/\.outgoing-\d+$/);
        assert.equal(seen.length, 7);
    });

    it("removes what killed backups left, but not what another is working on", () => {
        const { seen } = backUp(
            {},
            `cd ${DIRECTORY}; mkdir .unfinished-99999999 .unfinished-$$; : >.unfinished-99999999/etcd-snapshot.db
            : >.outgoing-12; cd /`,
            `${LIST} | sed "s/$$/ours/"`,
        );
        assert.deepEqual(
            seen.filter((name) => !OWN.test(name)),
            [".unfinished-ours"],
        );
    });

    it("leaves nothing behind when k0s fails, and says what k0s said", () => {
        const failing = k0s("echo start >$TMPDIR/etcd-snapshot.db; echo 'Error: etcd is gone' >&2; exit 3");
        const { exitCode, stderr, seen } = backUp({}, failing, LIST);
        assert.deepEqual([exitCode, stderr, seen], [3, "Error: etcd is gone\n", []]);
    });

    for (const [what, prepare, message] of [
        ["damaged", k0s("cd /run/content; tar -cf - * | gzip | head -c 150"), /the archive is damaged/],
        ["without the snapshot", "rm /run/content/etcd-snapshot.db", /the archive lacks etcd-snapshot\.db/],
        ["empty", k0s("exit 0"), /the archive lacks k0s\.yaml/],
    ] as const) {
        it(`takes no archive for good that is ${what}`, () => {
            const { exitCode, stderr, seen } = backUp({}, prepare, LIST);
            assert.equal(exitCode, 1);
            assert.match(stderr, message);
            assert.deepEqual(seen, []);
        });
    }

    it("does not ask k0s where the disk has too little space", () => {
        const { exitCode, stderr, seen } = backUp(
            {},
            `mount -t tmpfs -o size=20m tmpfs ${DIRECTORY}; truncate -s 30M /var/lib/k0s/etcd/member/snap/db`,
            `${LIST}; ls /run/said 2>/dev/null || true`,
        );
        assert.equal(exitCode, 1);
        assert.equal(stderr, `${DIRECTORY} has 20 MiB of free space, and a backup may need 76 MiB\n`);
        assert.deepEqual(seen, []);
    });

    it("adds a k0s.yaml where k0s was started with a file of another name, and fails where there is none", () => {
        const renamed = `sed -i s/k0s.yaml/mine.yaml/ /run/k0s/k0s.yaml; mv /etc/k0s/k0s.yaml /etc/k0s/mine.yaml
            mv /run/content/k0s.yaml /run/content/mine.yaml; `;
        const { seen } = backUp({}, renamed, `cd ${DIRECTORY}; tar -xzOf * k0s.yaml`);
        assert.deepEqual(seen, ["spec: {}"]);
        const { exitCode, stderr } = backUp({}, "rm /etc/k0s/k0s.yaml", ":");
        assert.equal(exitCode, 1);
        assert.match(stderr, /^there is no \/etc\/k0s\/k0s\.yaml, and `k0s backup` needs it/);
    });
});
