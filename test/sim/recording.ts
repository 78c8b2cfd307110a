import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/root";
import { describeEtcdMember } from "./k0s/cluster";
import { isReady } from "./k0s/kubelet";
import { peerUrl } from "./model/etcd";
import { RESOURCES } from "./model/store";
import type { Simulation } from "./simulation";

/** What a look at a cluster shows, in the lines of `test/fixtures/timelines`, at a time in seconds. */
export interface Look {
    readonly at: number;
    readonly lines: readonly string[];
}

/** One object (`etcd`, `cr` or `node` of one host) takes another state. */
export interface Transition {
    readonly at: number;
    readonly subject: string;
    readonly state: string;
}

export function readRecording(name: string): Look[] {
    const text = readFileSync(join(root, "test", "fixtures", "timelines", `timeline-${name}.txt`), "utf8");
    const looks = text.trim().split(/\n(?=\[)/);
    return looks.map((look) => {
        const [time = "", ...lines] = look.split("\n");
        const [hours = 0, minutes = 0, seconds = 0] = time.replace(/[[\]]/g, "").split(":").map(Number);
        return { at: hours * 3600 + minutes * 60 + seconds, lines: lines.map((line) => line.trim()) };
    });
}

/** The same of a simulation, now. */
export function lookAt(sim: Simulation): Look {
    const { etcd, store } = sim.cluster;
    return {
        at: sim.now,
        lines: [
            ...etcd.members.map(({ id, name, peerAddress, learner }) => {
                const state = name === "" ? "unstarted, " : `started, ${name}`;
                const client = name === "" ? "" : "https://127.0.0.1:2379";
                return `etcd: ${id.toString(16)}, ${state}, ${peerUrl(peerAddress)}, ${client}, ${learner}`;
            }),
            ...store.list(RESOURCES.etcdMembers).map((object) => `cr: ${describeEtcdMember(object)}`),
            ...store.list(RESOURCES.nodes).map((node) => {
                return `node: ${node.metadata.name} ${isReady(node.status) ? "Ready" : "NotReady"}`;
            }),
        ],
    };
}

/** Looks at a simulation every tenth of a second of its time. */
export function record(sim: Simulation, seconds: number): Look[] {
    const looks = [lookAt(sim)];
    for (let passed = 0; passed < seconds; passed += 0.1) {
        sim.advance(0.1);
        looks.push(lookAt(sim));
    }
    return looks;
}

/**
 * How the objects of one host change. Member IDs are random, so they are named in the order in which they appear: #1, #2.
 * `address`: the host's; members have no name at first.
 */
export function transitions(looks: readonly Look[], name: string, address: string): Transition[] {
    const ids: string[] = [];
    const numbered = (text: string): string =>
        text.replace(
            /\b[0-9a-f]{12,16}\b/g,
            (id) => `#${(ids.includes(id) ? ids : [...(ids.push(id), ids)]).indexOf(id) + 1}`,
        );
    const found: Transition[] = [];
    const last = new Map<string, string>();
    for (const { at, lines } of looks) {
        for (const subject of ["etcd", "cr", "node"]) {
            const line = lines.find((one) => one.startsWith(`${subject}: `) && isOf(one, name, address));
            const state = line === undefined ? "absent" : numbered(line.slice(subject.length + 2).trim());
            if (last.has(subject) && last.get(subject) !== state) found.push({ at, subject, state });
            last.set(subject, state);
        }
    }
    return found;
}

function isOf(line: string, name: string, address: string): boolean {
    return line.includes(peerUrl(address)) || line.startsWith(`cr: ${name} `) || line.startsWith(`node: ${name} `);
}
