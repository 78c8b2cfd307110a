import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts, UnitFacts } from "../facts/host";
import type { Role } from "../inputs";
import { addressesOf, sharedAddresses } from "../address";
import { defined } from "../defined";
import { describeMember } from "./cluster-health";

export type RoleVerdict =
    | { readonly ok: true }
    | {
          readonly ok: false;
          readonly why: string;
          readonly evidence: readonly string[];
          /** The class and role that the host is; absent where it is none of them. */
          readonly advice?: string;
      };

/**
 * safety.md 3: the role on the host against the role of the resource, before anything else. A worker pipeline on a controller
 * would leave a ghost in etcd; a controller pipeline on a worker would wipe somebody's workload.
 */
export function checkRole(wanted: Role, host: HostFacts, cluster: Pick<ClusterFacts, "members">): RoleVerdict {
    const evidence = wanted === "worker" ? controllerTraces(host, cluster) : workerTraces(host, wanted);
    if (evidence.length === 0) return { ok: true };
    const advice = adviceFor(wanted, host);
    return { ok: false, why: `the resource is a ${wanted}, the host is not`, evidence, ...defined({ advice }) };
}

/** By its service and what its k0s says: data that etcd left make no node. */
function adviceFor(wanted: Role, { units, status }: HostFacts): string | undefined {
    const found = roleOf(units, status);
    if (found === undefined) return undefined;
    if (found === "single") return "A single node (`k0s controller --single`) can be no node of a cluster of several.";
    if (found === "worker") return "It is a worker: use MkeWorkerNode for it.";
    const role = `role: ${JSON.stringify(found)}`;
    return `It is a controller: use ${wanted === "worker" ? `MkeControllerNode with ${role}` : role} for it.`;
}

function roleOf(units: HostFacts["units"], status: HostFacts["status"]): Role | "single" | undefined {
    if (status.state === "answers" && status.role === "controller") {
        if (status.singleNode) return "single";
        return status.workloads ? "controller+worker" : "controller";
    }
    if (units.controller !== undefined) return runsWorker(units.controller) ? "controller+worker" : "controller";
    const isWorker = units.worker !== undefined || status.state === "answers";
    return isWorker ? "worker" : undefined;
}

function controllerTraces(host: HostFacts, { members }: Pick<ClusterFacts, "members">): string[] {
    const { units, status, data } = host;
    const addresses = addressesOf(host);
    return [
        ...when(units.controller !== undefined, "the service k0scontroller is installed"),
        ...when(status.state === "answers" && status.role === "controller", "k0s status says controller"),
        ...when(data.etcdMember || data.etcdDatabase, `${data.dir}/etcd/member exists`),
        ...members
            .filter((member) => sharedAddresses(member.peerHosts, addresses).length > 0)
            .map((member) => `etcd lists member ${describeMember(member)}`),
    ];
}

function workerTraces({ units, status }: HostFacts, wanted: Exclude<Role, "worker">): string[] {
    return [
        ...when(units.worker !== undefined, "the service k0sworker is installed"),
        ...when(status.state === "answers" && status.role === "worker", "k0s status says worker"),
        ...workloadTraces(units.controller, status, wanted),
    ];
}

/** A controller that runs workloads is another role than one that does not, and a single node can never be joined. */
function workloadTraces(
    unit: UnitFacts | undefined,
    status: HostFacts["status"],
    wanted: Exclude<Role, "worker">,
): string[] {
    const workloads = wanted === "controller+worker";
    const isRunning = status.state === "answers" && status.role === "controller";
    return [
        ...when(isRunning && status.singleNode, "k0s status says single node"),
        ...when(isRunning && status.workloads !== workloads, `k0s status says workloads=${!workloads}`),
        ...when(
            unit !== undefined && runsWorker(unit) !== workloads,
            `the service k0scontroller is installed ${workloads ? "without" : "with"} --enable-worker`,
        ),
    ];
}

/** `--single` implies a worker. */
export function runsWorker({ args }: UnitFacts): boolean {
    return args.some((arg) => /^--(enable-worker|single)(=true)?$/.test(arg));
}

function when(found: boolean, evidence: string): string[] {
    return found ? [evidence] : [];
}
