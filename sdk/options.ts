import type * as pulumi from "@pulumi/pulumi";
import { documentPath } from "../provider/documents";
import { ProgramError } from "./program-error";

type Options = pulumi.CustomResourceOptions | undefined;

/** Pulumi would ask for the node without its provider's text, and fail with "code must be a string, not undefined". */
export function refuseImport(name: string, opts: Options): void {
    if (opts?.import === undefined) return;
    throw new ProgramError({
        what: `the node ${JSON.stringify(name)} has the option import, and dynamic resources cannot be imported`,
        advice:
            "Take the option out and run `pulumi up`: a node that is already there is adopted as it is " +
            `(${documentPath("guides/adopting-a-cluster.md")}).`,
    });
}

/** A removal that is skipped leaves an etcd member behind that nobody runs. */
export function refuseSkippedRemoval(name: string, opts: Options): void {
    const option = (["deletedWith", "retainOnDelete"] as const).find((key) => Boolean(opts?.[key]));
    if (option === undefined) return;
    throw new ProgramError({
        what: `the controller ${JSON.stringify(name)} has the option ${option}, which skips its removal from etcd`,
        advice: "Take the option out, or set allowSkippedRemoval: true if the whole cluster goes with it.",
    });
}
