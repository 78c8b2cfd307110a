import { type DecodedProgram, onlyLooks, type ProgramName } from "../../../provider/adapters/host/program";
import type { SimHost } from "../model/host";
import type { ProgramOutput } from "./program";

/** Of `on_machine` in `provider/adapters/host/scripts/prelude.sh`. */
const KEYS = ["ON_MARKER", "ON_MACHINE", "ON_TOKENS"] as const;
const REFUSED = 86;

/** What `on_machine` does: undefined where the program may run. */
export function refusedHere(host: SimHost, { values }: DecodedProgram): ProgramOutput | undefined {
    const { ON_MARKER: marker, ON_MACHINE: machineId = "", ON_TOKENS: tokens = "" } = values;
    if (marker === undefined) return undefined;
    const token = tokenIn(host.files.text(marker) ?? "");
    const isMachine = machineId === "" || machineId === host.machineId;
    if (isMachine && (tokens === "" || tokens.split("\n").includes(`=${token}`))) return undefined;
    return { exitCode: REFUSED, stdout: `another-machine\t${host.machineId}\t${token}\n`, stderr: "" };
}

/** A program that changes something, and runs wherever it comes to. */
export function isUnguarded({ name, values }: DecodedProgram): boolean {
    return !onlyLooks(name as ProgramName) && values["ON_MARKER"] === undefined;
}

/** Without what goes with every program. */
export function ownValues(values: DecodedProgram["values"]): [string, string][] {
    return Object.entries(values).filter(([key]) => !(KEYS as readonly string[]).includes(key));
}

function tokenIn(text: string): string {
    return /"token"\s*:\s*"(?<token>[^"]*)"/.exec(text)?.groups?.["token"] ?? "";
}
