import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, it } from "mocha";
import { decodeResult, encodeProgram } from "../../provider/adapters/host/program";
import { programBody } from "../../provider/adapters/host/scripts";
import { ApiError } from "../../provider/errors";
import { caFingerprint, parseHostProbe } from "../../provider/facts/host-probe";
import type { HostFacts } from "../../provider/facts/host";
import { splitCommandLine } from "../../provider/facts/unit-command";
import { type RealPart, skipWithout } from "../support/real-parts";
import { etcdLog } from "../sim/k0s/etcd-log";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const MARKER = {
    version: 1,
    owner: "o/p/s/c2",
    token: "t",
    role: "controller",
    nodeName: "c2",
    clusterId: "u",
    machineId: "m",
};

/** A host without k0s; single lines replaced, added (new key) or left out (undefined). */
function answer(changes: Readonly<Record<string, string | readonly string[] | undefined>> = {}): string {
    const lines: Record<string, string | readonly string[] | undefined> = {
        format: "1",
        "machine-id": "0123456789abcdef0123456789abcdef",
        "host-name": "C2",
        address: ["10.0.0.12", "fe80::1", "10.0.0.12"],
        "os-release-b64": base64(
            'ID=ubuntu\nID_LIKE="debian other"\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n',
        ),
        arch: "x86_64",
        cpus: "4",
        "memory-kib": "4096000",
        cgroup: "2",
        "disk-free-kib": "20480000",
        clock: "1796000000",
        selinux: "disabled",
        init: "systemd",
        "status-silent": "no socket /run/k0s/status.sock",
        "run-lock": "free",
        "data-dir": "no",
        pki: "no",
        "etcd-member": "no",
        "etcd-database": "no",
        "kubelet-conf": "no",
        "token-file": "absent",
        end: "",
        ...changes,
    };
    return Object.entries(lines)
        .flatMap(([key, value]) => [value ?? []].flat().map((one) => `${key}\t${one}`))
        .join("\n");
}

const parse = (changes?: Parameters<typeof answer>[0]): HostFacts =>
    parseHostProbe(answer(changes), "c2", "/var/lib/k0s");

