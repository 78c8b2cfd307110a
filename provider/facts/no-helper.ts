import { documentPath } from "../documents";
import { ConnectionError, type MkeError, reasonOf, RefusedError } from "../errors";
import { FINDING_HELPER } from "./agreement";
import type { UnsupportedStorageError } from "./storage";

/**
 * The node itself is the only controller that is left, answers by SSH, and its cluster cannot be asked. `advice` is for where
 * its k0s cannot be started either.
 */
export class LoneControllerError extends RefusedError {
    constructor(host: string, cause: unknown) {
        super({
            stage: FINDING_HELPER,
            host,
            what: `it is the only controller there is, and it cannot be asked: ${reasonOf(cause)}`,
            advice:
                "Start k0s on it by hand (`systemctl start k0scontroller`) and see why it does not run (`journalctl -u k0scontroller`); " +
                "or name a running controller of its cluster in `cluster.controllers`. To give the cluster up, set " +
                '`onLastController: "reset"` and `onUnreachable: "remove-from-cluster"`, run `pulumi up`, which stores them, and ' +
                "then remove the resource.",
            topic: "lone-controller",
            cause,
        });
    }
}

/** A controller that cannot help, and why. */
export interface Skipped {
    readonly host: string;
    readonly reason: string;
    /** It may be there later without anybody changing the program. */
    readonly retryable: boolean;
    readonly hasNoCluster: boolean;
    /** No controller is installed on it. */
    readonly isBlank?: boolean;
    /** Nobody answers there by SSH. */
    readonly isAway?: boolean;
    /** It has a cluster, of a kind that no other controller changes. */
    readonly unsupported?: UnsupportedStorageError;
}

/** What a person is told where none of the controllers can help. `mayBeLast`: the target may be all that is left of its cluster. */
export function noHelper(target: string | undefined, mayBeLast: boolean, skipped: readonly Skipped[]): MkeError {
    const [unsupported] = skipped.flatMap((one) => one.unsupported ?? []);
    if (unsupported !== undefined) return unsupported;
    const isNew = skipped.length > 0 && skipped.every(({ hasNoCluster }) => hasNoCluster);
    const details = {
        stage: FINDING_HELPER,
        host: isNew ? target : undefined,
        what: whyNobody(skipped.length, isNew),
        output: skipped.map(({ host, reason }) => `${host}: ${reason}`).join("\n"),
        advice: isNew
            ? firstControllerAdvice()
            : otherControllerAdvice(target, mayBeLast && skipped.some(({ isAway }) => isAway)),
    };
    return skipped.some(({ retryable }) => retryable) ? new ConnectionError(details) : new RefusedError(details);
}

function whyNobody(named: number, isNew: boolean): string {
    if (named === 0) return "no controller is named";
    return isNew
        ? "none of the controllers can be used: there is no cluster behind cluster.controllers"
        : "none of the controllers can be used";
}

/** What all beginners meet who describe a cluster of blank machines. */
function firstControllerAdvice(): string {
    return (
        "The first controller must exist: make it with k0sctl or mkectl, name it in `cluster.controllers` and run `pulumi up` again, " +
        `which adopts it where it is a resource too (${documentPath("guides/first-controller.md")}). ` +
        "If there is a cluster, name a running controller of it."
    );
}

function otherControllerAdvice(target: string | undefined, mayBeGone: boolean): string {
    return (
        "Name a running controller of this cluster in `cluster.controllers`" +
        `${target === undefined ? "" : `, other than ${target}`}, and check its address and login. ` +
        (mayBeGone ? "Take one that is gone for good out of it. " : "") +
        `After a change of keys: ${documentPath("guides/rotating-keys.md")}.`
    );
}
