import { DROP_INS } from "../adapters/k0s/containerd-config";
import type { Deadline } from "../deadline";
import { defined } from "../defined";
import type { Machine } from "./operation";
import { nothingToDo, type Outcome, withWarning } from "./stage";
import { unlabelSelinux } from "./label-selinux";
import { putOn } from "./record-operation";

/** Stops and disables the unit, so that nothing restarts k0s between leaving and resetting (k0s-interfaces.md 3.5). */
export async function stopService({ target, kind }: Machine, deadline: Deadline): Promise<Outcome> {
    await target.service("disable", kind, deadline);
    await target.service("stop", kind, deadline);
}

/** `k0s reset` is best effort, as the matrix has it: what it leaves is cleaned up afterwards, and its reasons are shown. */
export async function resetHost({ target, inputs, log, hostFacts }: Machine, deadline: Deadline): Promise<Outcome> {
    const path = hostFacts.binary?.path ?? inputs.k0s.installPath;
    if (hostFacts.binary === undefined) return nothingToDo("k0s is not installed; nothing to reset");
    const { exitCode, output } = await target.reset(path, dirsOf(inputs), deadline);
    if (exitCode === 0) return;
    output
        .split("\n")
        .slice(-5)
        .forEach((line) => log.line(`  k0s reset: ${line}`, "quiet"));
    return withWarning(`k0s reset ended with exit ${exitCode}, cleaning up what it left`);
}

/** Removes what k0s and we put on the host and `k0s reset` leaves behind, the marker last. */
export async function cleanFolders(machine: Machine, deadline: Deadline): Promise<Outcome> {
    const { target, inputs, progress } = machine;
    const binary = progress.installedBinary ? inputs.k0s.installPath : "";
    const { files = [], directories = [] } = putOn(machine) ?? {};
    const put = [...files, ...directories];
    const { left } = await target.cleanUp({ ...dirsOf(inputs), put }, binary, deadline);
    const alsoLeft = await takeAway(machine, deadline);
    const all = [...left, ...alsoLeft];
    return all.length === 0 ? "clean" : withWarning(`could not remove ${all.join(", ")}`);
}

/** Removes what we put on the host beside k0s, and then the marker that names it (safety.md 15). */
export async function takeAway(machine: Machine, deadline: Deadline): Promise<readonly string[]> {
    const { target, progress } = machine;
    const put = putOn(machine);
    let left: readonly string[] = [];
    if (put !== undefined) {
        await unlabelSelinux(machine, deadline);
        const innerFirst = [...put.directories].sort((a, b) => b.length - a.length);
        left = await target.material.remove(put.files, [...innerFirst, ...EMPTIED], deadline);
    }
    await target.removeMarker(deadline);
    progress.marked = { record: undefined, put: undefined };
    return left;
}

/** Left by the cleaning of k0s's folders only because our files were still in them. */
const EMPTIED = [DROP_INS, "/etc/k0s"];

function dirsOf({ dataDir, kubeletRootDir }: Machine["inputs"]): { dataDir: string; kubeletRootDir?: string } {
    return { dataDir, ...defined({ kubeletRootDir }) };
}
