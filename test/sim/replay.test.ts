import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type Simulation, startSimulation } from ".";
import { type Look, readRecording, record, type Transition, transitions } from "./recording";

/** A recording looks every 0.6–3 s, and no two runs are alike. */
const TOLERANCE = 1.6;
/** States that pass quicker than a recording looks may be missing in it. */
const UNSEEN = 2;
/** The k0s leader looks at members every 10 s; when it looked last is chance. */
const RHYTHM = 10;
const NODE_DEATH = 10;

interface Expectation {
    /** Seconds by which a distance may differ, by a piece of the state it leads to. */
    readonly tolerance?: Readonly<Record<string, number>>;
    /** Transitions of the recording after these seconds belong to another story. */
    readonly until?: number;
}

describe("the recorded timelines of k0s 1.36.3", () => {
    let sim: Simulation;

    beforeEach(async () => {
        sim = await startSimulation({ speed: 0 });
        for (const index of [1, 2, 3, 4, 5]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.bootstrapController("c1");
    });

    afterEach(() => sim.close());

    function settled(...names: readonly string[]): void {
        for (const name of names) sim.addSettled(name, "controller+worker");
        sim.advance(25);
    }

    const promotion = { "#1, started": RHYTHM, "#2, started": RHYTHM };

    it("a second controller joins", () => {
        settled();
        sim.startJoin("c2", "controller+worker", "c1");
        compare("join-c2", record(sim, 40), "c2", { tolerance: promotion });
    });

    it("a third controller joins", () => {
        settled("c2");
        sim.startJoin("c3", "controller+worker", "c1");
        compare("join-c3", record(sim, 40), "c3", { tolerance: promotion });
    });

    it("two controllers join at the same moment", () => {
        settled("c2");
        sim.startJoin("c5", "controller+worker", "c1");
        sim.advance(0.2);
        sim.startJoin("c4", "controller+worker", "c1");
        const looks = record(sim, 110);
        const wobble = { NotReady: 5, Ready: 3 };
        compare("join-two-at-once", looks, "c5", { tolerance: { ...promotion, ...wobble } });
        // this machine was busy: 10 s from its promotion to its object
        compare("join-two-at-once", looks, "c4", { tolerance: { ...promotion, ...wobble, "Joined=True": 6 } });
    });

    it("one of three leaves", () => {
        settled("c2", "c3");
        const looks = after(() => sim.requestLeave("c3"), 70);
        compare("leave-c3", looks, "c3", { tolerance: { NotReady: NODE_DEATH } });
    });

    it("one of two leaves", () => {
        settled("c2");
        const looks = after(() => sim.requestLeave("c2"), 20);
        compare("leave-2to1", looks, "c2", {});
    });

    it("a dead one is asked to leave, and the leader removes it five minutes later", () => {
        settled("c2", "c3");
        const looks = after(() => {
            sim.find("c3").powerOff();
            sim.requestLeave("c3");
        }, 330);
        compare("leave-dead-host", looks, "c3", {
            tolerance: { NotReady: NODE_DEATH, absent: RHYTHM, "Member removed": RHYTHM },
            until: 310,
        });
    });

    it("a leave is revoked by a restart", () => {
        settled("c2", "c3");
        sim.revokeLeave("c3");
        const looks = after(() => sim.requestLeave("c3"), 40);
        compare("leave-revoked", looks, "c3", {});
        assert.equal(sim.members().length, 3);
    });

    it("a member is removed from outside", () => {
        settled("c2", "c3");
        const id = sim.members().find(({ name }) => name === "c3")?.id ?? 0n;
        const looks = after(() => sim.removeMemberFromOutside(id), 40);
        compare("oob-leave", looks, "c3", { tolerance: { "No such member ID": RHYTHM } });
    });

    it("one joins again, with its old object left behind", () => {
        settled("c2", "c3");
        sim.requestLeave("c3");
        sim.advance(70);
        reset("c3");
        sim.startJoin("c3", "controller+worker", "c1");
        compare("rejoin-c3-stale-cr", record(sim, 40), "c3", { tolerance: promotion });
    });

    it("a wiped one tries to join again, and nothing comes of it", () => {
        settled("c2", "c3");
        const looks = after(() => {
            sim.find("c3").wipe();
            sim.startJoin("c3", "controller+worker", "c1");
        }, 60);
        compare("rejoin-wiped", looks, "c3", { tolerance: { NotReady: NODE_DEATH } });
        const { installed } = sim.find("c3").units;
        assert.deepEqual([installed?.active, installed?.restarts], ["active", 0]);
        assert.match(installed?.journal.at(-1) ?? "", /^Joining existing cluster via/);
        assert.ok(sim.find("c3").files.isFile("/var/lib/k0s/pki/ca.crt"));
        assert.deepEqual(sim.find("c3").files.list("/var/lib/k0s/etcd"), []);
    });

    function after(action: () => void, seconds: number): Look[] {
        const [before] = record(sim, 0);
        action();
        return [...(before === undefined ? [] : [before]), ...record(sim, seconds)];
    }

    function reset(name: string): void {
        const host = sim.find(name);
        host.stopService();
        sim.world.act(() => {
            host.units.remove("k0scontroller");
            host.files.removeTree("/var/lib/k0s");
            host.files.removeTree("/run/k0s");
        });
    }

    function compare(recording: string, looks: readonly Look[], name: string, expected: Expectation): void {
        const recorded = readRecording(recording);
        const start = recorded[0]?.at ?? 0;
        const { address } = sim.find(name);
        const wanted = transitions(recorded, name, address).filter(
            ({ at }) => at - start < (expected.until ?? Infinity),
        );
        const seen = transitions(looks, name, address);
        assert.ok(wanted.length > 0, "the recording is empty");
        assert.deepEqual(
            withoutPassing(seen, wanted)
                .map(({ subject, state }) => `${subject}: ${state}`)
                .sort(),
            wanted.map(({ subject, state }) => `${subject}: ${state}`).sort(),
        );
        compareDistances(wanted, withoutPassing(seen, wanted), expected.tolerance ?? {});
    }
});

/** Without the states that pass so quickly that the recording may have missed them, and did. */
function withoutPassing(seen: readonly Transition[], wanted: readonly Transition[]): Transition[] {
    const found = new Map<string, number>();
    return seen.filter(({ subject, state, at }, index) => {
        const expected = wanted.filter((one) => one.subject === subject);
        const position = found.get(subject) ?? 0;
        const next = seen.slice(index + 1).find((one) => one.subject === subject);
        if (expected[position]?.state === state) found.set(subject, position + 1);
        else if (next !== undefined && next.at - at <= UNSEEN) return false;
        return true;
    });
}

/** From each recorded transition to the next later one: the same distance, give or take. */
function compareDistances(
    wanted: readonly Transition[],
    seen: readonly Transition[],
    tolerances: Readonly<Record<string, number>>,
): void {
    const used = new Set<Transition>();
    const partners = wanted.map((one) => {
        const partner = seen.find(
            (other) => !used.has(other) && other.subject === one.subject && other.state === one.state,
        );
        assert.ok(partner !== undefined, `${one.subject}: ${one.state}`);
        used.add(partner);
        return { one, partner };
    });
    for (const [index, { one, partner }] of partners.entries()) {
        const before = partners.slice(0, index).findLast((other) => other.one.at < one.at);
        if (before === undefined) continue;
        const recorded = one.at - before.one.at;
        const simulated = partner.at - before.partner.at;
        const allowed = Object.entries(tolerances).find(([piece]) => one.state.includes(piece))?.[1] ?? TOLERANCE;
        const what = `${one.subject}: ${one.state} after ${simulated.toFixed(1)} s, recorded were ${recorded.toFixed(1)} s`;
        assert.ok(Math.abs(recorded - simulated) <= allowed, what);
    }
}
