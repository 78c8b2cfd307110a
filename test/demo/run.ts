/** `npm run demo`: the life of a cluster's nodes on simulated machines, with the real Pulumi engine. */
import { Engine } from "../support/engine";
import { runApart, whenToldToStop } from "./apart";
import { HOW_TO_GET_PULUMI, obtainPulumi } from "./cli";
import { differences } from "./picture";
import { Scene, UnexpectedError } from "./scene";
import { Show } from "./show";

const REFUSAL = [
    "cannot be removed: 2 of 3 voting members are healthy: without this one etcd would lose its quorum",
    "health unhealthy",
    "Nothing was changed.",
    "Runbook: docs/runbook.md#quorum",
];

const show = new Show((text) => process.stdout.write(text));

async function story(scene: Scene, engine: Engine): Promise<void> {
    const workers = ["w1", "w2"] as const;
    const whole = scene.program({ controllers: ["c1", "c2", "c3"], workers });
    const withoutC3 = scene.program({ controllers: ["c1", "c2"], workers });

    show.step("pulumi preview: the controller c1 would be adopted, c2 and c3, w1 and w2 would join it");
    await changingNothing(scene, () => engine.preview(whole));

    show.step("pulumi up: they do");
    await changingMembers(scene, () => engine.up(whole));
    show.detail(`ok: ${await scene.verify({ controllers: ["c1", "c2", "c3"], workers })}`);

    show.step(
        "somebody stops k0s on c2, and c3 is deleted from the program; pulumi up: refused, for etcd would lose its quorum",
    );
    scene.runApplication("shop", "c3");
    scene.stopK0s("c2");
    await changingNothing(scene, () => refused(engine, () => engine.up(withoutC3)));
    await inState(engine, ["c1", "c2", "c3"]);
    show.detail("ok: refused with a reason and its entry in the runbook");

    show.step("pulumi refresh: the drift is seen");
    await engine.refresh();
    show.detail(`ok: ${await driftOf(engine, "c2")}`);

    show.step("pulumi up: c2 is repaired, and now c3 leaves");
    let changes: Readonly<Record<string, number | undefined>> = {};
    await changingMembers(scene, async () => ({ changes } = await engine.up(withoutC3)));
    if (changes["update"] !== 1) throw new UnexpectedError(`updated ${changes["update"] ?? 0} resources, expected 1`);
    show.detail(`ok: ${await scene.verify({ controllers: ["c1", "c2"], workers })}`);

    show.step("pulumi destroy: c2 and the workers leave; c1, the last controller, is reset");
    await changingMembers(scene, () => engine.destroy());
    show.detail(`ok: ${scene.verifyEnd()}`);
}

async function changingMembers(scene: Scene, change: () => Promise<unknown>): Promise<void> {
    show.members("before", scene.members());
    show.line("");
    await change();
    show.members("after", scene.members());
}

async function changingNothing(scene: Scene, action: () => Promise<unknown>): Promise<void> {
    const before = scene.picture();
    await action();
    const changed = differences(before, scene.picture());
    if (changed.length > 0) throw new UnexpectedError(`changed, although nothing should be: ${changed.join(", ")}`);
    show.detail("ok: nothing was changed, on no machine, in etcd or in Kubernetes");
}

/** Fails unless the engine says why, that nothing was changed, and where to read on. */
async function refused(engine: Engine, action: () => Promise<unknown>): Promise<void> {
    const said = engine.output.length;
    try {
        await action();
    } catch (error) {
        if (!isCommandError(error)) throw error;
        const text = engine.output.slice(said).join("");
        for (const words of REFUSAL) {
            if (!text.includes(words)) throw new UnexpectedError(`the refusal does not say: ${words}`);
        }
        return;
    }
    throw new UnexpectedError("it was not refused");
}

async function inState(engine: Engine, controllers: readonly string[]): Promise<void> {
    const found = await engine.names("mke:ControllerNode");
    if (found.join(" ") === controllers.join(" ")) return;
    throw new UnexpectedError(`the state has ${found.join(" ")}, expected ${controllers.join(" ")}`);
}

async function driftOf(engine: Engine, name: string): Promise<string> {
    const { status, drift } = await engine.outputsOf(name);
    const sentences = Array.isArray(drift) ? drift.map(String) : [];
    if (status === "degraded" && sentences.length > 0) return `${name} is degraded: ${sentences.join("; ")}`;
    throw new UnexpectedError(`${name} is ${String(status)} without drift, although its k0s is stopped`);
}

async function run(signal: AbortSignal): Promise<void> {
    const pulumi = await obtainPulumi((line) => show.line(line), signal);
    if (pulumi === undefined) throw new UnexpectedError(HOW_TO_GET_PULUMI);
    const scene = await Scene.start();
    try {
        const engine = await Engine.start(pulumi, { name: "demo", signal, show: (text) => show.pulumi(text) });
        try {
            show.line(`Five simulated machines, one cluster, and Pulumi ${engine.version} (${pulumi})`);
            await story(scene, engine);
        } finally {
            await engine.close();
        }
    } finally {
        await scene.close();
    }
}

async function main(): Promise<void> {
    const signal = whenToldToStop();
    try {
        await run(signal);
        show.line("\ndemo: all steps passed");
    } catch (error) {
        show.line(`\ndemo: failed: ${signal.aborted ? "interrupted" : reasonOf(error)}`);
        process.exitCode = 1;
    }
}

/** What the engine had to say about its own failure was shown as it came. */
function reasonOf(error: unknown): string {
    if (isCommandError(error)) return "pulumi ended with an error, see above";
    return error instanceof Error ? error.message : String(error);
}

function isCommandError(error: unknown): boolean {
    return error instanceof Error && error.name === "CommandError";
}

if (process.connected) void main();
else void runApart(__filename, () => show.line("\ndemo: stopping")).then((code) => (process.exitCode = code));
