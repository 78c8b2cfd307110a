/** A stand-in for the k0s program: it knows its version, and is no smaller than some chunks of a stream. */
export function k0sProgram(version: string): Buffer {
    return Buffer.concat([Buffer.from(`#!simulated k0s ${version}\n`), Buffer.alloc(200_000, "k0s ")]);
}

/** undefined: not a k0s program. */
export function versionOfProgram(content: Buffer | undefined): string | undefined {
    return /^#!simulated k0s (\S+)\n/.exec(content?.subarray(0, 100).toString("latin1") ?? "")?.[1];
}
