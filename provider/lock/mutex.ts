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
