import assert from "node:assert/strict";
import { it } from "mocha";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import type { HostMarker } from "../../provider/facts/host";
import { MARKER_PATH } from "../../provider/facts/host-probe";
import { RESOURCES, type Simulation } from "../sim";
import { describeEngine, type Scene, writesIn } from "./scene";

const SAME = { same: 5 };
const FLAGS = ["--debug", "--profile=large"];
const FLAGS_SPELLED = ["--debug=true", "--profile=large"];
const OURS = { key: "a", effect: "NoSchedule" };
const THEIRS = { key: "theirs", effect: "NoSchedule", value: "1" };
const THEIR_FLAGS = ["--enable-cloud-provider=true"];

describeEngine("other settings for nodes that run", (start) => {
    it("reach all of them in one up, controllers one at a time, and none is replaced", async () => {
        const scene = await start(["c2", "c3", "w1"]);
        const { sim, engine } = scene;
        const program = await adopted(scene, ["c1", "c2", "c3"]);
        const members = sim.members();
        taintByHand(sim, [THEIRS]);

        const down = watchVoters(sim);
        const k0sConfig = { spec: { telemetry: { enabled: false } } };
        const { changes } = await engine.up(program({ installFlags: FLAGS, taints: ["a:NoSchedule"] }, { k0sConfig }));
        assert.deepEqual(changes, { same: 1, update: 4 });
        assert.equal(Math.max(...down), 1, "voters that were away at once");
        assert.deepEqual(sim.members(), members, "member IDs stay");
        for (const name of ["c1", "c2", "c3", "w1"]) {
            const { installed } = sim.find(name).units;
            for (const flag of ["--debug=true", "--profile=large", "--taints=a:NoSchedule", ...THEIR_FLAGS])
                assert.ok(installed?.args.includes(flag), `${name} has no ${flag}`);
            assert.match(sim.find(name).files.text(installed?.file ?? "") ?? "", /Environment="theirs=1"/);
        }
        for (const name of ["c1", "c2", "c3"])
            assert.match(sim.find(name).files.text("/etc/k0s/k0s.yaml") ?? "", /enabled: false/);
        assert.deepEqual(taintsOf(sim), [THEIRS, OURS]);

        const settled = sim.events.length;
        const spelled = program({ installFlags: FLAGS_SPELLED, taints: ["a:NoSchedule"] }, { k0sConfig });
        assert.deepEqual((await engine.up(spelled)).changes, SAME);
        assert.deepEqual(await engine.refresh(), SAME);
        const audit = { spec: { api: { extraArgs: { "audit-policy-file": "/etc/k0s/none.yaml" } } } };
        const missing = program({ installFlags: FLAGS, taints: ["a:NoSchedule"] }, { k0sConfig: audit });
        await assert.rejects(
            engine.up(missing),
            /not there: \/etc\/k0s\/none\.yaml \(spec\.api\.extraArgs\.audit-policy-file\)[^]*runbook\.md#k0s-settings/,
        );
        assert.deepEqual(writesIn(sim, settled), []);
    });

    it("are put back where somebody took them out, once a refresh has seen it", async () => {
        const { sim, engine, program } = await start(["w1"]);
        const wanted = program([], ["w1"], { installFlags: FLAGS });
        await engine.up(wanted);
        assert.deepEqual(await engine.refresh(), { same: 2 });
        const { files, units } = sim.find("w1");
        const file = units.installed?.file ?? "";
        const takeOut = (): void => {
            const text = files.text(file) ?? "";
            files.write(file, text.replace("--debug=true", "--debug").replace(/ \S*--profile=large\S*/, ""), 0o644);
            sim.world.act(() => units.installed?.reread());
        };
        takeOut();
        await engine.refresh();
        const { drift } = await engine.outputsOf("w1");
        assert.deepEqual(drift, ["flag --profile of its service is not as the program says"]);
        assert.deepEqual((await engine.up(wanted)).changes, { same: 1, update: 1 });
        assert.ok(units.installed?.args.includes("--profile=large"));
        assert.deepEqual(await engine.refresh(), { same: 2 });
        assert.deepEqual((await engine.outputsOf("w1")).drift, []);

        takeOut();
        const marker = JSON.parse(files.text(MARKER_PATH) ?? "{}") as HostMarker;
        const settings = [{ installFlags: FLAGS, taints: [] }];
        const { owner } = marker;
        const operation = { id: "killed", kind: "reinstall", owner, target: "", baseline: [], settings, restart: true };
        files.write(MARKER_PATH, JSON.stringify({ ...marker, operation }), 0o600);
        await engine.refresh();
        assert.deepEqual((await engine.up(wanted)).changes, { same: 1, update: 1 });
        assert.ok(units.installed?.args.includes("--profile=large"), "one that was killed meanwhile goes on");
        assert.deepEqual(await engine.refresh(), { same: 2 });
    });

    it("do nothing to a k0s that has them, nothing where it refuses them, and only what is asked for to a Node", async () => {
        const scene = await start(["w1"]);
        const { sim, engine } = scene;
        const program = await adopted(scene, []);
        const running = sim.find("w1").units.daemon;
        taintByHand(sim, [THEIRS]);
        const failure = await engine.up(program({ installFlags: ["--unknown=1"] })).then(
            () => "",
            (error: unknown) => String(error),
        );
        assert.match(failure, /unknown flag: --unknown.*runbook\.md#k0s-settings/s);
        await engine.up(program({ installFlags: ["--enable-cloud-provider"], taints: ["a:NoSchedule"] }));
        assert.deepEqual(taintsOf(sim), [THEIRS, OURS]);

        taintByHand(sim, [THEIRS]);
        await engine.refresh();
        const { drift } = await engine.outputsOf("w1");
        assert.deepEqual(drift, ["taint a:NoSchedule of Node w1 is not as the program says"]);
        await engine.up(program({ installFlags: ["--enable-cloud-provider"], taints: ["a:NoSchedule"] }));
        assert.deepEqual(taintsOf(sim), [THEIRS, OURS]);

        await engine.up(program({ installFlags: ["--enable-cloud-provider"] }));
        assert.deepEqual(taintsOf(sim), [THEIRS]);
        assert.ok(sim.find("w1").units.installed?.args.every((arg) => !arg.startsWith("--taints")));
        assert.equal(sim.find("w1").units.daemon, running, "k0s was not restarted");
    });
});

type Program = (more: Partial<MkeControllerNodeArgs>, controllers?: Partial<MkeControllerNodeArgs>) => PulumiFn;

/** Three controllers and a worker as k0sctl and MKE leave them, with flags and lines of their own. */
async function adopted(scene: Scene, controllers: readonly string[]): Promise<Program> {
    const { sim, engine } = scene;
    const all = [...controllers, "w1"];
    for (const name of controllers.slice(1)) sim.addSettled(name, "controller+worker");
    sim.addSettled("w1", "worker");
    for (const name of all) {
        const { files, units } = sim.find(name);
        const file = units.installed?.file ?? "";
        const theirs = `$& "${THEIR_FLAGS.join('" "')}"\nEnvironment="theirs=1"`;
        files.write(file, (files.text(file) ?? "").replace(/^ExecStart=.*$/m, theirs), 0o644);
        sim.world.act(() => units.installed?.reread());
    }
    const program: Program =
        (more, forControllers = {}) =>
        async () => {
            await scene.program(controllers, [], { ...more, ...forControllers, allowStrandedWorkers: true })();
            await scene.program([], ["w1"], more)();
        };
    const commands = (): unknown => all.map((name) => sim.find(name).units.installed?.command);
    const found = commands();
    await engine.up(program({}));
    assert.deepEqual(commands(), found, "adoption changes no service");
    return program;
}

/** Number of voters that are away, at each moment that something happens. */
function watchVoters(sim: Simulation): number[] {
    const seen: number[] = [];
    const { etcd } = sim.cluster;
    sim.onEvent(() => void seen.push(etcd.voters.filter(({ id }) => !etcd.isAlive(id)).length));
    return seen;
}

function taintByHand(sim: Simulation, taints: readonly object[]): void {
    sim.world.act(() =>
        sim.cluster.store.update(RESOURCES.nodes, "w1", (node) => (node.spec = { ...node.spec, taints })),
    );
}

function taintsOf(sim: Simulation): unknown {
    return sim.cluster.store.get(RESOURCES.nodes, "w1")?.spec?.["taints"];
}
