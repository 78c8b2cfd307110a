/**
 * What both sides offered while a connection was set up, as far as it was compared: heard from ssh2's own words, in which alone it
 * says so (ssh2 1.17, protocol/kex.js). Names of algorithms only; everything else it says is dropped.
 */
export class Offers {
    private readonly lists = new Map<string, string>();

    /** ssh2's `debug`. */
    readonly hear = (line: string): void => {
        const { side, what, names } = OFFER.exec(line)?.groups ?? {};
        if (side !== undefined && what !== undefined) this.lists.set(`${side} ${what}`, names ?? "");
    };

    /** For a failed handshake: what nobody shares, and what each side has of it; undefined: it failed for another reason. */
    missing(message: string): { readonly what: string; readonly setting: string } | undefined {
        const kind = KINDS.find(({ failure }) => failure.test(message));
        if (kind === undefined) return undefined;
        const [host, ours] = ["remote", "local"].map((side) => algorithms(this.lists.get(`${side} ${kind.offer}`)));
        return {
            what: `no matching ${kind.name}: the host offers ${host}; supported here are ${ours}`,
            setting: kind.setting,
        };
    }
}

const OFFER = /^Handshake: \((?<side>local|remote)\) (?<what>[^:]+): (?<names>.*)$/;

/** `setting`: of sshd_config. */
const KINDS = [
    { failure: /no matching key exchange/i, offer: "KEX method", name: "key exchange", setting: "KexAlgorithms" },
    { failure: /no matching host key/i, offer: "Host key format", name: "host key type", setting: "HostKeyAlgorithms" },
    { failure: /no matching C->S cipher/i, offer: "C->S cipher", name: "cipher", setting: "Ciphers" },
    { failure: /no matching S->C cipher/i, offer: "S->C cipher", name: "cipher", setting: "Ciphers" },
    { failure: /no matching C->S MAC/i, offer: "C->S MAC", name: "MAC", setting: "MACs" },
    { failure: /no matching S->C MAC/i, offer: "S->C MAC", name: "MAC", setting: "MACs" },
] as const;

/** Marks that travel among the algorithms and are none. */
const MARKS = /^(ext-info-[cs]|kex-strict-[cs]-.*)$/;

function algorithms(list: string | undefined): string {
    const names = (list ?? "").split(",").filter((name) => name !== "" && !MARKS.test(name));
    return names.length === 0 ? "none" : names.join(", ");
}
