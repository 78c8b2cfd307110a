/**
 * The way in: what Pulumi's state refers to as `require("pulumi-mke/provider")`, by these names, for as long as any state
 * exists. Everything is loaded when it is first needed, so that a preview loads neither SSH nor Kubernetes nor etcd.
 */
import { asOperation, watchEngine } from "./engine";
import type { NodeInputs, NodeKind } from "./inputs";
import { prefixedLog } from "./log";
import { tellingEnd } from "./progress";
import type { CheckResult } from "./resource/check";
import type { DiffResult } from "./resource/diff";
import type { Bag } from "./resource/shape";
import type { NodeOutputs } from "./resource/state";
import { toldOnce } from "./told-once";

/** What the operations on a real machine offer. The bags are Pulumi's own and carry `__provider` besides. */
export interface Operations {
    create(kind: NodeKind, inputs: NodeInputs): Promise<{ id: string; outs: NodeOutputs }>;
    /** `{}`: gone from host and cluster. */
    read(kind: NodeKind, id: string, outs: NodeOutputs): Promise<{ id?: string; props?: NodeOutputs }>;
    update(kind: NodeKind, id: string, olds: NodeOutputs, news: NodeInputs): Promise<{ outs: NodeOutputs }>;
    remove(kind: NodeKind, id: string, outs: NodeOutputs): Promise<void>;
}

/** The methods that Pulumi calls, through the text stored with each resource. */
export interface NodeProvider {
    check(olds: Bag, news: Bag): Promise<CheckResult>;
    diff(id: string, olds: Bag, news: Bag): Promise<DiffResult>;
    create(inputs: Bag): Promise<{ id: string; outs: Bag }>;
    read(id: string, outs: Bag): Promise<{ id?: string; props?: Bag }>;
    update(id: string, olds: Bag, news: Bag): Promise<{ outs: Bag }>;
    delete(id: string, outs: Bag): Promise<void>;
}

watchEngine();

export const controller: NodeProvider = providerOf("controller");
export const worker: NodeProvider = providerOf("worker");

function providerOf(kind: NodeKind): NodeProvider {
    return {
        async check(_olds, news) {
            load.known().rememberWanted(kind, news);
            return load.check().check(kind, news);
        },

        async diff(_id, olds, news) {
            // A resource stays in its cluster: hosts it names from now on belong to those it named before.
            remember(load.migrations().migratedOutputs(olds), { ...news, clusterId: olds["clusterId"] });
            load.permissions().rememberPermissions(kind, news);
            return load.diff().diff(olds, news);
        },

        async create(inputs) {
            remember(inputs);
            const { id, outs } = await asOperation(() =>
                tellingEnd(nameOf(inputs), "created", () => load.create().create(kind, asChecked(inputs))),
            );
            return { id, outs: load.state().encodeOutputs(outs) };
        },

        async read(id, outs) {
            // A `read` that throws would abort the refresh of the whole stack.
            if (load.migrations().isLater(outs)) return leaveLater(id, outs);
            return toldOnce(nameOf(outs), () => refreshed(kind, id, outs));
        },

        async update(id, olds, news) {
            remember(news);
            const kept = readable(olds);
            const { outs } = await asOperation(() =>
                tellingEnd(nameOf(news), "updated", () => load.update().update(kind, id, kept, asChecked(news))),
            );
            return { outs: load.state().encodeOutputs(outs) };
        },

        async delete(id, outs) {
            await toldOnce(nameOf(outs), async () => {
                const kept = readable(outs);
                await asOperation(() =>
                    tellingEnd(nameOf(outs), "deleted", () => load.delete().remove(kind, id, kept)),
                );
            });
        },
    };
}

async function refreshed(kind: NodeKind, id: string, outs: Bag): Promise<{ id?: string; props?: Bag }> {
    const kept = readable(outs);
    const { id: found, props } = await asOperation(() => load.read().read(kind, id, kept));
    // Without an id Pulumi takes the resource out of its state.
    return found === undefined || props === undefined ? {} : { id: found, props: load.state().encodeOutputs(props) };
}

/** Literal names: each is loaded with everything behind it by the first call that needs it. */
const load = {
    check: () => require("./resource/check") as typeof import("./resource/check"),
    diff: () => require("./resource/diff") as typeof import("./resource/diff"),
    migrations: () => require("./resource/migrations") as typeof import("./resource/migrations"),
    state: () => require("./resource/state") as typeof import("./resource/state"),
    known: () => require("./resource/known-controllers") as typeof import("./resource/known-controllers"),
    ownership: () => require("./resource/ownership") as typeof import("./resource/ownership"),
    permissions: () => require("./resource/permissions") as typeof import("./resource/permissions"),
    create: () => require("./resource/create") as Pick<Operations, "create">,
    read: () => require("./resource/read") as Pick<Operations, "read">,
    update: () => require("./resource/update") as Pick<Operations, "update">,
    delete: () => require("./resource/delete") as Pick<Operations, "remove">,
};

/** State of an earlier version as today's; it is stored so with the next thing that is. */
function readable(outs: Bag): NodeOutputs {
    const { assertReadable, migratedOutputs } = load.migrations();
    assertReadable(outs);
    const today = migratedOutputs(outs);
    remember(today);
    return today as unknown as NodeOutputs;
}

/** Pulumi hands on what `check` answered. */
function asChecked(inputs: Bag): NodeInputs {
    return inputs as unknown as NodeInputs;
}

function leaveLater(id: string, outs: Bag): { id: string; props: Bag } {
    const log = prefixedLog(nameOf(outs));
    log.line("its state was written by a later version of pulumi-mke, and stays as it is", "quiet");
    return { id, props: outs };
}

function nameOf(outs: Bag): string {
    return load.state().resourceName(outs);
}

function remember(...bags: readonly Bag[]): void {
    bags.forEach((bag) => {
        load.known().rememberControllers(bag);
        load.ownership().rememberToken(bag);
    });
}
