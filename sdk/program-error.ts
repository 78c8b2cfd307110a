import { type ErrorDetails, InputError } from "../provider/errors";

/**
 * A mistake in the program, found while it runs. Pulumi shows such an error by its message alone, as it does its own `RunError`,
 * which `RunError.isInstance` knows by this mark; other errors come with their stack and all that hangs on them.
 */
export class ProgramError extends InputError {
    constructor(details: Omit<ErrorDetails, "stage">) {
        super({ stage: "reading the program", ...details });
        Object.defineProperty(this, "__pulumiRunError", { value: true });
        this.stack = this.message;
    }
}
