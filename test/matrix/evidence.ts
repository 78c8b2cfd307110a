import type { SimEvent } from "../sim";
import type { World } from "./world";

const READS: ReadonlySet<string> = new Set([
    "probe",
    "read-file",
    "exists",
    "file-size",
    "sha256",
    "service-state",
    "journal",
    "k0s-version",
    "list-files",
]);

/** What a client did since that event: commands that write, files sent or fetched, changes through the API and in etcd. */
export function writesSince(world: World, start: number): readonly SimEvent[] {
    return world.sim.events.slice(start).filter(({ kind, what }) => {
        if (kind === "program") return !READS.has(what);
        return kind === "stream" || kind === "api-write" || kind === "etcd-write" || kind === "problem";
    });
}

/** Everything that a client could change, as text: files and services of all hosts, members and leader, all objects. */
export function picture(world: World): readonly string[] {
    const { sim } = world;
    return [
        ...sim.hosts.flatMap((host) => [
            ...host.files.inventory().map((line) => `${host.name} ${line}`),
            ...(["k0scontroller", "k0sworker"] as const).flatMap((name) => {
                const unit = host.units.get(name);
                return unit === undefined
                    ? []
                    : [`${host.name} ${name} ${unit.active} ${unit.enabled} ${unit.args.join(" ")}`];
            }),
        ]),
        ...sim.world.clusters.flatMap((cluster) => [
            ...cluster.etcd.members.map(
                ({ id, name, peerAddress, learner }) => `${id} ${name} ${peerAddress} ${learner}`,
            ),
            ...cluster.store.all().map((object) => JSON.stringify(object)),
        ]),
    ];
}

/** Lines that only one of the two has. */
export function differences(before: readonly string[], after: readonly string[]): string[] {
    const [then, now] = [new Set(before), new Set(after)];
    const gone = before.filter((line) => !now.has(line)).map((line) => `- ${line}`);
    return [...gone, ...after.filter((line) => !then.has(line)).map((line) => `+ ${line}`)];
}

export function describeEvent({ kind, host, what, values }: SimEvent): string {
    const action = kind === "program" && values?.["ACTION"] !== undefined ? ` ${values["ACTION"]}` : "";
    return `${kind} ${what}${action}${host === undefined ? "" : ` on ${host}`}`;
}
