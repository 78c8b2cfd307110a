import type { SelinuxRule } from "../adapters/host/material";
import { type NodePaths, selinuxPaths, selinuxRules } from "../decide/selinux";
import type { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import type { HostOperation, Machine } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { countOf } from "./copy-files";
import { notePut, putOn } from "./record-operation";

/**
 * Where SELinux is enabled: adds the rules that k0s asks for, those that are missing, and labels what is there (spec/002,
 * "SELinux labels"). Fails where `semanage` is missing and where the host has another label for the same paths.
 */
export async function labelSelinux(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target, hostFacts } = operation;
    if (hostFacts.selinux === "disabled") return nothingToDo("the host has no SELinux");
    const paths = pathsOf(operation);
    const wanted = selinuxRules(paths);
    const present = new Map((await target.material.selinuxRules(deadline)).map(({ pattern, type }) => [pattern, type]));
    const conflicts = wanted.filter(({ pattern, type }) => (present.get(pattern) ?? type) !== type);
    if (conflicts.length > 0) throw refused(operation, conflicts, present);
    const add = wanted.filter(({ pattern }) => !present.has(pattern));
    await notePut(operation, { selinux: add.map(({ pattern }) => pattern) }, deadline);
    show(operation, await target.material.labelSelinux({ add, relabel: selinuxPaths(paths) }, deadline));
    return `${hostFacts.selinux}, ${countOf(add.length, "rule")} added`;
}

/** What k0s has unpacked since has the label of its directory until then. */
export async function relabelSelinux(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target } = operation;
    show(operation, await target.material.labelSelinux({ relabel: selinuxPaths(pathsOf(operation)) }, deadline));
}

/** Takes away the rules that we added, and nothing that somebody else took away before. */
export async function unlabelSelinux(machine: Machine, deadline: Deadline): Promise<void> {
    const ours = putOn(machine)?.selinux ?? [];
    if (ours.length === 0) return;
    const { material } = machine.target;
    const present = (await material.selinuxRules(deadline)).map(({ pattern }) => pattern);
    const gone = ours.filter((pattern) => present.includes(pattern));
    if (gone.length === 0) return;
    show(machine, await material.labelSelinux({ delete: gone, relabel: ["/etc/cni", "/opt/cni"] }, deadline));
}

function pathsOf({ inputs }: HostOperation): NodePaths {
    return { dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath };
}

function refused(
    { target }: HostOperation,
    conflicts: readonly SelinuxRule[],
    present: ReadonlyMap<string, string>,
): RefusedError {
    const differences = conflicts.map(
        ({ pattern, type }) => `${pattern} is ${present.get(pattern)}, k0s asks for ${type}`,
    );
    return new RefusedError({
        stage: "labelling for SELinux",
        host: target.address,
        what: `the host has other labels of its own: ${differences.join("; ")}`,
        advice: "Remove them with `semanage fcontext -d`, or make them alike.",
    });
}

function show({ log }: Pick<Machine, "log">, said: string): void {
    said.split("\n")
        .filter((line) => line !== "")
        .slice(-5)
        .forEach((line) => log.line(`  restorecon: ${line}`));
}
