/** First come, first served, within this process. */
export class Mutex {
    private last: Promise<unknown> = Promise.resolve();
    private users = 0;

    /** How many hold it or wait for it. */
    get busy(): number {
        return this.users;
    }

    async run<T>(action: () => Promise<T>): Promise<T> {
        this.users += 1;
        const mine = this.last.then(action);
        this.last = mine.catch(() => undefined);
        try {
            return await mine;
        } finally {
            this.users -= 1;
        }
    }
}

const mutexes = new Map<string, Mutex>();

/** The mutex of that name; it is forgotten once nobody uses it. */
export async function exclusively<T>(
    key: string,
    waiting: (ahead: number) => void,
    action: () => Promise<T>,
): Promise<T> {
    const mutex = mutexes.get(key) ?? new Mutex();
    mutexes.set(key, mutex);
    if (mutex.busy > 0) waiting(mutex.busy);
    try {
        return await mutex.run(action);
    } finally {
        if (mutex.busy === 0) mutexes.delete(key);
    }
}

/** Lets an operation in while fewer are inside than it accepts; first come, first served, within this process. */
class Turnstile {
    private inside = 0;
    private readonly queue: { readonly limit: number; readonly enter: () => void }[] = [];

    get isEmpty(): boolean {
        return this.inside === 0 && this.queue.length === 0;
    }

    async run<T>(limit: number, waiting: (ahead: number) => void, action: () => Promise<T>): Promise<T> {
        const admitted = new Promise<void>((enter) => this.queue.push({ limit, enter }));
        this.admit();
        if (this.queue.length > 0) waiting(this.queue.length - 1 + this.inside);
        await admitted;
        try {
            return await action();
        } finally {
            this.inside -= 1;
            this.admit();
        }
    }

    private admit(): void {
        for (let next = this.queue[0]; next !== undefined && this.inside < next.limit; next = this.queue[0]) {
            this.queue.shift();
            this.inside += 1;
            next.enter();
        }
    }
}

const turnstiles = new Map<string, Turnstile>();

/** At most `limit` of this process at a time; the turnstile is forgotten once nobody uses it. */
export async function taking<T>(
    key: string,
    limit: number,
    waiting: (ahead: number) => void,
    action: () => Promise<T>,
): Promise<T> {
    const turnstile = turnstiles.get(key) ?? new Turnstile();
    turnstiles.set(key, turnstile);
    try {
        return await turnstile.run(limit, waiting, action);
    } finally {
        if (turnstile.isEmpty) turnstiles.delete(key);
    }
}
