/** `npm run demo`: the life of a cluster's nodes on simulated machines, with the real Pulumi engine. */
import { Engine } from "../support/engine";
import { runApart, whenToldToStop } from "./apart";
import { HOW_TO_GET_PULUMI, obtainPulumi } from "./cli";
import { Scene, UnexpectedError } from "./scene";
import { Show } from "./show";

const show = new Show((line) => process.stdout.write(`${line}\n`));

async function story(scene: Scene, engine: Engine): Promise<void> {
    const workers = ["w1", "w2"] as const;

    show.step("pulumi up: the controller c1 is adopted; c2 and c3, w1 and w2 join it");
    await changingMembers(scene, () => engine.up(scene.program({ controllers: ["c1", "c2", "c3"], workers })));
    show.detail(`ok: ${await scene.verify({ controllers: ["c1", "c2", "c3"], workers })}`);

    show.step("c3 is deleted from the program; pulumi up: it leaves");
    scene.runApplication("shop", "c3");
    await changingMembers(scene, () => engine.up(scene.program({ controllers: ["c1", "c2"], workers })));
    show.detail(`ok: ${await scene.verify({ controllers: ["c1", "c2"], workers })}`);

    show.step("somebody stops k0s on w1; pulumi refresh: the drift is seen");
    scene.stopK0s("w1");
    await engine.refresh();
    show.detail(`ok: ${await driftOf(engine, "w1")}`);

    show.step("pulumi up: w1 is repaired");
    const { changes } = await engine.up(scene.program({ controllers: ["c1", "c2"], workers }));
    if (changes["update"] !== 1) throw new UnexpectedError(`updated ${changes["update"] ?? 0} resources, expected 1`);
    show.detail(`ok: ${await scene.verify({ controllers: ["c1", "c2"], workers })}`);

    show.step("pulumi destroy: c2 and the workers leave; c1, the last controller, is reset");
    await changingMembers(scene, () => engine.destroy());
    show.detail(`ok: ${scene.verifyEnd()}`);
}

async function changingMembers(scene: Scene, change: () => Promise<unknown>): Promise<void> {
    show.members("before", scene.members());
    await change();
    show.members("after", scene.members());
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
        const engine = await Engine.start(pulumi, { name: "demo", signal, onEvent: (event) => show.event(event) });
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
    if (error instanceof Error && error.name === "CommandError") return "pulumi ended with an error, see above";
    return error instanceof Error ? error.message : String(error);
}

if (process.connected) void main();
else void runApart(__filename, () => show.line("\ndemo: stopping")).then((code) => (process.exitCode = code));
