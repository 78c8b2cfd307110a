import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "mocha";
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { defined } from "../../provider/defined";
import { RESOURCES, type Simulation } from "../sim";
import { Planted, ProcessWatch } from "../support/planted";
import { temporaryFolder } from "../support/program";
import { describeEngine } from "./scene";

/** One for each input that takes a secret, unlike anything else there is. */
const SECRETS = {
    privateKeyPassword: 'planted-key-passphrase "quoted" 1',
    password: "planted-login-password-2",
    sudoPassword: "planted-sudo-password-3",
    proxyKeyPassword: "planted-proxy-key-passphrase",
    proxyPassword: "planted-proxy-password-4",
    helperPassword: "planted-helper-password-5",
    helperSudoPassword: "planted-helper-sudo-6",
    registryPassword: "planted-registry-password-7",
    backupPassphrase: "planted-backup-passphrase-8",
    newBackupPassphrase: "planted-backup-passphrase-9",
    wrongPassphrase: "planted-wrong-passphrase-10",
    encryptionKey: "planted-encryption-key-11",
} as const;

const ENCRYPTION = "/var/lib/k0s/encryption.cfg";
/** A line of the engine's own log. */
const LOG_LINE = /^\{"time":|^[IWEF]\d{4} \d\d:/;
/** What Pulumi's SDK says with `--debug`: the whole resource, in plain text. No provider can change that. */
const SDK_SAYS = /^(<\{%\w+%\}>)?RegisterResource RPC finished/;

describeEngine("secrets", (start) => {
    it("are found nowhere in plain text: state, output, events, process lists, command lines, the cluster", async () => {
        const events: EngineEvent[] = [];
        const scene = await start(["c2"], {
            config: { spec: { api: { extraArgs: { "encryption-provider-config": ENCRYPTION } } } },
            engine: { verbose: true, onEvent: (event) => events.push(event) },
        });
        const { sim, engine } = scene;
        sim.host("w1", { address: "10.77.0.31", sudoPassword: SECRETS.sudoPassword });
        sim.find("c1").files.write(ENCRYPTION, SECRETS.encryptionKey, 0o600);
        sim.privateKey = newKey();
        const planted = plant(sim);
        const watch = new ProcessWatch(planted);
        const backups = temporaryFolder("secrets");
        const texts: Record<string, string> = {};
        const keep = async (when: string): Promise<void> => {
            texts[`the exported state after ${when}`] = JSON.stringify(await engine.encryptedState());
            texts[`the backend after ${when}`] = await engine.stateFiles();
        };
        try {
            const program = programOf(sim, backups.path);
            await engine.up(program({}));
            await keep("up");
            for (const name of ["c2", "w1"]) assert.equal((await engine.outputsOf(name))["status"], "ready");
            assert.deepEqual(withOpenFiles(sim, planted), []);

            // A program on the host that fails, a key that cannot be read, and inputs that are refused.
            sim.find("w1").stopService();
            sim.find("w1").failing.set("service", "k0s said no");
            const failures = [
                program({ passphrase: SECRETS.newBackupPassphrase, labels: { zone: "a" } }),
                program({ keyPassphrase: SECRETS.wrongPassphrase, labels: { zone: "b" } }),
                program({ hostKey: SECRETS.password }),
            ];
            await engine.refresh();
            for (const [index, failing] of failures.entries()) {
                const failure = await engine.up(failing, { continueOnError: true }).then(
                    () => assert.fail(`up ${index} was meant to fail`),
                    (error: unknown) => String(error),
                );
                texts[`the error of up ${index}`] = withoutLog(failure, events);
            }
            await keep("failures");
            sim.find("w1").failing.clear();
            await engine.destroy();
            await keep("destroy");
        } finally {
            const { commandLines, found } = watch.end();
            assert.ok(commandLines > 0);
            assert.deepEqual(found, []);
            texts["names of backups"] = readdirSync(backups.path).join("\n");
            texts["backups"] = readdirSync(backups.path)
                .map((name) => readFileSync(join(backups.path, name), "latin1"))
                .join("\n");
            backups.remove();
        }
        texts["the events"] = JSON.stringify(events.filter((event) => !isOfSdk(event)));
        texts["the output"] = withoutLog(engine.output.join(""), events);
        texts["the command lines on the hosts"] = sim.hosts.flatMap(({ commandLines }) => commandLines).join("\n");
        texts["the objects of the cluster"] = objectsOf(sim);
        // What is known to hold them, so that the scan would have found them.
        assert.ok(planted.in(await engine.grpcLog()).includes("registryPassword"));
        for (const [where, text] of Object.entries(texts)) {
            assert.notEqual(text, "", `${where} is empty`);
            assert.deepEqual([where, planted.in(text)], [where, []]);
        }
    });
});

/** An RSA key can be written encrypted without another program. */
function newKey(): string {
    return generateKeyPairSync("rsa", {
        modulusLength: 2048,
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs1", format: "pem" },
    }).privateKey;
}

const encryptedKeys = new Map<string, string>();

/** The same key each time: it is an input. */
function encrypted(key: string): string {
    const known = encryptedKeys.get(key);
    if (known !== undefined) return known;
    const cipher = { cipher: "aes-256-cbc", passphrase: SECRETS.privateKeyPassword };
    const made = String(createPrivateKey(key).export({ type: "pkcs1", format: "pem", ...cipher }));
    encryptedKeys.set(key, made);
    return made;
}

/** What is secret by itself: logins, keys of the cluster, and each join token as it is made. */
function plant(sim: Simulation): Planted {
    const planted = new Planted(SECRETS);
    planted.add("privateKey", sim.privateKey);
    planted.add("privateKey as it is given", encrypted(sim.privateKey));
    planted.add("proxy.privateKey", sim.bastion.privateKey);
    const { admin, etcdClient, kubelet } = sim.cluster.pki;
    for (const [name, { key }] of Object.entries({ admin, etcdClient, kubelet })) planted.add(`${name} key`, key);
    const create = sim.cluster.createToken.bind(sim.cluster);
    sim.cluster.createToken = (...request) => {
        const token = create(...request);
        planted.add("join token", token);
        return token;
    };
    return planted;
}

interface Change {
    readonly passphrase?: string;
    readonly keyPassphrase?: string;
    readonly hostKey?: string;
    readonly labels?: Record<string, string>;
}

function programOf(sim: Simulation, directory: string): (change: Change) => PulumiFn {
    const { proxy = sim.bastion, privateKey, ...login } = sim.connectionArgs("c1");
    const bastion = { password: SECRETS.proxyPassword, privateKeyPassword: SECRETS.proxyKeyPassword };
    return ({ passphrase = SECRETS.backupPassphrase, keyPassphrase, hostKey, labels = {} }) => {
        const connection = {
            ...login,
            privateKey: encrypted(privateKey),
            privateKeyPassword: keyPassphrase ?? SECRETS.privateKeyPassword,
            password: SECRETS.password,
            sudoPassword: SECRETS.sudoPassword,
            proxy: { ...proxy, ...bastion },
            ...defined({ hostKey }),
        };
        const helper = {
            ...connection,
            privateKeyPassword: SECRETS.privateKeyPassword,
            password: SECRETS.helperPassword,
            sudoPassword: SECRETS.helperSudoPassword,
        };
        const common = {
            cluster: { controllers: [{ host: sim.find("c1").address, connection: helper }] },
            registry: { username: "reader", password: SECRETS.registryPassword },
            preflight: { os: false, minDiskMiB: false as const },
            timeouts: { connect: 20, ready: 20 },
            labels,
        };
        return () => {
            const backup = { directory, passphrase };
            new MkeControllerNode("c2", { ...common, connection, backup, host: sim.find("c2").address });
            const user = { ...connection, user: "admin" };
            new MkeWorkerNode("w1", { ...common, connection: user, host: sim.find("w1").address });
            return Promise.resolve();
        };
    };
}

function isOfSdk({ diagnosticEvent }: EngineEvent): boolean {
    return SDK_SAYS.test(diagnosticEvent?.message ?? "");
}

/** Without what Pulumi itself says at its highest verbosity: the rest is ours, or is seen without it too. */
function withoutLog(output: string, events: readonly EngineEvent[]): string {
    const lines = events.filter(isOfSdk).flatMap(({ diagnosticEvent }) => diagnosticEvent?.message.split("\n") ?? []);
    const ofSdk = new Set(lines.map(plain));
    return output
        .split("\n")
        .filter((line) => !LOG_LINE.test(line) && !ofSdk.has(plain(line)))
        .join("\n");
}

/** As the display shows it in one place and the events hold it in another. */
function plain(line: string): string {
    return line
        .replace(/<\{%\w+%\}>/g, "")
        .replace(/^\s*(debug: )?/, "")
        .trim();
}

/** Files with a secret in them that others than their owner may read, as `host:path mode`. What k0s writes is its own matter. */
function withOpenFiles(sim: Simulation, planted: Planted): string[] {
    return sim.hosts.flatMap(({ name, files }) =>
        files
            .inventory()
            .filter((line) => !line.endsWith("/"))
            .map((line) => line.split(" ")[0] ?? "")
            .filter((path) => !path.startsWith("/var/lib/k0s/pki/"))
            .filter((path) => ((files.mode(path) ?? 0) & 0o077) !== 0 && planted.in(files.text(path) ?? "").length > 0)
            .map((path) => `${name}:${path} ${files.mode(path)?.toString(8)}`),
    );
}

/** Everything but the cluster's own Secrets. */
function objectsOf({ cluster }: Simulation): string {
    const { secrets: _, ...kinds } = RESOURCES;
    return JSON.stringify(Object.values(kinds).map((kind) => cluster.store.list(kind)));
}
