import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { describe, it } from "mocha";
import {
    actUndisturbed,
    decideAfter,
    endBefore,
    endBeforeLast,
    expectHelper,
    HelperRemovedError,
    isLeaving,
    type Removal,
    untilRemoved,
    whileRemoving,
    whileWorking,
} from "../../provider/resource/this-run";
import { silentLog } from "../../provider/log";

let clusters = 0;

describe("operations of one run", () => {
    const started: Task[] = [];
    let clusterId: string;

    beforeEach(() => (clusterId = `cluster ${(clusters += 1)}`));
    afterEach(async () => {
        for (const task of started.splice(0)) await task.end();
    });

    /** An operation that runs until it is told to end. */
    class Task {
        itself: Removal | undefined;
        private finish: (error?: Error) => void = () => undefined;
        private readonly ended: Promise<void>;

        constructor(run: (action: (itself?: Removal) => Promise<void>) => Promise<void>) {
            this.ended = run((itself) => {
                this.itself = itself;
                return new Promise<void>((resolve, reject) => {
                    this.finish = (error) => (error ? reject(error) : resolve());
                });
            }).catch(() => undefined);
            started.push(this);
        }

        async end(error?: Error): Promise<void> {
            this.finish(error);
            await this.ended;
        }
    }

    const removal = (kind: "controller" | "worker", nodeName: string, of = clusterId): Task => {
        const host = `${nodeName} of ${of}`;
        return new Task((action) => whileRemoving(kind, { clusterId: of, nodeName, host }, action));
    };
    const work = (name: string, through: string, of = clusterId): Task =>
        new Task((action) =>
            whileWorking({ name, clusterId: of, through: `${through} of ${of}` }, silentLog, () => action()),
        );
    const itselfOf = ({ itself }: Task): Removal => itself ?? assert.fail("it has not begun");

    it("a controller goes after the workers of its cluster that go or come, through whichever controller", async () => {
        const [w1] = [removal("worker", "w1"), removal("worker", "w2"), removal("worker", "x1", "elsewhere")];
        const [w3, w4] = [work("w3", "c1"), work("w4", "c2"), work("x2", "c1", "elsewhere")];
        const c1 = itselfOf(removal("controller", "c1"));
        const c2 = removal("controller", "c2");
        assert.deepEqual(endBefore(c1), ["w1", "w2", "w3", "w4"]);
        assert.deepEqual(endBeforeLast(c1), ["w1", "w2", "c2", "w3", "w4"], "the last one after all others");
        await w1.end();
        await w3.end(new Error("failed"));
        assert.deepEqual(endBefore(c1), ["w2", "w4"]);
        for (const one of [w4, c2]) await one.end();
        assert.deepEqual(endBeforeLast(c1), ["w2"]);
    });

    it("a controller whose cluster is not in its state goes after what joins through it", () => {
        work("w1", "c1");
        const c1 = { kind: "controller", clusterId: undefined, nodeName: "c1", host: `c1 of ${clusterId}` } as const;
        assert.deepEqual(endBefore(c1), ["w1"]);
    });

    it("nothing is added through a controller that is being removed: it waits, and looks for another one", async () => {
        const c1 = removal("controller", "c1");
        const host = itselfOf(c1).host;
        assert.equal(isLeaving(host), true);
        let begun = false;
        const joining = whileWorking({ name: "w1", clusterId, through: host }, silentLog, async () => {
            begun = true;
        });
        const lines: string[] = [];
        const talking = whileWorking(
            { name: "w2", clusterId, through: host },
            { line: (text) => lines.push(text) },
            async () => {},
        );
        assert.deepEqual(endBefore(itselfOf(c1)), [], "which the removal does not wait for");
        await c1.end();
        for (const one of [joining, talking]) {
            await assert.rejects(
                one,
                (error) => error instanceof HelperRemovedError && /has removed it/.test(error.message),
            );
        }
        assert.equal(begun, false);
        assert.deepEqual(lines, [`waiting for what this run does on ${host}`]);
    });

    it("looks for another one also after a removal that failed, and does not say that it was removed", async () => {
        const c1 = removal("controller", "c1");
        const through = itselfOf(c1).host;
        const joining = whileWorking({ name: "w1", clusterId, through }, silentLog, () => assert.fail("begun"));
        await c1.end(new Error("the drain failed"));
        await assert.rejects(joining, (error: Error) => {
            assert.ok(error instanceof HelperRemovedError);
            assert.match(error.message, /: this run tried to remove it\n/);
            return true;
        });
    });

    it("one that waited learns that its helper was removed meanwhile, and not that a removal failed or ended before", async () => {
        const host = `c1 of ${clusterId}`;
        const early = expectHelper(host);
        await removal("controller", "c1").end(new Error("refused"));
        early();
        await removal("controller", "c1").end();
        assert.throws(early, HelperRemovedError);
        expectHelper(host)();
    });

    it("one that finds no controller waits for the removals of such that have begun, and for no other", async () => {
        const [c1, c2, w1] = [removal("controller", "c1"), removal("controller", "c2"), removal("worker", "w1")];
        const hosts = [c1, c2, w1].map((one) => itselfOf(one).host);
        itselfOf(w1).hasBegun = true;
        assert.equal(await untilRemoved(hosts, silentLog), false);
        itselfOf(c1).hasBegun = true;
        assert.equal(await untilRemoved(hosts.slice(1), silentLog), false);
        let isOver = false;
        const waiting = untilRemoved(hosts, silentLog).finally(() => (isOver = true));
        await setImmediate();
        assert.equal(isOver, false);
        await c1.end(new Error("the reset failed"));
        assert.equal(await waiting, true);
        assert.equal(await untilRemoved(hosts, silentLog), false);
    });

    describe("a controller that the program spells in two ways", () => {
        for (const [removed, through, isSame] of [
            ["C1.example.com", "c1.example.com", true],
            ["c2.example.com.", "c2.example.com", true],
            ["2001:DB8:0:0::11", "2001:db8::11", true],
            ["[2001:db8::12]", "2001:db8::12", true],
            ["2001:db8::13", "2001:db8::14", false],
            ["c1.example.org", "c1.example.net", false],
        ] as const) {
            it(`is ${isSame ? "one host" : "two hosts"}: ${removed} and ${through}`, async () => {
                const node = { clusterId: undefined, nodeName: removed, host: removed };
                const expected = expectHelper(through);
                const joining = new Task((action) =>
                    whileWorking({ name: "w1", clusterId, through }, silentLog, () => action()),
                );
                const removing = new Task((action) => whileRemoving("controller", node, action));
                assert.equal(isLeaving(through), isSame);
                assert.deepEqual(endBefore(itselfOf(removing)), isSame ? ["w1"] : []);
                await joining.end();
                await removing.end();
                if (isSame) assert.throws(expected, HelperRemovedError);
                else expected();
            });
        }
    });

    describe("an act that may be refused for what others change", () => {
        const refused = new Error("refused");
        const actWith = (others: () => string[], errors: Error[], lines: string[] = []) =>
            actUndisturbed(
                { others, log: { line: (text) => lines.push(text) }, mayPass: (error) => error === refused },
                async () => {
                    const [error] = errors.splice(0, 1);
                    if (error !== undefined) throw error;
                    return "done";
                },
            );

        it("is tried again where there were any before or after it, and says so", async () => {
            const lines: string[] = [];
            const names = [["w1"], [], ["w2"], []];
            assert.equal(await actWith(() => names.shift() ?? [], [refused, refused], lines), "done");
            assert.deepEqual(lines, Array(2).fill("decided again: meanwhile this run changed workers of the cluster"));
        });

        it("is not where there were none, or for another error", async () => {
            await assert.rejects(
                actWith(() => [], [refused]),
                refused,
            );
            const other = new Error("other");
            await assert.rejects(
                actWith(() => ["w1"], [other]),
                other,
            );
        });
    });

    describe("a decision after others", () => {
        const decideWith = (names: string[], decisions: number[], isFinal = (_decided: number) => false) => {
            let decided = 0;
            const lines: string[] = [];
            return {
                lines,
                decision: decideAfter({
                    others: () => names,
                    log: { line: (text) => lines.push(text) },
                    decide: () => Promise.resolve(decisions[decided++] ?? assert.fail("decided once too often")),
                    isFinal,
                }),
            };
        };

        it("is taken at once where there are none", async () => {
            assert.equal(await decideWith([], [1]).decision, 1);
        });

        it("is taken again once they have ended, and says whom it waits for", async () => {
            const names = ["w1", "w2", "w3", "w4", "w5", "w6", "w7"];
            const { decision, lines } = decideWith(names, [1, 2]);
            await setImmediate();
            assert.deepEqual(lines, ["waiting for what this run does on w1, w2, w3, w4, w5, 2 more"]);
            names.length = 0;
            assert.equal(await decision, 2);
        });

        it("is taken again where one began during the look", async () => {
            const names: string[] = [];
            let looks = 0;
            const decided = await decideAfter({
                others: () => names,
                log: silentLog,
                decide: async () => {
                    looks += 1;
                    if (looks === 1) names.push("w1");
                    if (looks === 1) setTimeout(() => names.pop(), 0);
                    return looks;
                },
                isFinal: () => false,
            });
            assert.equal(decided, 2);
        });

        it("does not wait where they cannot change it", async () => {
            const { decision, lines } = decideWith(["w1"], [1], () => true);
            assert.equal(await decision, 1);
            assert.deepEqual(lines, []);
        });
    });
});
