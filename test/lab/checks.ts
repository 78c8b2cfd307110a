import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { etcdMembersSeenFrom, kubectl, membersSeenFrom, memberTable, namesOf, readyNodes, tracesOn } from "./inspect";
import { type Machine, on } from "./machines";

/** What the cluster and the machines should have come to. */
export interface Expected {
    /** Seen from the first of them. */
    readonly controllers: readonly [Machine, ...Machine[]];
    readonly workers?: readonly Machine[];
    /** Of the controllers, those without a kubelet. */
    readonly plain?: readonly Machine[];
    /** Machines that must hold nothing of k0s or of ours. */
    readonly blank?: readonly Machine[];
}

/** A fresh Node is NotReady once for some seconds, about a minute after it registered (k0s 1.36.3, observed). */
const WOBBLE_SECONDS = 90;
const LOOK_EVERY = 500;

/** Looks again until the check passes or the time is over; fails as the check did last. */
export async function eventually(seconds: number, check: () => Promise<void>): Promise<void> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
        try {
            await check();
            return;
        } catch (error) {
            if (performance.now() > end) throw error;
        }
        await sleep(LOOK_EVERY);
    }
}

/** Members, EtcdMembers with their IDs, ControlNodes, Nodes, and what is left on machines that are out. Shows the members. */
export async function assertCluster({ controllers, workers = [], plain = [], blank = [] }: Expected): Promise<void> {
    const [seenFrom] = controllers;
    const members = await membersSeenFrom(seenFrom);
    console.log(memberTable(members));
    assert.deepEqual(
        members.map(({ name, peer, learner }) => ({ name, peer, learner })).sort(byName),
        controllers.map(({ name, address }) => ({ name, peer: `https://${address}:2380`, learner: false })),
    );
    assert.deepEqual(
        (await etcdMembersSeenFrom(seenFrom)).sort(byName),
        members.map(({ name, id }) => ({ name, memberId: id, joined: "True", leave: false })).sort(byName),
    );
    assert.deepEqual(await namesOf(seenFrom, "controlnodes"), names(controllers));
    const nodes = names([...controllers.filter((machine) => !plain.includes(machine)), ...workers]);
    assert.deepEqual(await namesOf(seenFrom, "nodes"), nodes);
    await eventually(WOBBLE_SECONDS, async () => assert.deepEqual(await readyNodes(seenFrom), nodes));
    for (const machine of blank) assert.deepEqual(await tracesOn(machine), [], `left on ${machine.name}`);
}

/** Waits until no Node is going to wobble any more. */
export async function untilNodesAreSteady(seenFrom: Machine): Promise<void> {
    await eventually(2 * WOBBLE_SECONDS, async () => {
        const { items } = await kubectl(seenFrom, "get nodes");
        const young = items.filter(
            ({ metadata }) => Date.now() - Date.parse(metadata.creationTimestamp) < WOBBLE_SECONDS * 1000,
        );
        assert.deepEqual(names(young.map(({ metadata }) => metadata)), []);
        assert.deepEqual(await readyNodes(seenFrom), await namesOf(seenFrom, "nodes"));
    });
}

/** All that an operation could have changed, but for what changes by itself; the same before and after a refusal. */
export async function everything(seenFrom: Machine, hosts: readonly Machine[]): Promise<unknown> {
    const kinds = ["etcdmembers", "controlnodes", "nodes"];
    const members = await membersSeenFrom(seenFrom);
    return {
        members: members.map(({ id, name, peer, learner }) => ({ id, name, peer, learner })),
        objects: await Promise.all(kinds.map((kind) => objectsOf(seenFrom, kind))),
        hosts: await Promise.all(hosts.map(hostState)),
    };
}

/** What an operation could have changed on a machine. */
export function hostState(machine: Machine): Promise<string> {
    return on(machine, HOST_STATE);
}

async function objectsOf(seenFrom: Machine, kind: string): Promise<unknown> {
    const { items } = await kubectl(seenFrom, `get ${kind}`);
    return items.map(({ metadata: { name, uid, annotations = {} }, spec }) => ({
        name,
        uid,
        marks: Object.entries(annotations).filter(([key]) => key.startsWith("pulumi-mke/")),
        leave: spec?.leave,
        unschedulable: spec?.unschedulable,
    }));
}

/** The service as it was last started, and every file that k0s or we wrote into /etc. */
const HOST_STATE = [
    "systemctl show -p MainPID -p ActiveState -p InvocationID k0scontroller k0sworker",
    "find /etc/k0s /etc/pulumi-mke /etc/systemd/system -name '*k0s*' -o -path '*pulumi-mke/*' | sort",
    "cat /etc/pulumi-mke/node.json /etc/systemd/system/k0s*.service 2>/dev/null",
    "true",
].join("; ");

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
    return a.name.localeCompare(b.name);
}

function names(things: readonly { readonly name: string }[]): string[] {
    return things.map(({ name }) => name).sort();
}
