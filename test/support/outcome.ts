import assert from "node:assert/strict";
import { type Outcome, withWarning } from "../../provider/stages/stage";

/** The words of a stage's end that is a warning. */
export function warningOf(outcome: Outcome): string {
    const text = typeof outcome === "object" ? outcome.text : "";
    assert.deepEqual(outcome, withWarning(text));
    return text;
}
