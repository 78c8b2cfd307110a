import { LOG_VARIABLE } from "../../provider/log";

/** From now on the logs that are made tell what that level does, all of it by default; answers how to go back. */
export function logAt(level = "debug"): () => void {
    const before = process.env[LOG_VARIABLE];
    process.env[LOG_VARIABLE] = level;
    return () => {
        if (before === undefined) Reflect.deleteProperty(process.env, LOG_VARIABLE);
        else process.env[LOG_VARIABLE] = before;
    };
}
