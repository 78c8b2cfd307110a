import { createHash } from "node:crypto";
import { utils } from "ssh2";
import { InputError } from "../../errors";

/** A key that a host showed. */
export interface HostKey {
    readonly fingerprint: string;
    /** Key type in SSH's words, e.g. `ssh-ed25519`. */
    readonly type: string;
}

/** What `hostKey` asks for: one key, of a known type where its text was given. */
export interface ExpectedHostKey {
    readonly fingerprint: string;
    /** Key type in SSH's words, e.g. `ssh-ed25519`; undefined where only a fingerprint was given. */
    readonly type: string | undefined;
}

/** Host key algorithms to offer for each key type, best first. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
    "ssh-ed25519": ["ssh-ed25519"],
    "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
    "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
    "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
    "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
};

export const KEY_TYPES: readonly string[] = Object.keys(ALGORITHMS);

/** As `ssh-keygen -l` prints it. */
export function fingerprintOf(key: Buffer): string {
    return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** The type is the first string of a key's wire form. */
export function typeOf(key: Buffer): string {
    return key.length < 4 ? "" : key.subarray(4, 4 + key.readUInt32BE(0)).toString("latin1");
}

/**
 * Reads `hostKey`: a public key (`ssh-ed25519 AAAA…`, a line of a known_hosts file too) or a fingerprint (`SHA256:…`).
 * Throws InputError.
 */
export function parseHostKey(text: string, host: string): ExpectedHostKey {
    const trimmed = text.trim();
    if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(trimmed))
        return { fingerprint: trimmed.replace(/=$/, ""), type: undefined };
    const words = trimmed.split(/\s+/);
    const at = words.findIndex((word) => word in ALGORITHMS);
    const key = at < 0 ? undefined : utils.parseKey(`${words[at]} ${words[at + 1] ?? ""}`);
    if (key === undefined || key instanceof Error) {
        throw new InputError({
            stage: "reading hostKey",
            host,
            what: "it is neither a public key (ssh-ed25519 AAAA…) nor a fingerprint (SHA256:…)",
            advice: "`ssh-keyscan <host>` prints a host's keys, `ssh-keyscan <host> | ssh-keygen -lf -` their fingerprints.",
        });
    }
    const wire = key.getPublicSSH();
    return { fingerprint: fingerprintOf(wire), type: typeOf(wire) };
}

/** The algorithms to offer so that the server shows a key of one of these types. */
export function algorithmsFor(types: readonly string[]): string[] {
    return types.flatMap((type) => ALGORITHMS[type] ?? []);
}
