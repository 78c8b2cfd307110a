import { posix } from "node:path";
import { isMadeByK0s } from "../adapters/k0s/references";
import type { Deadline } from "../deadline";
import { defined } from "../defined";
import { CommandError } from "../errors";
import type { HostOperation, Machine } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { splitCommandLine } from "../facts/unit-command";
import {
    type CopyPlan,
    isOurs,
    lookAtBoth,
    missingDirectories,
    type PlannedFile,
    putCopies,
    readOnHelper,
} from "./copy-files";
import { notePut, putOn } from "./record-operation";

/** Where MKE 4 installs it (mke4-node-lifecycle.md 4). */
export const ETCD_MAINTENANCE = "/usr/local/bin/etcd-maintenance";
const STAGE = "installing etcd maintenance";

/** The service as the helper has it. */
export interface MaintenanceService {
    /** Units and drop-ins. */
    readonly unitFiles: readonly string[];
    readonly texts: readonly string[];
}

/** undefined: the cluster does without it. */
export async function findMaintenance(
    { cluster: { helper } }: HostOperation,
    deadline: Deadline,
): Promise<MaintenanceService | undefined> {
    if (!(await helper.exists(ETCD_MAINTENANCE, deadline))) return undefined;
    const unitFiles = await helper.material.unitsOf(ETCD_MAINTENANCE, deadline);
    if (!unitFiles.some(isUnit)) return undefined;
    const texts = await Promise.all(
        unitFiles.map(async (path) => (await helper.readFile(path, deadline))?.toString("utf8") ?? ""),
    );
    return { unitFiles, texts };
}

/**
 * Gives the controller the program, its unit and the files the unit names, as they are on the helper, and starts it (spec/002,
 * "Etcd maintenance service installation"). What the host has already stays, and is started all the same.
 */
export async function installMaintenance(
    operation: HostOperation,
    service: MaintenanceService,
    deadline: Deadline,
): Promise<Outcome> {
    const { target, cluster, hostFacts } = operation;
    if (hostFacts.init !== "systemd") return nothingToDo("the host has no systemd, left out");
    const { plan, hasProgram } = await planFiles(operation, service, deadline);
    const units = service.unitFiles.filter(isUnit).map((path) => posix.basename(path));
    const planned = plan.files.map(({ path }) => posix.basename(path));
    await notePut(
        operation,
        { files: hasProgram ? [] : [ETCD_MAINTENANCE], units: units.filter((unit) => planned.includes(unit)) },
        deadline,
    );
    if (!hasProgram || isOurs(operation, ETCD_MAINTENANCE)) await copyProgram(operation, deadline);
    await putCopies(operation, plan, deadline);
    await target.material.own([...plan.directories, ...plan.files], deadline);
    for (const unit of units) await target.material.unit("up", unit, deadline);
    return `${units.join(", ")} from ${cluster.helper.address}`;
}

/** Unit files and what they name, as far as the target lacks them or has them from an earlier run of ours. */
async function planFiles(
    operation: HostOperation,
    { unitFiles, texts }: MaintenanceService,
    deadline: Deadline,
): Promise<{ readonly plan: CopyPlan; readonly hasProgram: boolean }> {
    const { dataDir } = operation.cluster.helperFacts;
    const named = texts.flatMap(filesInUnit).filter((path) => !isMadeByK0s(path, dataDir));
    const paths = [...new Set([...named, ...unitFiles])].filter((path) => path !== ETCD_MAINTENANCE);
    const seen = await lookAtBoth(operation, [...paths, ETCD_MAINTENANCE], deadline);
    const files: PlannedFile[] = [];
    for (const path of paths) {
        const sides = seen.get(path);
        if (sides?.helper.kind !== "file") continue;
        if (sides.target.kind !== "absent" && !isOurs(operation, path)) continue;
        files.push({ ...sides.helper, content: await readOnHelper(operation, STAGE, path, deadline) });
    }
    const needed = files.map(({ path }) => path);
    const plan = { files, directories: missingDirectories(operation, needed, seen), orphans: [] };
    return { plan, hasProgram: seen.get(ETCD_MAINTENANCE)?.target.kind !== "absent" };
}

/** Stops and removes the units that we installed; their files go with all others that we put there. */
export async function removeMaintenance(operation: Machine, deadline: Deadline): Promise<Outcome> {
    const { target } = operation;
    const put = putOn(operation);
    for (const unit of put?.units ?? []) {
        await target.material.unit("down", unit, deadline);
        const files = (put?.files ?? []).filter((path) => isOfUnit(path, unit));
        const left = await target.material.remove(
            files,
            files.map((path) => posix.dirname(path)).filter(isDropInDirectory),
            deadline,
        );
        if (left.length > 0) {
            throw new CommandError({
                stage: "removing etcd maintenance",
                host: target.address,
                what: `cannot remove ${left.join(", ")}`,
            });
        }
        await target.material.unit("forget", unit, deadline);
    }
    return (put?.units ?? []).join(", ");
}

/** Files named by a unit: of `EnvironmentFile=`, and absolute paths among the arguments of its commands. */
function filesInUnit(text: string): string[] {
    return text.split("\n").flatMap((line) => {
        const [, key, value = ""] = /^\s*(EnvironmentFile|Exec[A-Za-z]*|LoadCredential)=(.*)$/.exec(line) ?? [];
        if (key === undefined) return [];
        if (key === "EnvironmentFile") return absolute(value.replace(/^-/, ""));
        return splitCommandLine(value)
            .slice(1)
            .flatMap((argument) => absolute(argument.replace(/^[^/]*[=:]/, "")));
    });
}

function absolute(path: string): string[] {
    const trimmed = path.trim();
    return trimmed.startsWith("/") ? [posix.normalize(trimmed)] : [];
}

async function copyProgram({ cluster: { helper }, target }: HostOperation, deadline: Deadline): Promise<void> {
    const [sha256, file] = await Promise.all([
        helper.sha256(ETCD_MAINTENANCE, deadline),
        helper.openFile(ETCD_MAINTENANCE, deadline),
    ]);
    const expected = { size: file.size, ...defined({ sha256 }) };
    await target.putExecutable(ETCD_MAINTENANCE, file.content, expected, deadline);
}

function isUnit(path: string): boolean {
    return path.endsWith(".service");
}

function isOfUnit(path: string, unit: string): boolean {
    return path.endsWith(`/${unit}`) || path.includes(`/${unit}.d/`);
}

function isDropInDirectory(path: string): boolean {
    return path.endsWith(".service.d");
}
