import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { findK0sLayer, openK0s } from "../adapters/registry/k0s-artifact";
import type { Deadline } from "../deadline";
import { defined } from "../defined";
import { CommandError, InputError, RefusedError } from "../errors";
import type { HostOperation } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { openRegistry } from "./registry-access";

const STAGE = "staging k0s";

/**
 * Puts the k0s program on the host in the wanted version (default: the helper's): already there, else from a local file,
 * else from `downloadUrl`, else from a registry through us, else copied from the helper through us.
 */
export async function stageBinary(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { inputs, target, cluster } = operation;
    const path = inputs.k0s.installPath;
    const wanted = inputs.k0s.version ?? cluster.helperFacts.k0sVersion;
    if ((await target.k0sVersion(path, deadline)) === wanted) return nothingToDo(`${wanted} is already there`);
    const source = await putBinary(operation, path, deadline);
    operation.progress.installedBinary = true;
    const found = await target.k0sVersion(path, deadline);
    if (found !== wanted) throw wrongVersion(operation, found, wanted);
    return `${wanted} ${source}`;
}

async function putBinary(operation: HostOperation, path: string, deadline: Deadline): Promise<string> {
    const { localPath, downloadUrl, ociArtifact, sha256 } = operation.inputs.k0s;
    if (localPath !== undefined) return putLocalFile(operation, localPath, path, deadline);
    if (downloadUrl !== undefined) {
        await operation.target.downloadExecutable(downloadUrl, path, sha256, deadline);
        return "downloaded";
    }
    if (ociArtifact !== undefined) return putArtifact(operation, ociArtifact, path, deadline);
    return copyFromHelper(operation, path, deadline);
}

async function putLocalFile(
    { target, inputs }: HostOperation,
    localPath: string,
    path: string,
    deadline: Deadline,
): Promise<string> {
    const size = await sizeOf(localPath);
    const { sha256 } = inputs.k0s;
    await target.putExecutable(path, createReadStream(localPath), { size, ...defined({ sha256 }) }, deadline);
    return "from a local file";
}

async function sizeOf(localPath: string): Promise<number> {
    try {
        return (await stat(localPath)).size;
    } catch (cause) {
        throw new InputError({ stage: STAGE, what: `k0s.localPath ${localPath} cannot be read`, cause });
    }
}

/** Through this process, so that the registry's login never gets to the host. */
async function putArtifact(
    operation: HostOperation,
    artifact: string,
    path: string,
    deadline: Deadline,
): Promise<string> {
    const { registry, reference } = await openRegistry(operation, artifact, STAGE);
    const layer = await findK0sLayer(registry, reference, operation.hostFacts.arch, deadline);
    const { content, ...expected } = await openK0s(registry, reference, layer, deadline);
    await operation.target.putExecutable(path, content, expected, deadline);
    return `from ${reference.registry}`;
}

async function copyFromHelper(
    { target, cluster, hostFacts }: HostOperation,
    path: string,
    deadline: Deadline,
): Promise<string> {
    const { k0sPath, arch, address } = cluster.helperFacts;
    if (arch !== hostFacts.arch) {
        throw new RefusedError({
            stage: STAGE,
            host: target.address,
            what: `the host is ${hostFacts.arch}, but ${address} could only lend a program for ${arch}`,
            advice: "Give `k0s.downloadUrl` or `k0s.localPath` for this architecture.",
        });
    }
    const [sha256, file] = await Promise.all([
        cluster.helper.sha256(k0sPath, deadline),
        cluster.helper.openFile(k0sPath, deadline),
    ]);
    await target.putExecutable(path, file.content, { size: file.size, ...defined({ sha256 }) }, deadline);
    return `copied from ${address}`;
}

function wrongVersion({ target, inputs }: HostOperation, found: string | undefined, wanted: string): CommandError {
    return new CommandError({
        stage: STAGE,
        host: target.address,
        what: `${inputs.k0s.installPath} is ${found ?? "not a k0s program that runs"}, wanted ${wanted}`,
        advice: "Make `k0s.version` and the binary source agree, or drop `k0s.version` to take the cluster's.",
    });
}
