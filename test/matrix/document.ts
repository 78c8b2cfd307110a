import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "../../provider/decide/etcd-verdict";
import type { NodeOperation, Scenario } from "../../provider/decide/matrix";
import type { NodeKind } from "../../provider/inputs";
import { root } from "../support/root";

/** One cell of the published table, read from the document itself. */
export interface DocumentCell {
    /** As the document counts: `6c`; without a letter where it has no verdicts. */
    readonly row: string;
    readonly scenario: Scenario;
    /** The document's words for the scenario. */
    readonly title: string;
    /** undefined for workers, and for scenarios that fail before verdicts are computed. */
    readonly verdict: Verdict | undefined;
    readonly kind: NodeKind;
    readonly operation: NodeOperation;
    /** The document's words for what is done. */
    readonly words: string;
}

/** Every cell, in the document's order; a row that names six verdicts has six cells for each operation. */
export function readDocument(): readonly DocumentCell[] {
    const text = readFileSync(join(root, "test", "fixtures", "node-scenarios.txt"), "utf8");
    let scenario: Scenario = 0;
    let title = "";
    return text.split("\n").flatMap((line) => {
        const fields = line.split("|").map((field) => field.trim());
        if (/^\d+$/.test(fields[1] ?? "") && fields.length > 14) {
            scenario = Number(fields[1]) as Scenario;
            title = fields[2] ?? "";
            return [
                ...cellsOf({ scenario, title, kind: "worker" }, "", fields[10], fields[11]),
                ...cellsOf({ scenario, title, kind: "controller" }, fields[12] ?? "", fields[13], fields[14]),
            ];
        }
        if (!/^[b-f]\. /.test(fields[1] ?? "")) return [];
        return cellsOf({ scenario, title, kind: "controller" }, fields[1] ?? "", fields[2], fields[3]);
    });
}

function verdictsIn(field: string): (Verdict | undefined)[] {
    const names = field.match(/Verdict[A-Z]\w+/g) ?? [];
    return names.length === 0 ? [undefined] : (names as Verdict[]);
}

function cellsOf(
    { scenario, title, kind }: Pick<DocumentCell, "scenario" | "title" | "kind">,
    verdicts: string,
    add: string | undefined,
    remove: string | undefined,
): DocumentCell[] {
    const row = `${scenario}${/^([a-f])\. /.exec(verdicts)?.[1] ?? ""}`;
    return verdictsIn(verdicts).flatMap((verdict) => {
        const cell = { row, scenario, title, verdict, kind };
        return [
            { ...cell, operation: "add" as const, words: add ?? "" },
            { ...cell, operation: "remove" as const, words: remove ?? "" },
        ];
    });
}
