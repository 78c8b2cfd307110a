import { misspelling } from "../key-spelling";

/** Rules for SSH keys. Each answers what is wrong, or undefined, and never quotes what it was given. */

const BLOCK = /-----BEGIN ([A-Z0-9 ]*)-----([\s\S]*?)-----END \1-----/;
const PUBLIC_KEY = /^(ssh-|ecdsa-sha2-|sk-)/;

export function privateKey(value: string): string | undefined {
    const text = value.trim();
    if (text.startsWith("PuTTY-User-Key-File-")) return undefined;
    const misspelled = misspelling(text);
    if (misspelled !== undefined) return misspelled;
    if (BLOCK.exec(text)?.[1]?.endsWith("PRIVATE KEY") === true) return undefined;
    return `is not a private key: ${whatItIs(text)}`;
}

function whatItIs(text: string): string {
    if (text === "") return "it is empty";
    if (PUBLIC_KEY.test(text) || /BEGIN [A-Z0-9 ]*PUBLIC KEY/.test(text)) {
        return "it is a public key; the private one is in the file without .pub";
    }
    if (/^(~|\.{0,2}\/|[A-Za-z]:\\)\S*$/.test(text)) {
        return 'it looks like a path; give the content, e.g. fs.readFileSync(path, "utf8")';
    }
    if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return "its end is missing";
    return "it has no line -----BEGIN … PRIVATE KEY-----";
}

/** True where the text shows that the key cannot be read without a passphrase. */
export function isEncrypted(key: string): boolean {
    if (/^\s*PuTTY-User-Key-File-2:/.test(key)) return !/^Encryption: none\r?$/m.test(key);
    const [, label = "", body = ""] = BLOCK.exec(key.trim()) ?? [];
    if (label === "ENCRYPTED PRIVATE KEY" || /^\s*Proc-Type: 4,ENCRYPTED/.test(body)) return true;
    return label === "OPENSSH PRIVATE KEY" && opensshCipher(body) !== "none";
}

/** The name after the magic `openssh-key-v1\0`, a length and a string. */
function opensshCipher(body: string): string {
    const bytes = Buffer.from(body, "base64");
    const start = "openssh-key-v1\0".length;
    if (bytes.length < start + 4) return "none";
    return bytes.subarray(start + 4, start + 4 + bytes.readUInt32BE(start)).toString("latin1");
}

export function hostKey(value: string): string | undefined {
    const text = value.trim();
    if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(text)) return undefined;
    const [type = "", body = ""] = text.split(/\s+/);
    if (PUBLIC_KEY.test(type)) return isKeyOfType(body, type) ? undefined : "is a damaged public key";
    if (/-----BEGIN/.test(text)) return "must be a public key of the host, not a private one or a PEM file";
    if (PUBLIC_KEY.test(body)) return "has a host name in front, as in known_hosts; leave it out";
    return "must be a public key of the host (ssh-ed25519 AAAA…) or its fingerprint (SHA256:…)";
}

/** A public key repeats its type inside. */
function isKeyOfType(body: string, type: string): boolean {
    const bytes = Buffer.from(body, "base64");
    return bytes.length > 4 && bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString("latin1") === type;
}
