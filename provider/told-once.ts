import { MkeError } from "./errors";

/**
 * What Pulumi prints of a failed `read` or `delete` is `${error}: ${error.stack}` in the log, and the message besides, as the
 * resource's error. An error of this package says all in its message: the log is left a line that leads there. Anything else is a
 * fault, and keeps its stack. `name`: of the resource.
 */
export async function toldOnce<T>(name: string, operation: () => Promise<T>): Promise<T> {
    try {
        return await operation();
    } catch (error) {
        if (error instanceof MkeError) {
            Object.defineProperties(error, {
                toString: { value: () => name },
                stack: { value: "failed, for the reason that its error says", configurable: true },
            });
        }
        throw error;
    }
}
