import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { preflightProblems } from "../../provider/decide/preflight";
import type { HostFacts } from "../../provider/facts/host";
import type { Preflight, Role } from "../../provider/inputs";
import { blankHost, NOW } from "./build";

const WANTED: Preflight = {
    ...{ os: true, minCpus: 2, minMemoryMiB: 1000, minDiskMiB: 5000, cgroupV2: true },
    maxClockSkew: 30,
};
const OTHER_OS = { id: "plan9", idLike: [], versionId: "4", name: "Plan 9" };

const problems = (host: Partial<HostFacts>, wanted: Partial<Preflight> = {}, role: Role = "worker"): string[] =>
    preflightProblems(blankHost("w1", host), { ...WANTED, ...wanted }, role);

describe("a host that is to become a node", () => {
    it("is fine with just what is wanted", () => {
        assert.deepEqual(problems({ cpus: 2, memoryMiB: 1000, diskFreeMiB: 5000 }), []);
    });

    it("is told everything it lacks at once", () => {
        assert.deepEqual(problems({ cpus: 1, memoryMiB: 999, diskFreeMiB: 4999, cgroupVersion: 1 }), [
            "CPUs: 1 found, 2 wanted",
            "memory: 999 MiB found, 1000 MiB wanted",
            "free disk: 4999 MiB found, 5000 MiB wanted",
            "cgroup v2 is wanted, found v1",
        ]);
    });

    it("has an operating system k0s runs on, or one that is like it", () => {
        assert.match(problems({ os: OTHER_OS })[0] ?? "", /^operating system Plan 9 is not one of ubuntu, /);
        assert.deepEqual(problems({ os: { ...OTHER_OS, idLike: ["rhel", "fedora"] } }), []);
        for (const id of ["flatcar", "alpine", "sles"]) assert.deepEqual(problems({ os: { ...OTHER_OS, id } }), []);
        const tumbleweed = { ...OTHER_OS, id: "opensuse-tumbleweed", idLike: ["opensuse", "suse"] };
        assert.deepEqual(problems({ os: tumbleweed }), []);
    });

    it("needs cgroup v2 only where a kubelet will run", () => {
        assert.deepEqual(problems({ cgroupVersion: undefined }, {}, "controller+worker"), [
            "cgroup v2 is wanted, found none",
        ]);
        assert.deepEqual(problems({ cgroupVersion: 1 }, {}, "controller"), []);
    });

    it("has a clock that is not more than 30 s off the API server's", () => {
        const found = (clock: number, look = { asked: NOW, answered: NOW }, wanted: Partial<Preflight> = {}) =>
            preflightProblems(blankHost("w1", { clock: NOW / 1000 + clock }), { ...WANTED, ...wanted }, "worker", look);
        assert.deepEqual([...found(31), ...found(-31)], []);
        assert.match(
            found(32).join(),
            /^its clock is 31 s ahead of the API server's, 30 s are allowed \(preflight\.maxClockSkew\): synchronise/,
        );
        assert.match(found(-7200).join(), /7199 s behind/);
        const slow = { asked: NOW, answered: NOW + 20_000 };
        assert.deepEqual([...found(51, slow), ...found(-31, slow)], []);
        assert.equal([...found(52, slow), ...found(-32, slow)].length, 2);
        assert.equal(found(9, undefined, { maxClockSkew: 5 }).length, 1);
        assert.deepEqual(found(9999, undefined, { maxClockSkew: false }), []);
    });

    it("is not checked for what the program turns off", () => {
        const off = {
            os: false,
            minCpus: false,
            minMemoryMiB: false,
            minDiskMiB: false,
            cgroupV2: false,
            maxClockSkew: false,
        } as const;
        const weak = { os: OTHER_OS, cpus: 0, memoryMiB: 0, diskFreeMiB: 0, cgroupVersion: 1 } as const;
        assert.deepEqual(problems(weak, off), []);
        assert.equal(problems(weak).length, 5);
    });
});
