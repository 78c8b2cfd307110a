import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { EngineGoneError } from "../../provider/engine";
import { CommandError } from "../../provider/errors";
import { addController, continueController } from "../../provider/pipelines/add-controller";
import { backUp } from "../../provider/pipelines/backups";
import { cluster, member, memberId, record } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene, stagesOf } from "../support/fake-operation";
import { freePort } from "../support/program";
import { joining } from "./joining";
import { leave, leaving, removeC3 } from "./leaving";
import { LEFT_ALREADY } from "./scenes";

const argv = process.argv;
afterEach(() => void (process.argv = argv));

const AUDIT = "/etc/k0s/audit-policy.yaml";
const CONFIG = { spec: { api: { extraArgs: { "audit-policy-file": AUDIT } } } };
const noSpace = new CommandError({ stage: "backing up", host: "10.0.0.1", what: "the disk is full" });

/** The helper has no space left, at once or after that many backups. */
function failing(after = 0): NonNullable<SceneOptions["helper"]> {
    let made = 0;
    return {
        backUp: async () => {
            if (made++ === after) throw noSpace;
            return { path: "/b", size: 3, sha256: "ab", without: [] };
        },
    };
}

const backups = ({ calls }: Scene): string[] => only(calls, "c1 backUp").map((call) => call.slice("c1 backUp ".length));

const add = ({ operation }: Scene): Promise<bigint> => addController(operation, [operation.cluster.helper]);

describe("the backups of an operation", () => {
    it("are made on the helper before and after a join and a removal, with the files that k0s.yaml names", async () => {
        const join = joining({ config: CONFIG });
        join.files.set(AUDIT, "");
        await add(join);
        assert.deepEqual(backups(join), [`c3-before-add 5 ${AUDIT}`, `c3-after-add 5 ${AUDIT}`]);
        const removal = leaving({ config: CONFIG });
        await removeC3(removal);
        assert.deepEqual(backups(removal), [`c3-before-remove 5 ${AUDIT}`, `c3-after-remove 5 ${AUDIT}`]);
        const said = removal.lines.filter((line) => line.includes("backup …"));
        assert.match(said[1] ?? "", /^pre-operation backup … 10\.0\.0\.1:\/var\/lib\/pulumi-mke\/backups\/c3-before/);
    });

    it("say which of these files are not there", async () => {
        const archive = { path: "/b", size: 3, sha256: "ab", without: ["/run/kms.sock"] };
        const world = scene({ helper: { backUp: async () => archive } });
        await backUp(world.operation, "before");
        assert.ok(world.lines.some((line) => line.includes("is without /run/kms.sock")));
    });

    it("are left out where the program says so", async () => {
        const world = leaving({ inputs: { backup: { skip: true, unencrypted: false } } });
        await removeC3(world);
        assert.deepEqual(backups(world), []);
        assert.ok(!stagesOf(world).some((stage) => stage.includes("backup")));
    });

    const WRITING =
        /^(?!c1 backUp)(lock record|.*(write|put|install|service |annotate|label|patch|delete|remove|reset|Unsch))/;
    it("stop the operation before anything is written when the first one fails", async () => {
        for (const [world, run] of [
            [joining({ helper: failing() }), add],
            [leaving({ helper: failing() }), removeC3],
        ] as const) {
            await assert.rejects(run(world), noSpace);
            assert.equal(stagesOf(world).at(-1), "pre-operation backup");
            assert.deepEqual(
                world.calls.filter((call) => WRITING.test(call)),
                [],
            );
            assert.equal(world.operation.progress.hostChanged, false);
        }
    });

    it("only warn when the second one fails", async () => {
        const warning = /^warning: the cluster has no backup from after the change: .*the disk is full/;
        const join = joining({ helper: failing(1) });
        assert.equal(await add(join), memberId("c3"));
        assert.ok(join.lines.some((line) => warning.test(line)));
        assert.equal(stagesOf(join).at(-1), "marking the node");
        const removal = leaving({ helper: failing(1) });
        await removeC3(removal);
        assert.match(removal.lines.at(-1) ?? "", warning);
    });

    it("are not begun when the engine is gone", async () => {
        const port = await freePort();
        const world = scene();
        process.argv = ["node", "/x/cmd/dynamic-provider/index.js", `127.0.0.1:${port}`];
        for (const when of ["before", "after"] as const)
            await assert.rejects(backUp(world.operation, when), EngineGoneError);
        assert.deepEqual(backups(world), []);
    });

    it("are one, afterwards, where an interrupted join is continued", async () => {
        const own = member("c3", { name: "", learner: true });
        const two = cluster({}, ["c1", "c2"]);
        const world = joining({ cluster: { ...two, members: [...two.members, own] } });
        await continueController(world.operation, own);
        assert.deepEqual(backups(world), ["c3-after-add 5"]);
    });

    it("are one, afterwards, where the member went in an earlier run, and none where there never was one", async () => {
        const gone = { cluster: cluster({ members: ["c1", "c2"].map((name) => member(name)) }) };
        const left = { member: undefined, steps: LEFT_ALREADY };
        const resumed = leaving(gone);
        leave(resumed);
        const { operation } = resumed;
        const interrupted = record("remove", { owner: operation.inputs.owner, target: "10.0.0.3", removing: "f03" });
        const held = { ...operation.held, found: interrupted };
        await removeC3({ ...resumed, operation: { ...operation, held } }, left);
        assert.deepEqual(backups(resumed), ["c3-after-remove 5"]);
        const never = leaving(gone);
        leave(never);
        await removeC3(never, left);
        assert.deepEqual(backups(never), []);
    });

    it("may be taken on the target itself, when that is the helper", async () => {
        const world = scene();
        const own = { ...world.operation, cluster: { ...world.operation.cluster, helper: world.operation.target } };
        await backUp(own, "before");
        assert.deepEqual(only(world.calls, "c3 backUp"), ["c3 backUp c3-before-remove 5"]);
    });
});
