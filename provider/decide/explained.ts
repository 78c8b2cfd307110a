import type { OperationRecord } from "../facts/host";
import type { VerdictReport } from "./etcd-verdict";
import type { RemoveSteps } from "./matrix";
import { isRemoving, wasThereBefore } from "./plan-common";

/** What is left to do in etcd, if the record accounts for the member and the object that are there. */
export function explainedBy(
    record: OperationRecord,
    { verdict, member, object }: VerdictReport,
): Pick<RemoveSteps, "leave" | "deleteObject"> | undefined {
    if (member !== undefined) {
        const isAdded = record.kind !== "remove" && !wasThereBefore(record, member);
        const isOurs = isRemoving(record, member.id) || isAdded;
        return isOurs ? { leave: "leave", deleteObject: true } : undefined;
    }
    if (object !== undefined) {
        return isRemoving(record, object.memberId) ? { leave: "none", deleteObject: true } : undefined;
    }
    return verdict === "VerdictClean" ? { leave: "none", deleteObject: false } : undefined;
}
