import { findK0sLayer } from "../adapters/registry/k0s-artifact";
import { withPort } from "../address";
import { unchanged } from "../decide/refusal";
import { type Deadline, waitFor } from "../deadline";
import { hostOf } from "../facts/cluster-view";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";
import { openRegistry } from "./registry-access";

const STAGE = "verifying the registry";
/** Enough for a registry that restarts; one that is not there is to be told soon. */
const PATIENCE = 20_000;
const REACH = 5_000;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** True where the program will be fetched from somewhere: not with the wanted version on the host already. */
export function needsSource({ inputs, hostFacts, cluster }: HostOperation): boolean {
    const { ociArtifact, downloadUrl, version, installPath } = inputs.k0s;
    if (ociArtifact === undefined && downloadUrl === undefined) return false;
    const { binary } = hostFacts;
    return binary?.path !== installPath || binary.version !== (version ?? cluster.helperFacts.k0sVersion);
}

/**
 * The artifact is there and holds a program for the host (spec/002, "Registry verification"), asked from here, because it is
 * this process that fetches it later. A `downloadUrl` is the host's own to fetch: only its way there is tried, and only told,
 * because the host may have a proxy.
 */
export async function verifySource(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { ociArtifact, downloadUrl } = operation.inputs.k0s;
    if (ociArtifact !== undefined) return verifyArtifact(operation, ociArtifact, deadline);
    return downloadUrl === undefined ? undefined : tryDownload(operation, downloadUrl, deadline);
}

async function verifyArtifact(operation: HostOperation, artifact: string, deadline: Deadline): Promise<Outcome> {
    const { registry, reference } = await openRegistry(operation, artifact, STAGE);
    return waitFor<string>({
        stage: STAGE,
        host: operation.inputs.host,
        deadline: deadline.within(PATIENCE),
        advice: unchanged(operation.begunBefore),
        look: async () => {
            const { digest } = await findK0sLayer(registry, reference, operation.hostFacts.arch, deadline);
            return { done: digest };
        },
    });
}

async function tryDownload({ target }: HostOperation, downloadUrl: string, deadline: Deadline): Promise<Outcome> {
    const { port: given, protocol } = new URL(downloadUrl);
    const host = hostOf(downloadUrl);
    const port = given === "" ? (protocol === "https:" ? HTTPS_PORT : HTTP_PORT) : Number(given);
    const server = withPort({ host, port });
    const answer = await target.reach(host, port, deadline.within(REACH));
    return answer === "open" ? `${server} is open` : `${server} is ${answer}; the download will tell`;
}
