import { PREFLIGHT_DEFAULTS, TIMEOUT_DEFAULTS } from "./defaults";
import { type Bag, isBag } from "./shape";

/**
 * Defaults that changed, with what earlier releases filled in and stored. State does not tell a default from a value that the
 * program named, so a node that has one of these must not be updated only because the package was. Add to it with each change
 * of a default; the recorded states (test/states) show what is missing.
 */
const CHANGED_DEFAULTS = [
    // 0.1.0
    { input: "timeouts", field: "api", earlier: [180] as readonly unknown[], today: TIMEOUT_DEFAULTS.api },
    // 0.1.0 did not compare clocks
    {
        input: "preflight",
        field: "maxClockSkew",
        earlier: [undefined] as readonly unknown[],
        today: PREFLIGHT_DEFAULTS.maxClockSkew,
    },
] as const;

/**
 * Stored inputs, with today's default in place of an earlier one where the program has today's. A program that moves from
 * exactly an earlier default to today's is stored with its next other change.
 */
export function withTodaysDefaults(stored: Bag, program: Bag): Bag {
    return CHANGED_DEFAULTS.reduce((inputs, { input, field, earlier, today }) => {
        const [before, after] = [inputs[input], program[input]];
        if (!isBag(before) || !isBag(after) || after[field] !== today || !earlier.includes(before[field]))
            return inputs;
        return { ...inputs, [input]: { ...before, [field]: today } };
    }, stored);
}
