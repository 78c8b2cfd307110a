import { before, type Deadline } from "../../deadline";

/** Lets at most `limit` holders in at once, others queue in order. */
export class Semaphore {
    private held = 0;
    private readonly queue: (() => void)[] = [];

    constructor(private limit: number) {}

    get busy(): number {
        return this.held;
    }

    /** Waits for a place; `onTimeout` makes the error when the deadline comes first. Answers how to give it back. */
    async enter(deadline: Deadline, onTimeout: () => Error): Promise<() => void> {
        if (this.held < this.limit) {
            this.held += 1;
            return this.leaver();
        }
        let enter: () => void = () => undefined;
        const turn = new Promise<void>((resolve) => (enter = resolve));
        this.queue.push(enter);
        try {
            await before(deadline, turn, onTimeout);
        } catch (error) {
            const place = this.queue.indexOf(enter);
            if (place >= 0) this.queue.splice(place, 1);
            // The turn came at the same moment: it goes to the next one.
            else this.leaver()();
            throw error;
        }
        return this.leaver();
    }

    /** From now on fewer; never less than one. */
    lowerTo(limit: number): void {
        this.limit = Math.max(1, Math.min(this.limit, limit));
    }

    /** Lets everybody in, now and later. */
    openAll(): void {
        this.limit = Infinity;
        this.admit();
    }

    private leaver(): () => void {
        let left = false;
        return () => {
            if (left) return;
            left = true;
            this.held -= 1;
            this.admit();
        };
    }

    private admit(): void {
        while (this.held < this.limit && this.queue.length > 0) {
            this.held += 1;
            this.queue.shift()?.();
        }
    }
}
