/** A timer of the simulation. */
export interface SimTimer {
    cancel(): void;
}

interface Event {
    readonly due: number;
    readonly order: number;
    readonly action: () => void;
}

/**
 * Simulated time in seconds since the start. What is due runs in the order of its due times, and while it runs the clock
 * shows its due time, so that distances do not depend on how busy this machine is. Real time only sets the pace.
 */
export class SimClock {
    private readonly queue: Event[] = [];
    private readonly startedAt = performance.now();
    private readonly epoch = Date.now();
    private skipped = 0;
    private current = 0;
    private acting = false;
    private closed = false;
    private order = 0;
    private alarm: NodeJS.Timeout | undefined;

    /** `speed`: simulated seconds for one real second; 0: time passes only by `advance`. */
    constructor(readonly speed: number) {}

    get now(): number {
        return this.acting ? this.current : this.paced;
    }

    /** Milliseconds since 1970 of a simulated moment, as the simulated servers store it. */
    wallOf(seconds: number): number {
        return this.epoch + seconds * 1000;
    }

    /** How far real time is ahead of simulated time (negative: behind), in milliseconds: ages stay right when added. */
    get drift(): number {
        return Date.now() - this.wallOf(this.now);
    }

    after(seconds: number, action: () => void): SimTimer {
        const event = { due: this.now + Math.max(0, seconds), order: (this.order += 1), action };
        const later = (other: Event): boolean => other.due > event.due;
        const at = this.queue.findIndex(later);
        this.queue.splice(at < 0 ? this.queue.length : at, 0, event);
        this.setAlarm();
        return {
            cancel: () => {
                const index = this.queue.indexOf(event);
                if (index >= 0) this.queue.splice(index, 1);
            },
        };
    }

    wait(seconds: number): Promise<void> {
        return new Promise((resolve) => void this.after(seconds, resolve));
    }

    /** Everything that comes from outside happens at one moment, after all that is due before it. */
    act<T>(action: () => T): T {
        if (this.acting) return action();
        this.runUntil(this.paced);
        return this.at(this.now, action);
    }

    /** Jumps ahead and runs on the way what is due. */
    advance(seconds: number): void {
        const target = this.now + seconds;
        this.skipped += seconds;
        this.runUntil(target);
    }

    close(): void {
        this.closed = true;
        this.queue.length = 0;
        clearTimeout(this.alarm);
    }

    private get paced(): number {
        return this.skipped + ((performance.now() - this.startedAt) / 1000) * this.speed;
    }

    private runUntil(target: number): void {
        for (let next = this.queue[0]; next !== undefined && next.due <= target; next = this.queue[0]) {
            this.queue.shift();
            this.at(next.due, next.action);
        }
        this.setAlarm();
    }

    private at<T>(moment: number, action: () => T): T {
        const nested = this.acting;
        this.acting = true;
        this.current = moment;
        try {
            return action();
        } finally {
            this.acting = nested;
        }
    }

    private setAlarm(): void {
        clearTimeout(this.alarm);
        const next = this.queue[0];
        if (next === undefined || this.speed === 0 || this.closed) return;
        const delay = Math.max(0, ((next.due - this.paced) / this.speed) * 1000);
        this.alarm = setTimeout(() => this.runUntil(this.paced), Math.min(delay, 2 ** 31 - 1)).unref();
    }
}
