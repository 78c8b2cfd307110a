import type { SimHost } from "../model/host";

export interface ProgramOutput {
    readonly exitCode: number;
    readonly stdout: string | Buffer;
    readonly stderr: string;
}

/** The meaning of one program of `provider/adapters/host/scripts`: values in, output out. */
export type Program = (host: SimHost, values: Values) => string | Buffer | Promise<string | Buffer>;

/** A program's values; asking for one that was not sent is an error of the simulation or of the adapter. */
export class Values {
    constructor(
        private readonly program: string,
        readonly all: Readonly<Record<string, string>>,
    ) {}

    get(name: string): string {
        const value = this.all[name];
        if (value === undefined) throw new Error(`the program ${this.program} needs ${name}`);
        return value;
    }

    lines(name: string): string[] {
        return this.get(name)
            .split("\n")
            .filter((line) => line !== "");
    }
}

/** The program ends with that exit code and text on stderr. */
export class ProgramFailure extends Error {
    constructor(
        message: string,
        readonly exitCode = 1,
    ) {
        super(message);
    }
}
