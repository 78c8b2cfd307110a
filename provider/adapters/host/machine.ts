import { OtherMachineError } from "../../errors";
import { MARKER_PATH } from "../../facts/host-probe";
import type { HostFacts } from "../../facts/host";
import type { ProgramOutcome } from "./root-shell";
import type { ProgramValues } from "./program";

/** What a program that changes a host must find there, or it does nothing (safety.md 4). */
export interface MachineIdentity {
    /** "": it has none, which is not compared. */
    readonly machineId: string;
    /** Token of our marker, "" for no marker. undefined: not compared, because others may mark the host meanwhile. */
    readonly token?: string;
}

/** Of the host that a decision was made on. */
export function machineOf({ machineId, marker }: Pick<HostFacts, "machineId" | "marker">): MachineIdentity {
    return { machineId, token: marker?.token ?? "" };
}

/** Of `on_machine` in `scripts/prelude.sh`. */
const REFUSED = 86;
const ANSWER = /^another-machine\t(?<machineId>[^\t\n]*)\t(?<token>[^\t\n]*)\n$/;

/** The machine that an operation works on, and the marks it may find there: those it came to, and those it made itself. */
export class MachineGuard {
    private tokens: readonly string[] | undefined;

    constructor(private readonly machine: MachineIdentity) {
        this.tokens = machine.token === undefined ? undefined : [machine.token];
    }

    /** To be sent with each program that changes the host. */
    get values(): ProgramValues {
        return {
            ON_MARKER: MARKER_PATH,
            ON_MACHINE: this.machine.machineId,
            ON_TOKENS: (this.tokens ?? []).map((token) => `=${token}`).join("\n"),
        };
    }

    /** Runs what changes the token in our marker ("": removes it). Where its end is not seen, either may be there. */
    async marking<T>(token: string, change: () => Promise<T>): Promise<T> {
        const before = this.tokens;
        if (before === undefined) return change();
        this.tokens = [...new Set([...before, token])];
        const done = await change();
        this.tokens = [token];
        return done;
    }

    /** Throws where the program found itself on another machine; it has changed nothing then. */
    check({ exitCode, stdout }: ProgramOutcome, stage: string, host: string): void {
        const found = exitCode === REFUSED ? ANSWER.exec(stdout.toString())?.groups : undefined;
        if (found === undefined) return;
        const { machineId = "", token = "" } = found;
        const { machineId: decided } = this.machine;
        const isOther = decided !== "" && decided !== machineId;
        throw otherMachine(
            stage,
            host,
            isOther ? `machine ${nameOf(machineId)}` : `a machine ${markedBy(token)}`,
            isOther ? `machine ${decided}` : `one ${markedBy(this.tokens?.[0] ?? "")}`,
        );
    }
}

/** `answers`, `decided`: what was found there, and what should have been. */
export function otherMachine(stage: string, host: string, answers: string, decided: string): OtherMachineError {
    return new OtherMachineError({
        stage,
        host,
        what: `another machine answers there: ${answers}; this operation was decided on ${decided}`,
        advice:
            "Nothing was done on it. The address leads elsewhere than when the operation began (DNS, an elastic or a DHCP " +
            "address), or somebody else took the machine meanwhile. Find out which machine `host` should name, then run again: " +
            "everything is looked at afresh.",
        topic: "other-machine",
    });
}

function nameOf(machineId: string): string {
    return machineId === "" ? "without a machine id" : machineId;
}

function markedBy(token: string): string {
    return token === "" ? "without our marker" : `with the marker of token ${token}`;
}
