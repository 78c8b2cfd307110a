import type { Eviction } from "./index";
import type { HttpResponse } from "./transport";

interface Status {
    readonly message?: string;
    readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** A webhook's or a policy's own words; the code is theirs to choose (kube-apiserver 1.36, observed). */
const DENIED = /^admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request/;

/** undefined: an error like any other. */
export function evictionIn({ status, text }: HttpResponse): Eviction | undefined {
    if (status === 404 || status === 409) return "gone";
    if (status < 300) return "accepted";
    const answer = parsed(text);
    const message = answer.message ?? text.slice(0, 200);
    if (status === 429) return { blocked: budgetsIn(answer) ?? message };
    if (status >= 500 || DENIED.test(message)) return { failed: message };
    return undefined;
}

/** One sentence for each budget, with its name: the message itself names none. */
function budgetsIn({ details }: Status): string | undefined {
    const budgets = (details?.causes ?? []).filter(({ reason }) => reason === "DisruptionBudget");
    return budgets.length === 0 ? undefined : budgets.map(({ message }) => message ?? "").join(" ");
}

function parsed(text: string): Status {
    try {
        return JSON.parse(text) as Status;
    } catch {
        return {};
    }
}
