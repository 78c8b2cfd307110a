import { withoutValues } from "../adapters/k0s/given-values";
import { installFlags } from "../adapters/k0s/install-flags";
import { TOKEN_PATH } from "../adapters/k0s/paths";
import { cloudProviderFlags } from "../decide/cloud-provider";
import { etcdArchitectureFlags } from "../decide/etcd-architecture";
import { sharedFlags } from "../decide/shared-flags";
import { type Deadline, waitFor } from "../deadline";
import { CommandError, messageOf } from "../errors";
import { namesIn } from "../flags";
import { commandDeadline } from "./timing";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";

/** Long enough for k0s's own retries of a join (4 min), short enough to be worthless soon after a failure. */
const TOKEN_LIFETIME_SECONDS = 30 * 60;
const TOKEN_MODE = 0o600;
/** Decodable by nobody, recognised by the probe as blank; k0s reads the file only when it must join. */
const BLANK_TOKEN = "# used by pulumi-mke; the token was invalidated\n";
/** Its workers decode the token at every start (k0s#7202), so the invalidated one stays. */
const NEEDS_TOKEN_AT_START = "v1.35.1+k0s.0";

/**
 * Runs the join with a short-lived token on the host. Whatever happens, the token is of no use to anybody afterwards; where
 * the join failed, its error is the one that counts.
 */
export async function withJoinToken<T>(operation: HostOperation, join: () => Promise<T>): Promise<T> {
    const { token, id: tokenId } = await createJoinToken(operation, commandDeadline());
    let result: T;
    try {
        await operation.target.writeFile(TOKEN_PATH, token, TOKEN_MODE, commandDeadline());
        result = await join();
    } catch (error) {
        await retireJoinToken(operation, tokenId, commandDeadline()).catch((failure: unknown) => {
            operation.log.line(
                `the join token could not be retired, it expires by itself: ${messageOf(failure)}`,
                "quiet",
            );
        });
        throw error;
    }
    await retirePatiently(operation, tokenId, commandDeadline());
    return result;
}

/** k0s asks the API once, which a controller that joins may take away for a moment; the node is done by now. */
async function retirePatiently(operation: HostOperation, tokenId: string, deadline: Deadline): Promise<void> {
    await waitFor<true>({
        stage: "retiring the join token",
        host: operation.cluster.helper.address,
        deadline,
        seesItThrough: true,
        look: async () => {
            try {
                await retireJoinToken(operation, tokenId, deadline);
                return { done: true };
            } catch (error) {
                if (error instanceof CommandError) return { seen: error.details.output ?? error.message };
                throw error;
            }
        },
    });
}

/** Makes the token on the helper. It goes into a file of the host, never to a command line or a log. */
function createJoinToken(
    { cluster, kind }: HostOperation,
    deadline: Deadline,
): Promise<{ readonly token: string; readonly id: string }> {
    const { k0sPath, dataDir } = cluster.helperFacts;
    const request = { k0sPath, dataDir, role: kind, expirySeconds: TOKEN_LIFETIME_SECONDS };
    return cluster.helper.createJoinToken(request, deadline);
}

/**
 * With the flags that all controllers share, and those of the cluster's cloud provider in the first place, instead of a second
 * installation, and what etcd needs.
 */
export async function installService(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target, inputs, kind, peerAddress, hostFacts } = operation;
    const facts = {
        helperArgs: operation.cluster.helperFacts.args ?? [],
        role: inputs.role,
        installFlags: inputs.installFlags,
    };
    const flags = [
        ...sharedFlags(facts),
        ...cloudProviderFlags({ ...facts, mke: await hasCloudProvider(operation) }),
        ...etcdArchitectureFlags(inputs.role, hostFacts.arch, inputs.installFlags),
    ];
    try {
        await target.installService(inputs.k0s.installPath, kind, installFlags(inputs, peerAddress, flags), deadline);
    } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        const output = withoutValues(error.details.output ?? "", inputs);
        throw new CommandError({ ...error.details, output, retryable: error.retryable });
    }
    // Values may be anything.
    return flags.length === 0 ? undefined : `with ${[...new Set(namesIn(flags))].join(" ")}`;
}

async function hasCloudProvider({ clusterFacts, cluster }: HostOperation): Promise<boolean> {
    return clusterFacts.mke && (await cluster.kube.mke.config())?.cloudProvider === true;
}

/** Enabled as well: an interrupted removal may have disabled it. */
export async function startService({ target, kind, held }: HostOperation, deadline: Deadline): Promise<Outcome> {
    await held.prove();
    await target.service("enable", kind, deadline);
    await target.service("start", kind, deadline);
}

export async function restartService({ target, kind, held }: HostOperation, deadline: Deadline): Promise<Outcome> {
    await held.prove();
    await target.service("restart", kind, deadline);
}

/** A join of ours that was killed left its token on the host; nothing needs it any more. */
export async function blankLeftToken(
    { target, hostFacts, kind, inputs, cluster }: HostOperation,
    deadline: Deadline,
): Promise<void> {
    const isOurs = hostFacts.tokenFile === "token" && hostFacts.marker !== undefined;
    if (!isOurs || keepsToken(kind, inputs.k0s.version ?? cluster.helperFacts.k0sVersion)) return;
    await target.writeFile(TOKEN_PATH, BLANK_TOKEN, TOKEN_MODE, deadline);
}

function keepsToken(kind: HostOperation["kind"], version: string): boolean {
    return kind === "worker" && version === NEEDS_TOKEN_AT_START;
}

/** Invalid in the cluster, gone from the host; where one of the two fails, the other is done all the same. */
async function retireJoinToken(operation: HostOperation, tokenId: string, deadline: Deadline): Promise<void> {
    const { cluster, target, kind, inputs } = operation;
    const { k0sPath, dataDir, k0sVersion } = cluster.helperFacts;
    const keep = keepsToken(kind, inputs.k0s.version ?? k0sVersion);
    try {
        await cluster.helper.invalidateJoinToken(k0sPath, dataDir, tokenId, deadline);
    } finally {
        if (!keep) await target.writeFile(TOKEN_PATH, BLANK_TOKEN, TOKEN_MODE, deadline);
    }
}
