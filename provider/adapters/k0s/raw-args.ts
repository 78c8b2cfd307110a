/** One argument among `rawArgs`, which k0s hands to a component word by word. */
export interface RawArg {
    /** Without its dashes. */
    readonly name: string;
    /** undefined: the argument has none. */
    readonly value: string | undefined;
    /** As they stand in the list: `--name=value`, or `--name` and `value`. */
    readonly words: readonly string[];
}

/** A word without a dash is the value of the one before it, as flag parsers take it. */
export function rawArgsIn(list: unknown): RawArg[] {
    const words = Array.isArray(list) ? list.map(String) : [];
    const args: RawArg[] = [];
    for (let at = 0; at < words.length; at += 1) {
        const word = words[at] ?? "";
        const { name = word, value } = /^-{1,2}(?<name>[^=]+)(?:=(?<value>[\s\S]*))?$/.exec(word)?.groups ?? {};
        const next = words[at + 1];
        const isPair = word.startsWith("-") && value === undefined && next !== undefined && !next.startsWith("-");
        if (isPair) at += 1;
        args.push(isPair ? { name, value: next, words: [word, next] } : { name, value, words: [word] });
    }
    return args;
}

/** The same argument with another value, in as many words. */
export function withValue({ name, words }: RawArg, value: string): readonly string[] {
    return words.length > 1 ? [words[0] ?? `--${name}`, value] : [`--${name}=${value}`];
}
