import type { Member } from "./scene";

/** What a person sees: what Pulumi prints, as it prints it, and between the runs what became of the cluster. */
export class Show {
    private steps = 0;

    /** `write` takes text as it comes: Pulumi's are pieces of lines, too. */
    constructor(private readonly write: (text: string) => void) {}

    line(text: string): void {
        this.write(`${text}\n`);
    }

    step(title: string): void {
        this.steps += 1;
        this.line(`\n${this.steps}. ${title}\n`);
    }

    /** Not reworded, not shortened. */
    pulumi(text: string): void {
        this.write(text);
    }

    detail(text: string): void {
        this.line(`   ${text}`);
    }

    members(when: "before" | "after", members: readonly Member[]): void {
        if (members.length === 0) return this.detail(`etcd ${when}: no members`);
        this.detail(`etcd ${when}:`);
        for (const { name, id, address, role } of members) {
            this.detail(`  ${name.padEnd(4)} ${id.padStart(16)}  ${address.padEnd(12)}  ${role}`);
        }
    }
}
