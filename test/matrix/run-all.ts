import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { type CellResult, runCells } from "./cell";
import type { DocumentCell } from "./document";
import type { LogLines } from "./log-lines";

/** How many simulations live at a time: most of a cell's time is waiting. */
const AT_A_TIME = 5;

export interface MatrixRun {
    /** Never rejects: a cell that could not be run at all is not as specified. */
    readonly resultOf: (cell: DocumentCell) => Promise<CellResult>;
    /** Ends when everything is over and nothing is left behind. */
    readonly done: Promise<void>;
}

/** Starts all cells, the states of one role side by side. */
export function startMatrix(log: LogLines, cells: readonly DocumentCell[]): MatrixRun {
    const groups = new Map<string, DocumentCell[]>();
    for (const cell of cells) {
        const key = `${cell.kind} ${cell.scenario} ${cell.verdict ?? ""}`;
        groups.set(key, [...(groups.get(key) ?? []), cell]);
    }
    const pending = [...groups.values()];
    const results = new Map<DocumentCell, Promise<CellResult>>();
    const settlers = new Map<DocumentCell, (result: CellResult) => void>();
    for (const cell of cells) results.set(cell, new Promise((resolve) => settlers.set(cell, resolve)));
    const work = async (): Promise<void> => {
        for (let group = pending.shift(); group !== undefined; group = pending.shift()) {
            for (const result of await runGroup(group, log)) settlers.get(result.cell)?.(result);
        }
    };
    const done = Promise.all(Array.from({ length: AT_A_TIME }, work)).then(() => {
        closeAll();
        forgetControllers();
    });
    return { resultOf: (cell) => results.get(cell) as Promise<CellResult>, done };
}

async function runGroup(group: readonly DocumentCell[], log: LogLines): Promise<CellResult[]> {
    try {
        return await runCells(group, log);
    } catch (error) {
        const problems = [`it could not be run: ${(error as Error).stack ?? String(error)}`];
        return group.map((cell) => ({ cell, problems, happened: "not run", log: [] }));
    }
}

export function nameOf({ scenario, verdict, kind, operation }: DocumentCell): string {
    const role = kind === "worker" ? "worker" : "controller";
    return `scenario ${scenario} ${verdict ?? "(no verdict)"} ${role} ${operation}`;
}
