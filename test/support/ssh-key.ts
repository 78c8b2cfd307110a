import { utils } from "ssh2";

/** A fresh private key. ssh2 1.17 makes one in 150 that nobody can read, itself included. */
export function newSshKey(): string {
    for (;;) {
        const { private: key } = utils.generateKeyPairSync("ed25519");
        if (!(utils.parseKey(key) instanceof Error)) return key;
    }
}
