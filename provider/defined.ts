/** T without what is undefined: what may be undefined may be absent, and is never there as undefined. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** For `{ ...others, ...defined({ some, more }) }`, where a property must be absent rather than undefined. */
export function defined<T extends object>(properties: T): Defined<T> {
    return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Defined<T>;
}