describe("the host probe's parser", () => {
    it("reads a host without k0s", () => {
        const facts = parse();
        assert.equal(facts.hostName, "C2");
        assert.deepEqual(facts.addresses, ["10.0.0.12", "fe80::1"]);
        assert.deepEqual(facts.os, {
            id: "ubuntu",
            idLike: ["debian", "other"],
            versionId: "24.04",
            name: "Ubuntu 24.04 LTS",
        });
        assert.equal(facts.arch, "amd64");
        assert.equal(facts.memoryMiB, 4000);
        assert.equal(facts.diskFreeMiB, 20000);
        assert.equal(facts.cgroupVersion, 2);
        assert.deepEqual(facts.units, { controller: undefined, worker: undefined });
        assert.deepEqual(facts.status, { state: "silent", reason: "no socket /run/k0s/status.sock" });
        assert.equal(facts.binary, undefined);
        assert.deepEqual(facts.ca, { pki: undefined, kubelet: undefined, unreadable: false });
        assert.equal(facts.marker, undefined);
    });

    it("reads a running controller, and takes the version from its status", () => {
        const facts = parse({
            "unit-controller": "yes active running 2",
            "unit-controller-command-b64": base64('/opt/my\\x20k0s "controller" "--labels=a=\\"b\\"" "100%%"'),
            "status-silent": undefined,
            "status-role": "controller",
            "status-workloads": "true",
            "status-single-node": "false",
            "status-version": "v1.36.3+k0s.2",
            "status-data-dir": "/var/lib/k0s",
            "status-kubelet-root-dir": "",
            "status-invocation-id": "abc",
            "binary-path": "/opt/my k0s",
        });
        assert.deepEqual(facts.units.controller, {
            enabled: true,
            active: "active",
            sub: "running",
            restarts: 2,
            args: ["/opt/my k0s", "controller", '--labels=a="b"', "100%"],
        });
        assert.equal(facts.status.state === "answers" && facts.status.role, "controller");
        assert.equal(facts.status.state === "answers" && facts.status.kubeletRootDir, undefined);
        assert.deepEqual(facts.binary, { path: "/opt/my k0s", version: "v1.36.3+k0s.2" });
    });

    it("cuts a flag with a secret to its name, and drops a token that is an argument", () => {
        const args = parse({
            "unit-worker": "no failed failed 0",
            "unit-worker-command-b64": base64(
                '/k0s "worker" "--registry-token=(cut)" "(cut)" "--token-file=/etc/k0s/k0stoken"',
            ),
        }).units.worker?.args;
        assert.deepEqual(args, ["/k0s", "worker", "--registry-token", "--token-file=/etc/k0s/k0stoken"]);
    });

    it("lists as foreign what neither k0s nor we put into the data directory", () => {
        const names = ["pki", "etcd", "images", "lost+found", "kubelet.conf", "backup of mine", ".pulumi-mke-file-x"];
        const { data } = parse({ "data-dir": "yes", "data-entries-b64": base64(names.join("\n")) });
        assert.deepEqual(data.foreign, ["backup of mine"]);
    });

    it("lists as foreign what kubelet does not put into a root directory of its own", () => {
        const names = ["pods", "plugins_registry", "cpu_manager_state", "config.json"];
        const { data } = parse({ "kubelet-entries-b64": base64(names.join("\n")) });
        assert.deepEqual(data.foreignKubelet, ["config.json"]);
    });

    it("does not take for foreign what our marker names, unless that came with a copied disk", () => {
        const put = { files: ["/var/lib/k0s/a.cfg", "/var/lib/k0s/d/b"], directories: [], selinux: [], units: [] };
        const foreign = (machineId: string): readonly string[] =>
            parse({
                "machine-id": "this",
                "data-dir": "yes",
                "data-entries-b64": base64("a.cfg\nd\na.cfg.old"),
                "marker-b64": base64(JSON.stringify({ ...MARKER, machineId, put })),
            }).data.foreign;
        assert.deepEqual(foreign("this"), ["a.cfg.old"]);
        assert.deepEqual(foreign("another"), ["a.cfg", "d", "a.cfg.old"]);
    });

    it("spells mount points as they are, outermost first", () => {
        const mount = ["/var/lib/k0s/a\\040b/c", "/var/lib/k0s", "/var/lib/k0s/a\\040b", "/var/lib/k0s"];
        assert.deepEqual(parse({ mount }).mounts, ["/var/lib/k0s", "/var/lib/k0s/a b", "/var/lib/k0s/a b/c"]);
    });

    it("knows a CA by its public key, and one that cannot be read", () => {
        const directory = mkdtempSync(join(tmpdir(), "mke-ca-"));
        try {
            const [key, certificate] = [join(directory, "key"), join(directory, "crt")];
            const subject = ["-subj", "/CN=ca", "-keyout", key, "-out", certificate];
            execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject], { stdio: "ignore" });
            const pem = execFileSync("cat", [certificate], { encoding: "utf8" });
            const der = execFileSync("openssl", ["pkey", "-in", key, "-pubout", "-outform", "DER"]);
            const sum = execFileSync("sha256sum", { input: der, encoding: "utf8" }).slice(0, 64);
            assert.equal(caFingerprint(pem), `sha256:${sum}`);
            const good = parse({ "ca-pki-b64": base64(pem), "ca-kubelet-b64": base64(pem) }).ca;
            assert.deepEqual(good, { pki: `sha256:${sum}`, kubelet: `sha256:${sum}`, unreadable: false });
            assert.deepEqual(parse({ "ca-pki-b64": "" }).ca, { pki: undefined, kubelet: undefined, unreadable: true });
        } finally {
            rmSync(directory, { recursive: true });
        }
    });

    it("reads our marker, and fails clearly on one it cannot read", () => {
        assert.deepEqual(parse({ "marker-b64": base64(JSON.stringify(MARKER)) }).marker, MARKER);
        const odd = [{ files: ["/a"] }, { files: ["a"], directories: [], selinux: [], units: [] }, { files: [1] }];
        const odder = odd.map((put) => JSON.stringify({ ...MARKER, put }));
        for (const text of ["", "not json", "null", '{"version":2}', '{"version":1}', ...odder]) {
            assert.throws(() => parse({ "marker-b64": base64(text) }), /cannot read the marker/);
        }
    });

    it("honours only a k0sctl lock that is fresh", () => {
        assert.deepEqual(parse({ "k0sctl-lock": "7 laptop-123" }).k0sctlLock, { holder: "laptop-123", ageSeconds: 7 });
        assert.equal(parse({ "k0sctl-lock": "31 laptop-123" }).k0sctlLock, undefined);
    });

    it("fails on whatever it does not understand", () => {
        const wrong = [
            answer({ format: "2" }),
            answer({ "new-key": "x" }),
            answer({ cpus: "many" }),
            answer({ cpus: ["1", "2"] }),
            answer({ init: "runit" }),
            answer({ end: undefined }),
            answer({ "status-silent": undefined }),
            answer({ "ca-pki-b64": "!!" }),
            answer({ "unit-worker": "perhaps" }),
            `${answer()}\nsh: something went wrong`,
        ];
        for (const text of wrong) {
            assert.throws(() => parseHostProbe(text, "c2", "/var/lib/k0s"), ApiError, text.slice(-60));
        }
    });

    it("splits command lines of systemd and OpenRC", () => {
        assert.deepEqual(splitCommandLine('-/usr/bin/k0s "worker" "--x=a b"'), ["/usr/bin/k0s", "worker", "--x=a b"]);
        assert.deepEqual(splitCommandLine("/usr/bin/k0s 'worker' '--x=a b' ''"), [
            "/usr/bin/k0s",
            "worker",
            "--x=a b",
            "",
        ]);
    });
});

