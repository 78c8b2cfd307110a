import { randomBytes } from "node:crypto";
import { type Machine, on } from "./machines";

/** Outside k0s's data directory, named in `k0s.yaml`. */
export const ENCRYPTION = "/etc/k0s/encryption.yaml";

/** Secrets of the cluster are encrypted from now on, with the key that is answered; the other machines get the file, too. */
export async function encryptSecretsOf(controller: Machine, others: readonly Machine[] = []): Promise<string> {
    const secret = randomBytes(32).toString("base64");
    const config = {
        apiVersion: "apiserver.config.k8s.io/v1",
        kind: "EncryptionConfiguration",
        resources: [
            { resources: ["secrets"], providers: [{ aescbc: { keys: [{ name: "one", secret }] } }, { identity: {} }] },
        ],
    };
    for (const machine of [controller, ...others]) {
        await on(machine, `mkdir -p /etc/k0s && echo '${JSON.stringify(config)}' >${ENCRYPTION}`);
    }
    await on(controller, `chown kube-apiserver ${ENCRYPTION} && chmod 640 ${ENCRYPTION}`);
    const args = `    extraArgs: { encryption-provider-config: ${ENCRYPTION} }`;
    await on(controller, `sed -i 's|^  api:|&\\n${args}|' /etc/k0s/k0s.yaml && systemctl restart k0scontroller`);
    await answers(controller);
    return secret;
}

/** Waits until the API of that machine is ready. */
export async function answers(machine: Machine): Promise<void> {
    await until(async () => (await on(machine, "k0s kubectl get --raw /readyz")) === "ok");
}

/** Waits up to two minutes. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 120_000;
    while (!(await isSo().catch(() => false))) {
        if (performance.now() > end) throw new Error("it did not come about within two minutes");
        await new Promise((resolve) => setTimeout(resolve, 500));
    }
}
