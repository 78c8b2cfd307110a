import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { MachineGuard, machineOf } from "../../../provider/adapters/host/machine";
import { onlyLooks, PROGRAM_NAMES, type ProgramValues } from "../../../provider/adapters/host/program";
import type { RootShell } from "../../../provider/adapters/host/root-shell";
import { UnboundSshHost } from "../../../provider/adapters/host/ssh-host";
import type { SshEndpoint } from "../../../provider/adapters/ssh/endpoint";
import { Deadline } from "../../../provider/deadline";
import { OtherMachineError } from "../../../provider/errors";
import type { HostMarker } from "../../../provider/facts/host";
import { MARKER_PATH } from "../../../provider/facts/host-probe";
import { inNamespace, needNamespaces } from "../../support/namespace";

const OUR_MARKER = JSON.stringify(
    { version: 1, owner: 'a "token": "x"', token: "t1", put: { token: "t9" } },
    undefined,
    2,
);

/** What the machine has, what was decided on, and whether a program changes something there. */
const CASES: readonly {
    readonly title: string;
    readonly id?: string;
    readonly marker?: string;
    readonly machine: { readonly machineId: string; readonly token?: string };
    readonly runs: boolean;
}[] = [
    { title: "the same machine without a marker", id: "m1", machine: { machineId: "m1", token: "" }, runs: true },
    {
        title: "the same machine and marker",
        id: "m1",
        marker: OUR_MARKER,
        machine: { machineId: "m1", token: "t1" },
        runs: true,
    },
    { title: "another machine", id: "m2", machine: { machineId: "m1", token: "" }, runs: false },
    {
        title: "another machine with a copied marker",
        id: "m2",
        marker: OUR_MARKER,
        machine: { machineId: "m1", token: "t1" },
        runs: false,
    },
    {
        title: "a machine without an id, with the marker",
        marker: OUR_MARKER,
        machine: { machineId: "", token: "t1" },
        runs: true,
    },
    {
        title: "a machine without an id, with another marker",
        marker: OUR_MARKER,
        machine: { machineId: "", token: "t2" },
        runs: false,
    },
    {
        title: "a machine without an id, where one was decided on",
        machine: { machineId: "m1", token: "" },
        runs: false,
    },
    {
        title: "a copy with the same id and no marker",
        id: "m1",
        machine: { machineId: "m1", token: "t1" },
        runs: false,
    },
    {
        title: "a machine that was marked meanwhile",
        id: "m1",
        marker: OUR_MARKER,
        machine: { machineId: "m1", token: "" },
        runs: false,
    },
    { title: "a helper, whoever marked it", id: "m1", marker: OUR_MARKER, machine: { machineId: "m1" }, runs: true },
];

describe("a program that changes a host", () => {
    before(needNamespaces);

    for (const { title, id, marker, machine, runs } of CASES) {
        it(`${runs ? "runs on" : "does nothing on"} ${title}`, () => {
            const guard = new MachineGuard(machine);
            const { exitCode, said, seen } = inNamespace(
                "make-directories",
                { DIRECTORIES: "0755 /var/lib/made", ...guard.values },
                `rm -f /etc/machine-id /var/lib/dbus/machine-id; mkdir -p /etc/pulumi-mke
                ${id === undefined ? "" : `echo ${id} >/etc/machine-id`}
                ${marker === undefined ? "" : `cat >${MARKER_PATH} <<'END OF MARKER'\n${marker}\nEND OF MARKER`}`,
                "ls -d /var/lib/made 2>/dev/null || true",
            );
            assert.deepEqual(seen, runs ? ["/var/lib/made"] : []);
            const check = (): void =>
                guard.check(
                    { exitCode: exitCode ?? 0, stdout: Buffer.from(said), stderr: "" },
                    "making directories",
                    "10.0.0.1",
                );
            if (runs) return check();
            assert.throws(check, (error: Error) => error instanceof OtherMachineError && !error.retryable);
        });
    }

    it("writes no marker where one appeared since it was looked at, not even between its own look and the writing", () => {
        const other = OUR_MARKER.replace("t1", "theirs");
        const { exitCode, seen } = inNamespace(
            "write-file",
            {
                ...{ FILE: MARKER_PATH, MODE: "0600", CONTENT: Buffer.from("ours").toString("base64"), SIZE: "4" },
                ...new MachineGuard({ machineId: "", token: "" }).values,
            },
            // Another one writes its marker while ours is being prepared: mktemp is the first thing that is done then.
            `mkdir -p /etc/pulumi-mke
            printf '#!/bin/sh\\nprintf %%s "$OTHER" >${MARKER_PATH}; exec /usr/bin/mktemp "$@"\\n' >/run/fake/mktemp
            chmod 755 /run/fake/mktemp; export OTHER='${other}'`,
            `grep -c theirs ${MARKER_PATH}; ls -A /etc/pulumi-mke`,
        );
        assert.equal(exitCode, 86);
        assert.deepEqual(seen, ["1", "node.json"]);
    });
});

