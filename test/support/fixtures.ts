import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root";

/** A recorded object of `test/fixtures`, parsed. */
export function fixture(name: string): unknown {
    return JSON.parse(readFileSync(join(root, "test", "fixtures", name), "utf8")) as unknown;
}