const SHELLS: readonly (readonly [RealPart, readonly string[]])[] = [
    ["dash", []],
    ["bash", ["--posix"]],
    ["busybox", ["sh"]],
];

describe("the host probe, run on this machine", () => {
    let directory: string;
    beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "mke-probe-"))));
    afterEach(() => rmSync(directory, { recursive: true, force: true }));

    function probe(shell: string, args: readonly string[], path?: string): HostFacts {
        const values = {
            DATA_DIR: join(directory, "data"),
            K0S: join(directory, "k0s"),
            KUBELET_ROOT_DIR: join(directory, "kubelet"),
            MARKER: join(directory, "node.json"),
        };
        const env = path === undefined ? process.env : { ...process.env, PATH: path };
        const run = spawnSync(shell, [...args, "-s"], {
            input: encodeProgram("probe", values, programBody("probe")),
            env,
        });
        const result = decodeResult(run.stdout);
        assert.equal(result?.exitCode, 0, run.stderr.toString());
        return parseHostProbe(result.stdout.toString(), "here", values.DATA_DIR);
    }

    for (const [shell, args] of SHELLS) {
        it(`finds under ${shell} what is there, and nothing secret`, function () {
            skipWithout(this, shell);
            mkdirSync(join(directory, "data/etcd/member/snap"), { recursive: true });
            writeFileSync(join(directory, "data/etcd/member/snap/db"), "");
            mkdirSync(join(directory, "data/etcd/member/wal"));
            const log = (name: string): string => join(directory, `data/etcd/member/wal/${name}`);
            writeFileSync(log("0000000000000000-0000000000000000.wal"), etcdLog(1n, 2n));
            writeFileSync(log("0000000000000001-000000000000a000.wal"), etcdLog(0xf03n, 0xabcn));
            writeFileSync(log("1.tmp"), "");
            mkdirSync(join(directory, "data/pki"));
            writeFileSync(join(directory, "data/pki/ca.crt"), "not a certificate");
            writeFileSync(join(directory, "data/mine"), "");
            mkdirSync(join(directory, "kubelet/pods"), { recursive: true });
            writeFileSync(join(directory, "kubelet/notes"), "");
            const conf = `- cluster:\n    certificate-authority-data: ${base64("no")}\n    server: https://10.0.0.1:6443\n`;
            writeFileSync(join(directory, "data/kubelet.conf"), `${conf}    client-key-data: c2VjcmV0\n`);
            writeFileSync(join(directory, "node.json"), JSON.stringify(MARKER));
            writeFileSync(join(directory, "k0s"), "#!/bin/sh\necho v1.36.3+k0s.2\n", { mode: 0o755 });
            const facts = probe(shell, args);
            assert.equal(facts.data.etcdDatabase, true);
            assert.deepEqual(facts.data.etcdIds, { memberId: 0xf03n, clusterId: 0xabcn });
            assert.equal(facts.data.kubeletConf, true);
            assert.deepEqual(facts.data.foreign, ["mine"]);
            assert.deepEqual(facts.data.foreignKubelet, ["notes"]);
            assert.equal(facts.ca.unreadable, true);
            assert.equal(facts.apiServer, "https://10.0.0.1:6443");
            assert.deepEqual(facts.marker, MARKER);
            assert.deepEqual(facts.binary, { path: join(directory, "k0s"), version: "v1.36.3+k0s.2" });
            assert.ok(facts.cpus >= 1 && facts.diskFreeMiB > 0 && facts.os.id !== "");
            assert.ok(!inspect(facts, { depth: null }).includes("c2VjcmV0"));
        });

        it(`finds under ${shell} that nothing is there`, function () {
            skipWithout(this, shell);
            const facts = probe(shell, args);
            assert.deepEqual(facts.data, {
                dir: join(directory, "data"),
                exists: false,
                pki: false,
                etcdDatabase: false,
                etcdMember: false,
                kubeletConf: false,
                foreign: [],
                foreignKubelet: [],
            });
            assert.equal(facts.marker, undefined);
        });
    }

    it("works with the tools of busybox alone", function () {
        skipWithout(this, "busybox");
        const bin = join(directory, "bin");
        mkdirSync(bin);
        execFileSync("busybox", ["--install", "-s", bin]);
        const facts = probe(join(bin, "sh"), [], bin);
        assert.ok(facts.cpus >= 1 && facts.memoryMiB > 0 && facts.addresses.length > 0);
    });
});
