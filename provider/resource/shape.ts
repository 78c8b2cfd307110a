/**
 * Shapes of plain values: they report what is wrong with a property path, fill defaults in, and let values that Pulumi
 * does not know yet pass untouched at any depth. Received values appear in a report only where they cannot be secret.
 */

/** What Pulumi sends for a value it does not know yet (`pulumi.runtime.unknownValue`). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export interface Problem {
    /** Path of the property: `cluster.controllers[0].host`. */
    readonly property: string;
    readonly reason: string;
}

export type Report = (property: string, reason: string) => void;

/** For values that were checked before: only defaults are filled in, and no time goes into what nobody hears. */
export const silent: Report = () => undefined;

/** Looks at a value that is present and known; answers it with defaults filled in. */
export type Shape = (value: unknown, at: string, report: Report) => unknown;

export interface Field {
    readonly shape: Shape;
    /** Filled in where the value is missing; it goes through the shape itself. */
    readonly fallback?: unknown;
    /** What to say when the value is missing; absent = the field may be missing. */
    readonly required?: string;
}

export type Fields = Readonly<Record<string, Field>>;

export type Bag = Readonly<Record<string, unknown>>;

export function isBag(value: unknown): value is Bag {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one in place of anything else. */
export function bagOf(value: unknown): Bag {
    return isBag(value) ? value : {};
}

export function isMissing(value: unknown): value is undefined | null {
    return value === undefined || value === null;
}

/** True where the value, or anything inside it, is not known yet. */
export function holdsUnknown(value: unknown): boolean {
    return holds(value, (inner) => inner === UNKNOWN);
}

function holds(value: unknown, isSuch: (inner: unknown) => boolean): boolean {
    if (isSuch(value)) return true;
    if (typeof value !== "object" || value === null) return false;
    return Object.values(value).some((inner) => holds(inner, isSuch));
}

/** A string; `rule` answers what is wrong with it, or undefined. */
export function text(rule: (value: string) => string | undefined = notEmpty): Shape {
    return (value, at, report) => {
        if (report === silent) return value;
        const reason = typeof value === "string" ? rule(value) : `must be a string, got ${kindOf(value)}`;
        if (reason !== undefined) report(at, reason);
        return value;
    };
}

/** A string that matches; `expected` completes "must be …". The value is quoted in the report. */
export function pattern(expression: RegExp, expected: string): Shape {
    return text((value) => (expression.test(value) ? undefined : `must be ${expected}, got ${quote(value)}`));
}

export function number(limits: { min: number; max?: number; integer?: boolean; expected: string }): Shape {
    return (value, at, report) => {
        if (typeof value !== "number") report(at, `must be a number, got ${kindOf(value)}`);
        else if (!isWithin(value, limits)) report(at, `must be ${limits.expected}, got ${value}`);
        // State has no -0, from which it would differ for ever.
        return Object.is(value, -0) ? 0 : value;
    };
}

export const bool: Shape = (value, at, report) => {
    if (typeof value !== "boolean") report(at, `must be true or false, got ${kindOf(value)}`);
    return value;
};

export function oneOf(...choices: readonly string[]): Shape {
    return (value, at, report) => {
        const known = typeof value === "string" && choices.includes(value);
        if (!known) report(at, `must be ${orList(choices)}, got ${quote(value)}`);
        return value;
    };
}

/** The given shape, or `false`. */
export function orFalse(shape: Shape): Shape {
    return (value, at, report) => (value === false ? value : shape(value, at, report));
}

export function list(item: Shape): Shape {
    return (value, at, report) => {
        if (Array.isArray(value)) return value.map((entry, i) => shaped({ shape: item }, entry, `${at}[${i}]`, report));
        report(at, `must be a list, got ${kindOf(value)}`);
        return value;
    };
}

/** A map whose keys belong to the user; `rule` answers what is wrong with a key, or undefined. */
export function map(item: Shape, rule: (key: string) => string | undefined): Shape {
    return (value, at, report) => {
        if (!isBag(value)) {
            report(at, `must be a map, got ${kindOf(value)}`);
            return value;
        }
        return withoutMissing(value, (key, entry) => {
            const reason = rule(key);
            if (reason !== undefined) report(at, reason);
            return shaped({ shape: item }, entry, `${at}[${quote(key)}]`, report);
        });
    };
}

/** Anything a JSON document can hold, as it comes back from one: what state cannot keep would differ from it for ever. */
export const anything: Shape = (value, at, report) => {
    if (report === silent) return value;
    if (holds(value, isOddNumber)) report(at, "must hold only numbers that are finite");
    return JSON.parse(JSON.stringify(value)) as unknown;
};

function isOddNumber(value: unknown): boolean {
    return typeof value === "number" && !Number.isFinite(value);
}

/** An object of exactly these fields. `hints` explains fields that people try although they are not there. */
export function object(fields: Fields, hints: Readonly<Record<string, string>> = {}): Shape {
    const hintFor = (key: string): string | undefined => (Object.hasOwn(hints, key) ? hints[key] : undefined);
    return (value, at, report) => {
        if (!isBag(value)) {
            report(at, `must be an object, got ${kindOf(value)}`);
            return value;
        }
        for (const key of report === silent ? [] : Object.keys(value)) {
            if (!isMissing(value[key]) && !Object.hasOwn(fields, key)) {
                report(join(at, key), hintFor(key) ?? notAnInput(key, Object.keys(fields)));
            }
        }
        return withoutMissing(fields, (key, field) => shaped(field, value[key], join(at, key), report));
    };
}

function shaped(field: Field, value: unknown, at: string, report: Report): unknown {
    if (value === UNKNOWN) return value;
    if (!isMissing(value)) return field.shape(value, at, report);
    if (field.fallback !== undefined) return field.shape(field.fallback, at, report);
    if (field.required !== undefined) report(at, field.required);
    return undefined;
}

function withoutMissing<T>(from: Readonly<Record<string, T>>, make: (key: string, entry: T) => unknown): Bag {
    const made = Object.entries(from).map(([key, entry]) => [key, make(key, entry)] as const);
    return Object.fromEntries(made.filter(([, entry]) => entry !== undefined));
}

function isWithin(
    value: number,
    { min, max = Infinity, integer = false }: { min: number; max?: number; integer?: boolean },
) {
    return Number.isFinite(value) && value >= min && value <= max && (!integer || Number.isInteger(value));
}

function notEmpty(value: string): string | undefined {
    return value === "" ? "must not be empty" : undefined;
}

function notAnInput(key: string, known: readonly string[]): string {
    const close = known.find((name) => distance(name.toLowerCase(), key.toLowerCase()) <= 2) ?? holding(key, known);
    return `is not an input${close === undefined ? "" : `; did you mean ${close}?`}`;
}

/** `url` for downloadUrl: the word is part of a name, or a name part of it. */
function holding(key: string, known: readonly string[]): string | undefined {
    const word = key.toLowerCase();
    return known.find((name) => {
        const other = name.toLowerCase();
        return Math.min(word.length, other.length) >= 3 && (other.includes(word) || word.includes(other));
    });
}

/** Levenshtein's; both words are short. */
function distance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
            next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
        }
        row = next;
    }
    return row[b.length] ?? 0;
}

/** A received value, unless it is long or looks as if a login or a key were in it. */
export function quote(value: unknown): string {
    if (typeof value !== "string") return kindOf(value);
    return value.length > 64 || /[@\s]/.test(value) ? `a string of ${value.length} characters` : JSON.stringify(value);
}

function kindOf(value: unknown): string {
    if (Array.isArray(value)) return "a list";
    if (typeof value === "object") return "an object";
    return typeof value === "undefined" ? "nothing" : `a ${typeof value}`;
}

function orList(choices: readonly string[]): string {
    const quoted = choices.map((choice) => JSON.stringify(choice));
    return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function join(at: string, key: string): string {
    return at === "" ? key : `${at}.${key}`;
}
