import { messageOf } from "../../provider/errors";
import type { DocumentCell } from "./document";
import { bringAbout, letItGoOn } from "./causes";
import { deviationsOf } from "./deviations";
import { describeEvent, writesSince } from "./evidence";
import { type Expected, expectedOf, type RemoveStep } from "./expected";
import { judgeAddition } from "./judge-addition";
import { failureOf, firstLine, judgeRefusal } from "./judge-refusal";
import { judgeRemoval } from "./judge-removal";
import type { LogLines } from "./log-lines";
import { milestonesSince } from "./milestones";
import { IMPATIENT, IN_VAIN, PATIENT, World } from "./world";

/** What a cell did, beside what the document says. */
export interface CellResult {
    readonly cell: DocumentCell;
    /** Empty: as specified. */
    readonly problems: readonly string[];
    readonly happened: string;
    readonly log: readonly string[];
}

/** Joins take 20 simulated seconds; states that end by themselves after minutes must not end under a cell's hands. */
const SPEED = { ordinary: 20, waiting: 3 } as const;

/**
 * Runs the cells of one state of one role. Those that fail change nothing, so that the next one finds the same state; one
 * that acts is the last of its simulation.
 */
export async function runCells(cells: readonly DocumentCell[], log: LogLines): Promise<CellResult[]> {
    const results: CellResult[] = [];
    let world: World | undefined;
    try {
        for (const cell of cells) {
            const expected = expectedOf(cell);
            world ??= await stateOf(cell);
            results.push(await runCell(world, cell, expected, log));
            if (expected.kind === "fail") continue;
            await world.close();
            world = undefined;
        }
    } finally {
        await world?.close();
    }
    return results;
}

async function stateOf({ kind, scenario, verdict }: DocumentCell): Promise<World> {
    const waits = verdict === "VerdictLeaveRequested" || verdict === "VerdictLeftCRNotUpdated";
    const world = await World.make(kind, waits ? SPEED.waiting : SPEED.ordinary);
    try {
        await world.adopt();
        bringAbout(world, scenario, verdict);
        return world;
    } catch (error) {
        await world.close();
        throw error;
    }
}

async function runCell(world: World, cell: DocumentCell, expected: Expected, log: LogLines): Promise<CellResult> {
    const lines = log.of(world.resource).length;
    const { problems, happened } = await judge(world, cell, expected, log);
    return { cell, problems, happened, log: log.of(world.resource).slice(lines) };
}

type Judgement = { readonly problems: readonly string[]; readonly happened: string };

async function judge(world: World, cell: DocumentCell, expected: Expected, log: LogLines): Promise<Judgement> {
    const run = (timeouts: Readonly<Record<string, number>>): Promise<unknown> =>
        cell.operation === "add" ? world.create(timeouts) : world.delete(timeouts);
    if (expected.kind === "fail") return judgeRefusal(world, cell, () => run(IMPATIENT));
    const inVain = isWait(expected) ? await judgeWaitInVain(world, () => run(IN_VAIN[cell.operation])) : [];
    if (isRegistration(expected)) world.forgetInMke();
    const start = world.sim.events.length;
    const registered = world.isRegistered;
    const forget = log.once(world.resource, WAIT, () => letItGoOn(world));
    const error = await failureOf(() => run(PATIENT));
    forget();
    if (error !== undefined)
        return { problems: [...inVain, `it failed: ${messageOf(error)}`], happened: firstLine(error) };
    const deviations = deviationsOf(cell);
    const problems =
        expected.kind === "add"
            ? judgeAddition(world, expected, deviations, start)
            : judgeRemoval(world, registered ? expected.steps : withoutNode(expected.steps), deviations, start);
    return { problems: [...inVain, ...problems], happened: describe(world, expected, start, isWait(expected)) };
}

const WAIT = /^waiting for (the member|Joined=False|the Node) /;
const WAITED = /^waiting for (the member to leave|Joined=False|the Node) on .*gave up waiting/;

/** It waits for what others have to do. */
function isWait(expected: Expected): boolean {
    if (expected.kind === "add") return expected.how === "wait-ready";
    return (
        expected.kind === "remove" &&
        !expected.steps.includes("leave") &&
        expected.steps.some((step) => step === "wait-left" || step === "wait-joined-false")
    );
}

/** It only lists the host in MkeConfig, which adopting the node did already. */
function isRegistration(expected: Expected): boolean {
    return expected.kind === "add" && expected.how === "register";
}

/** Of a host that is not registered there is no Node to delete. */
function withoutNode(steps: readonly RemoveStep[]): readonly RemoveStep[] {
    return steps.filter((step) => step !== "delete-node");
}

/** A wait that ends without its state fails the operation, with the host and the cluster's record of it as they were. */
async function judgeWaitInVain(world: World, operation: () => Promise<unknown>): Promise<string[]> {
    const start = world.sim.events.length;
    const error = await failureOf(operation);
    const done = milestonesSince(world, start);
    const early = (["leave", "delete-object", "delete-node", "reset", "folders"] as const).filter((step) =>
        done.has(step),
    );
    return [
        ...(WAITED.test(messageOf(error)) ? [] : [`waiting in vain ended with ${firstLine(error)}`]),
        ...early.map((step) => `waiting in vain, ${step} happened`),
    ];
}

function describe(world: World, expected: Expected, start: number, waited: boolean): string {
    const wait = waited ? "failed while nothing came; then " : "";
    if (expected.kind === "remove") {
        const steps = [...milestonesSince(world, start)]
            .sort(([, a], [, b]) => a.first - b.first)
            .map(([step]) => step);
        return `${wait}${steps.length === 0 ? "nothing but the mark on the host" : steps.join(", ")}`;
    }
    const actions = writesSince(world, start)
        .filter(({ kind, what }) => kind === "program" && /service/.test(what))
        .map(describeEvent);
    return `${wait}${actions.length === 0 ? "marked" : actions.join(", ")}; Ready`;
}
