import type { DocumentCell } from "./document";

/** What a removal's words ask for, in the order they name it. `nothing`: the host is left as it is. */
export type RemoveStep =
    | "leave"
    | "wait-left"
    | "wait-joined-false"
    | "delete-object"
    | "drain"
    | "delete-node"
    | "reset"
    | "folders"
    | "nothing";

export type Expected =
    | { readonly kind: "fail" }
    | { readonly kind: "add"; readonly how: AddWay; readonly cleansObjectFirst: boolean }
    | { readonly kind: "remove"; readonly steps: readonly RemoveStep[] };

export type AddWay = "join" | "register" | "wait-ready" | "restart";

/** What a cell's words say, read off the words alone. */
export function expectedOf({ words, operation, verdict }: DocumentCell): Expected {
    if (words.startsWith("report, fail")) return { kind: "fail" };
    if (operation === "add") {
        return { kind: "add", how: addWay(words), cleansObjectFirst: words.startsWith("cleanup stale CR") };
    }
    return { kind: "remove", steps: removeSteps(words, verdict !== undefined) };
}

function addWay(words: string): AddWay {
    if (words.endsWith("happy path")) return "join";
    if (/register in MKEConfig only/.test(words)) return "register";
    if (/wait for readiness$/.test(words)) return "wait-ready";
    if (/^restart k0s/.test(words)) return "restart";
    throw new Error(`an add of which nobody knows what it means: ${words}`);
}

/** Clauses in the order of the words; what is skipped or excluded takes something away from the happy path. */
const CLAUSES: readonly (readonly [pattern: RegExp, step: RemoveStep])[] = [
    [/^leave etcd$/, "leave"],
    [/^wait for leaving$/, "wait-left"],
    [/^wait (until member left etcd|for (etcd )?member to leave etcd)/, "wait-left"],
    [/^wait for CR to (reach|have) Joined=False/, "wait-joined-false"],
    [/^(cleanup|cleanup stale|remove) CR\??$/, "delete-object"],
    [/^(proceed to )?node cordon( and drain)?$/, "drain"],
    [/^drain$/, "drain"],
    [/^(and |proceed to )?k0s reset/, "reset"],
    [/\+ node removal$/, "delete-node"],
    [/^(proceed to )?(cleanup folders|folder cleanup)$/, "folders"],
    [/^de-register from MKEConfig only$/, "nothing"],
];

function removeSteps(words: string, isMember: boolean): RemoveStep[] {
    const clauses = words
        .replace(/\(exclude cordon, drain\)/, "; exclude cordon and drain")
        .split(/[;,—]/)
        .map((clause) => clause.trim().replace(/^otherwise /, ""))
        .filter((clause) => !/^(report|cleanup|if waiting failed|fail)$/.test(clause));
    const skipsEtcd = clauses.some((clause) => /^(skip|exclude from) (etcd removal|removal from etcd)/.test(clause));
    const skipsDrain = clauses.some((clause) => /^(skip|exclude) .*(cordon|drain)/.test(clause));
    const steps = clauses.flatMap((clause): readonly RemoveStep[] => {
        if (clause === "happy path") {
            return [
                ...(skipsDrain ? [] : (["drain"] as const)),
                ...(isMember && !skipsEtcd ? (["leave", "wait-left", "delete-object"] as const) : []),
                "delete-node",
                "reset",
            ];
        }
        if (/^(skip|exclude)/.test(clause)) return afterSkip(clause);
        const found = CLAUSES.filter(([pattern]) => pattern.test(clause)).map(([, step]) => step);
        if (found.length === 0) throw new Error(`nobody knows what "${clause}" means in: ${words}`);
        return found;
    });
    return [...new Set(steps)];
}

/** `skip leaving etcd and proceed to …` goes on with what is done. */
function afterSkip(clause: string): readonly RemoveStep[] {
    const [, rest] = clause.split(/ and (?=proceed to )/);
    return CLAUSES.filter(([pattern]) => rest !== undefined && pattern.test(rest)).map(([, step]) => step);
}
