import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HOUR = 3_600_000;

export interface Leaf {
    readonly cert: string;
    readonly key: string;
}

/** A certificate authority that lives as long as a test. */
export class TestCa {
    private serial = 1;

    private constructor(
        private readonly authority: x509.X509Certificate,
        private readonly keys: webcrypto.CryptoKeyPair,
    ) {}

    static async create(name = "kubernetes-ca"): Promise<TestCa> {
        const keys = await newKeys();
        const authority = await x509.X509CertificateGenerator.createSelfSigned({
            ...period(),
            serialNumber: "01",
            name: `CN=${name}`,
            keys,
            signingAlgorithm: ALGORITHM,
            extensions: [
                new x509.BasicConstraintsExtension(true, undefined, true),
                new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
                await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
            ],
        });
        return new TestCa(authority, keys);
    }

    get cert(): string {
        return this.authority.toString("pem");
    }

    /** Server and client certificate in one, as k0s makes them. `subject` like `O=system:masters, CN=kubernetes-admin`. */
    async issue(subject: string, names: readonly string[] = []): Promise<Leaf> {
        const keys = await newKeys();
        this.serial += 1;
        const cert = await x509.X509CertificateGenerator.create({
            ...period(),
            serialNumber: this.serial.toString(16).padStart(4, "0"),
            subject,
            issuer: this.authority.subject,
            publicKey: keys.publicKey,
            signingKey: this.keys.privateKey,
            signingAlgorithm: ALGORITHM,
            extensions: [
                new x509.ExtendedKeyUsageExtension([
                    x509.ExtendedKeyUsage.serverAuth,
                    x509.ExtendedKeyUsage.clientAuth,
                ]),
                ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names.map(alternativeName))]),
            ],
        });
        return { cert: cert.toString("pem"), key: await privatePem(keys) };
    }
}

function alternativeName(name: string): { readonly type: "ip" | "dns"; readonly value: string } {
    return { type: /^[0-9.]+$/.test(name) ? "ip" : "dns", value: name };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
    return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function privatePem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
    const der = await webcrypto.subtle.exportKey("pkcs8", privateKey);
    return x509.PemConverter.encode(der, "PRIVATE KEY");
}

function period(): { readonly notBefore: Date; readonly notAfter: Date } {
    return { notBefore: new Date(Date.now() - HOUR), notAfter: new Date(Date.now() + 24 * HOUR) };
}
