import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, RefusedError } from "../../provider/errors";
import { root } from "../support/root";
import type { DocumentCell } from "./document";
import { describeEvent, differences, picture, writesSince } from "./evidence";
import type { World } from "./world";

const runbook = readFileSync(join(root, "docs", "runbook.md"), "utf8");

/** What of a "report, fail" is not as it must be: nothing changed anywhere, and an error that says all it should. */
export async function judgeRefusal(
    world: World,
    { scenario, title, verdict }: DocumentCell,
    operation: () => Promise<unknown>,
): Promise<{ readonly problems: readonly string[]; readonly happened: string }> {
    const before = picture(world);
    const start = world.sim.events.length;
    const error = await failureOf(operation);
    const writes = writesSince(world, start).map((event) => `it did ${describeEvent(event)}`);
    const changes = differences(before, picture(world)).map((line) => `changed: ${line.slice(0, 200)}`);
    return { problems: [...writes, ...changes, ...judgeError(error)], happened: firstLine(error) };

    function judgeError(found: unknown): string[] {
        if (!(found instanceof RefusedError))
            return [`it ended with ${found === undefined ? "success" : messageOf(found)}`];
        const { message, details, topic } = found;
        return [
            ...[`scenario ${scenario} (${title})`, ...(verdict === undefined ? [] : [verdict]), "Nothing was changed."]
                .filter((words) => !message.includes(words))
                .map((words) => `its error does not say "${words}": ${message}`),
            ...((details.output ?? "") === "" ? ["its error names no evidence"] : []),
            ...(topic !== undefined && runbook.includes(`\n## ${topic}\n`) ? [] : ["its error names no runbook topic"]),
        ];
    }
}

export async function failureOf(operation: () => Promise<unknown>): Promise<unknown> {
    try {
        await operation();
        return undefined;
    } catch (error) {
        return error;
    }
}

export function firstLine(error: unknown): string {
    return error === undefined ? "success" : (messageOf(error).split("\n")[0] ?? "");
}