describe("the guard of an operation", () => {
    const tokens = (guard: MachineGuard): string | undefined => guard.values["ON_TOKENS"];

    it("follows the marks that the operation makes itself", async () => {
        const guard = new MachineGuard(machineOf({ machineId: "m1", marker: undefined }));
        assert.equal(tokens(guard), "=");
        await guard.marking("t1", async () => assert.equal(tokens(guard), "=\n=t1"));
        assert.equal(tokens(guard), "=t1");
        await guard.marking("", async () => assert.equal(tokens(guard), "=t1\n="));
        assert.equal(tokens(guard), "=");
    });

    it("takes either mark where it was not seen whether ours was written", async () => {
        const guard = new MachineGuard({ machineId: "m1", token: "old" });
        await assert.rejects(guard.marking("t1", () => Promise.reject(new Error("cut off"))));
        assert.equal(tokens(guard), "=old\n=t1");
    });

    it("says which machine was decided on, which one answers, and what to do", () => {
        const guard = new MachineGuard({ machineId: "m1", token: "t1" });
        const found = (line: string) => (): void =>
            guard.check({ exitCode: 86, stdout: Buffer.from(line), stderr: "" }, "stopping k0s", "10.0.0.1");
        assert.throws(
            found("another-machine\tm2\t\n"),
            /^OtherMachineError: stopping k0s on 10\.0\.0\.1: another machine answers there: machine m2; this operation was decided on machine m1\nNothing was done on it\. [^]*#other-machine$/,
        );
        assert.throws(
            found("another-machine\tm1\tt2\n"),
            /a machine with the marker of token t2; .* one with the marker of token t1/,
        );
        assert.throws(
            found("another-machine\tm1\t\n"),
            /a machine without our marker; .* one with the marker of token t1/,
        );
        assert.doesNotThrow(found("the program's own 86"));
    });

    it("goes with every program but those that only look", () => {
        assert.deepEqual(PROGRAM_NAMES.filter(onlyLooks), [
            "probe",
            "read-file",
            "exists",
            "file-size",
            "sha256",
            "k0s-version",
            "service-state",
            "journal",
            "describe-files",
            "list-files",
            "unknown-names",
            "selinux-rules",
            "find-units",
            "resolve",
        ]);
    });
});

describe("our marker", () => {
    before(needNamespaces);

    it("is for root alone, and goes with the guard", async () => {
        const sent: ProgramValues[] = [];
        const shell = {
            run: async (_name: string, values: ProgramValues) => {
                sent.push(values);
                return { exitCode: 0, stdout: Buffer.alloc(0), stderr: "" };
            },
        } as unknown as RootShell;
        const host = new UnboundSshHost("10.0.0.1", undefined as unknown as SshEndpoint, shell).onMachine({
            machineId: "m1",
            token: "",
        });
        await host.writeMarker(JSON.parse(OUR_MARKER) as HostMarker, Deadline.after(5000));
        const { FILE, MODE, ON_MACHINE, ON_TOKENS } = sent[0] ?? {};
        assert.deepEqual([FILE, MODE, ON_MACHINE, ON_TOKENS], [MARKER_PATH, "0600", "m1", "=\n=t1"]);
    });

    it("keeps its content where the new one did not arrive whole", () => {
        const { exitCode, stderr, seen } = inNamespace(
            "write-file",
            { FILE: MARKER_PATH, MODE: "0600", CONTENT: Buffer.from("hal").toString("base64"), SIZE: "4" },
            `mkdir -p /etc/pulumi-mke; printf whole >${MARKER_PATH}`,
            `cat ${MARKER_PATH}; echo; ls -A /etc/pulumi-mke`,
        );
        assert.equal(exitCode, 1);
        assert.match(stderr, /writing \/etc\/pulumi-mke\/node\.json failed; is the disk full\?/);
        assert.deepEqual(seen, ["whole", "node.json"]);
    });
});
