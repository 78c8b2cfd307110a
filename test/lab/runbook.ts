import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/root";
import { type Machine, on } from "./machines";

/** The runbook's example, which stands for the node in question. */
const EXAMPLE = { name: "c3", address: "10.0.0.3", id: "8e9e05c52164694d" };

export interface Question {
    readonly helper: Machine;
    /** The node in question; for commands marked _helper_ alone only its address counts. */
    readonly node: Machine;
    /** Hexadecimal. */
    readonly memberId?: string;
}

/** Runs what the runbook says, word for word but for its example's name, address and member ID. */
export async function followRunbook(topic: string, block: number, question: Question): Promise<void> {
    for (const { where, script } of stepsOf(topic, block)) {
        const machine = where === "host" ? question.node : question.helper;
        await on(machine, `set -e\n${inPlaceOfExample(script, question)}`);
    }
}

/** The n-th block of commands of a section's repair (or of the whole section, if it has none), split by where they run. */
function stepsOf(topic: string, block: number): { readonly where: string; readonly script: string }[] {
    const text = readFileSync(join(root, "docs", "runbook.md"), "utf8");
    const section = text.split(`\n## ${topic}\n`)[1]?.split("\n## ")[0] ?? "";
    const repair = section.split("**Repair.**")[1] ?? section;
    const commands = [...repair.matchAll(/```sh\n(?<commands>[^]*?)```/g)][block]?.groups?.["commands"];
    if (commands === undefined) throw new Error(`docs/runbook.md#${topic} has no block ${block} of commands`);
    return commands
        .split(/^(?=# (?:host|helper)\b)/m)
        .filter((part) => part.trim() !== "")
        .map((part) => ({ where: /^# (?<where>\w+)/.exec(part)?.groups?.["where"] ?? "helper", script: part }));
}

function inPlaceOfExample(script: string, { node, memberId = EXAMPLE.id }: Question): string {
    return script
        .replaceAll(EXAMPLE.address, node.address)
        .replaceAll(new RegExp(`\\b${EXAMPLE.name}\\b`, "g"), node.name)
        .replaceAll(EXAMPLE.id, memberId)
        .replaceAll(decimal(EXAMPLE.id), decimal(memberId));
}

function decimal(id: string): string {
    return BigInt(`0x${id}`).toString();
}
