import type { Deadline } from "../deadline";
import { serverNames } from "../decide/stranded";
import { reasonOf } from "../errors";
import type { ClusterFacts } from "../facts/cluster";
import { kindOf } from "../inputs";
import type { Session } from "./session";

/**
 * With the addresses of the names by which workers reach the API, as the controller that helps sees them: which of them lead to
 * the controller that goes (safety.md 20). Where they cannot be had, that stays unknown.
 */
export async function withResolvedServers(
    { cluster: { helper }, inputs, log }: Pick<Session, "cluster" | "inputs" | "log">,
    facts: ClusterFacts,
    deadline: Deadline,
): Promise<ClusterFacts> {
    const names = kindOf(inputs.role) === "controller" ? serverNames(facts.nodes) : [];
    if (names.length === 0) return facts;
    try {
        return { ...facts, resolved: Object.fromEntries(await helper.resolve(names, deadline)) };
    } catch (error) {
        log.line(`the API servers that workers use could not be looked up: ${reasonOf(error)}`, "quiet");
        return facts;
    }
}
