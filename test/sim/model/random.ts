/** A range of the timing table, or one value. */
export type Range = number | readonly [from: number, to: number];

/** Repeatable randomness: the same seed gives the same cluster, member for member. */
export class Random {
    constructor(private state: number) {}

    /** 0 ≤ x < 1 (mulberry32). */
    next(): number {
        this.state = (this.state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    }

    within(range: Range): number {
        if (typeof range === "number") return range;
        return range[0] + this.next() * (range[1] - range[0]);
    }

    hex(digits: number): string {
        return Array.from({ length: digits }, () => Math.floor(this.next() * 16).toString(16)).join("");
    }

    /** Lower-case letters and digits. */
    word(length: number): string {
        return Array.from({ length }, () => Math.floor(this.next() * 36).toString(36)).join("");
    }

    uuid(): string {
        return [8, 4, 4, 4, 12].map((digits) => this.hex(digits)).join("-");
    }

    /** A member or cluster id, any unsigned 64-bit number but 0. */
    id(): bigint {
        return BigInt(`0x${this.hex(16)}`) || 1n;
    }
}
