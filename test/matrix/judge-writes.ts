import type { Effect } from "./deviations";
import { describeEvent, writesSince } from "./evidence";
import type { World } from "./world";
import { type Write, writeOf } from "./writes";

/**
 * Each write of an operation is called for by the cell's words or by a deviation, and each deviation that is said to happen
 * always did. `called`: what the words call for.
 */
export function judgeWrites(
    world: World,
    called: readonly Write[],
    deviations: readonly Effect[],
    start: number,
): string[] {
    const extra = deviations.flatMap((effect) =>
        "adds" in effect ? effect.adds : "does" in effect ? [effect.does] : [],
    );
    const allowed = new Set<Write | undefined>([...called, ...extra]);
    const writes = writesSince(world, start).map((event) => ({ event, write: writeOf(world, event) }));
    const seen = new Set(writes.map(({ write }) => write));
    const expected = deviations.flatMap((effect) => ("adds" in effect && effect.always ? effect.adds : []));
    return [
        ...writes
            .filter(({ write }) => write === undefined || !allowed.has(write))
            .map(({ event, write }) => `no word calls for ${write ?? "this"}: it did ${describeEvent(event)}`),
        ...expected.filter((write) => !seen.has(write)).map((write) => `${write} did not happen`),
    ];
}
