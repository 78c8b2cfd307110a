import { RESOURCES, type Simulation } from "../sim";

/** What an operation could change, a line each: of machines every file and what runs, of etcd the members, of Kubernetes what is set. */
export function pictureOf(sim: Simulation): readonly string[] {
    return [
        ...sim.hosts.flatMap(({ name, files, units }) => [
            ...files.inventory().map((line) => `${name}: ${line}`),
            `${name}: runs ${units.running?.name ?? "nothing"}`,
        ]),
        ...sim.members().map(({ id, name, learner }) => `etcd: ${id.toString(16)} ${name} learner=${learner}`),
        ...[RESOURCES.nodes, RESOURCES.etcdMembers, RESOURCES.controlNodes, RESOURCES.pods].flatMap((kind) =>
            sim.cluster.store.list(kind).map(({ metadata, spec }) => {
                const { name, uid, labels, annotations } = metadata;
                return `${kind.kind}: ${JSON.stringify({ name, uid, labels, annotations, cordoned: spec?.["unschedulable"] })}`;
            }),
        ),
    ];
}

/** Lines that only one of them has. */
export function differences(before: readonly string[], after: readonly string[]): readonly string[] {
    return [
        ...before.filter((line) => !after.includes(line)).map((line) => `gone: ${line}`),
        ...after.filter((line) => !before.includes(line)).map((line) => `new: ${line}`),
    ];
}
