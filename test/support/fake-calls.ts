/** What the fakes of one test were asked to do, in order, a line each: `c3 service start controller`. */
export type Calls = string[];

type Method = (...args: never[]) => unknown;

/** Methods whose arguments are not all told: what is left out is secret or says nothing. */
export type Telling<T> = {
    readonly [K in keyof T]?: T[K] extends Method ? (...args: Parameters<T[K]>) => string : never;
};

/**
 * An object with every method of the interface: it notes the call and answers what the test gives for it, else what the fake
 * itself answers.
 */
export function recorded<T extends object>(
    name: string,
    calls: Calls,
    own: T,
    given: Partial<T>,
    telling: Telling<T> = {},
): T {
    const wrapped = Object.entries(own).map(([method, value]): [string, unknown] => {
        if (typeof value !== "function") return [method, value];
        return [
            method,
            (...args: never[]): unknown => {
                const tell = telling[method as keyof T] as ((...args: never[]) => string) | undefined;
                calls.push(
                    [name, method, tell === undefined ? args.map(inWords).join(" ") : tell(...args)].join(" ").trim(),
                );
                const answer = (given[method as keyof T] ?? value) as Method;
                return answer(...args);
            },
        ];
    });
    return Object.fromEntries(wrapped) as T;
}

function inWords(value: unknown): string {
    if (typeof value === "string" || typeof value === "number") return String(value);
    if (typeof value === "bigint") return value.toString(16);
    return JSON.stringify(value);
}

/** The calls whose line begins with one of these words. */
export function only(calls: Calls, ...beginnings: readonly string[]): string[] {
    return calls.filter((call) => beginnings.some((beginning) => call.startsWith(beginning)));
}
