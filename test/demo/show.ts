import type { EngineEvent } from "@pulumi/pulumi/automation";
import type { Member } from "./scene";

type DiagnosticEvent = NonNullable<EngineEvent["diagnosticEvent"]>;
type SummaryEvent = NonNullable<EngineEvent["summaryEvent"]>;

/** In Pulumi's order and words. */
const CHANGES = {
    create: "+ created",
    update: "~ updated",
    replace: "± replaced",
    delete: "- deleted",
    same: "unchanged",
};
/** A stage that starts, told again with its result when it ends; and controllers that were passed over as helpers. */
const NOISE = / …$|^\S+: not working through /;
/** What a user of the CLI sees; there is `debug` as well, which has everything in it. */
const TOLD: ReadonlySet<string> = new Set(["info", "info#err", "warning", "error"]);
const COLOUR = /<\{%[^%]*%\}>/g;

/** What a person sees. */
export class Show {
    private steps = 0;

    constructor(private readonly write: (line: string) => void) {}

    line(text: string): void {
        this.write(text);
    }

    step(title: string): void {
        this.steps += 1;
        this.write(`\n${this.steps}. ${title}`);
    }

    detail(text: string): void {
        this.write(`   ${text}`);
    }

    members(when: "before" | "after", members: readonly Member[]): void {
        if (members.length === 0) return this.detail(`etcd ${when}: no members`);
        this.detail(`etcd ${when}:`);
        for (const { name, id, address, role } of members) {
            this.detail(`  ${name.padEnd(4)} ${id.padStart(16)}  ${address.padEnd(12)}  ${role}`);
        }
    }

    /** The provider's progress, errors and Pulumi's summary; all else that the engine tells is left out. */
    event({ diagnosticEvent, summaryEvent }: EngineEvent): void {
        if (diagnosticEvent !== undefined) this.diagnostic(diagnosticEvent);
        if (summaryEvent !== undefined) this.detail(summaryOf(summaryEvent));
    }

    private diagnostic({ message, severity }: DiagnosticEvent): void {
        if (!TOLD.has(severity)) return;
        for (const line of message.replaceAll(COLOUR, "").split("\n")) {
            if (line.trim() !== "" && !NOISE.test(line)) this.detail(`  ${line}`);
        }
    }
}

/** `+ 3 created, 2 unchanged (12 s)` */
function summaryOf({ resourceChanges, durationSeconds }: SummaryEvent): string {
    const parts = Object.entries(CHANGES).flatMap(([operation, words]) => {
        const count = resourceChanges[operation as keyof typeof CHANGES];
        if (count === undefined || count === 0) return [];
        return [words.includes(" ") ? words.replace(" ", ` ${count} `) : `${count} ${words}`];
    });
    return `Pulumi: ${parts.length === 0 ? "nothing to do" : parts.join(", ")} (${durationSeconds} s)`;
}
