import { join } from "node:path";

/** The package's own folder; tests run from `dist/test`. */
export const root = join(__dirname, "..", "..", "..");
