import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { Kube, LeaseObject } from "../../provider/adapters/kube";
import { refuse } from "../../provider/decide/refusal";
import { RefusedError } from "../../provider/errors";
import type { Session } from "../../provider/resource/session";
import { decideBeforeLock } from "../../provider/resource/under-lock";

const LEARNER = refuse("an etcd member is still a learner", [], "quorum");
const NAMED = refuse("the name c3 is taken", [], "name-taken");

describe("a decision before the lock", () => {
    let holders: string[];
    let lines: string[];
    let role: string;
    beforeEach(() => {
        [holders, lines, role] = [[], [], "controller"];
    });

    const session = (): Session => {
        const lease = async () => {
            const [holder] = holders.length > 1 ? holders.splice(0, 1) : holders;
            return holder === undefined ? undefined : ({ holder, annotations: {} } as unknown as LeaseObject);
        };
        const kube = { lease } as Partial<Kube>;
        const log = { line: (text: string): void => void lines.push(text) };
        return { cluster: { kube }, inputs: { host: "10.0.0.3", role }, log } as unknown as Session;
    };
    const decide = (plan: { readonly kind: string; readonly isLimit?: true }) =>
        decideBeforeLock(session(), async () => ({ plan }));

    it("ends with a refusal while nobody changes the control plane", async () => {
        await assert.rejects(decide(LEARNER), RefusedError);
        holders = [""];
        await assert.rejects(decide(LEARNER), RefusedError);
    });

    it("is left to the lock where members look wrong and somebody holds it, also by the end of the look", async () => {
        for (const seen of [["them"], ["", "them"], ["them", ""]]) {
            holders = seen;
            assert.equal((await decide(LEARNER)).plan, LEARNER);
        }
        assert.match(
            lines[0] ?? "",
            /another operation is changing the control plane; decided again after it: an etcd member is/,
        );
    });

    it("is a refusal all the same for any other reason, and a plan where nothing speaks against it", async () => {
        holders = ["them"];
        await assert.rejects(decide(NAMED), RefusedError);
        await assert.rejects(decide({ ...LEARNER, isLimit: true }), RefusedError);
        const plan = { kind: "add" };
        assert.equal((await decide(plan)).plan, plan);
    });
});
