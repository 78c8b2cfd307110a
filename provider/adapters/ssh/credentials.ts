import type { AnyAuthMethod, AuthenticationType, ConnectConfig, Prompt } from "ssh2";
import { defined } from "../../defined";
import { InputError } from "../../errors";
import type { Connection, ProxyConnection } from "../../inputs";
import { type ReadKey, readPrivateKey } from "./private-key";

export type Login = Connection | ProxyConnection;

/** A key's content, tried after those of a login: `refresh` and `destroy` know only the keys in state, which may be old ones. */
export const KEY_VARIABLE = "PULUMI_MKE_PRIVATE_KEY";
/** Its passphrase. */
export const PASSPHRASE_VARIABLE = "PULUMI_MKE_PRIVATE_KEY_PASSWORD";

const AGENT = "SSH agent";
const PASSWORD = ["password", "keyboard-interactive"] as const;

/** Who we are, in ssh2's words. */
export interface Credentials {
    readonly config: ConnectConfig;
    /** What is tried, in that order, in words for an error. */
    readonly ways: readonly string[];
}

/** As ssh2 takes it. */
type SshKey = Exclude<ReadKey, { readonly unusable: string }>;

/** One way to log in. */
interface Way {
    readonly words: string;
    readonly methods: readonly (AuthenticationType | AnyAuthMethod)[];
}

/**
 * The part of ssh2's configuration that says who we are: the login's own ways first, then what the environment offers.
 * Throws InputError where a key cannot be read or nothing is given at all.
 */
export function credentialsFor(login: Login, host: string, environment = process.env): Credentials {
    const own = ownKey(login, host);
    const ways = waysOf(login, host, environment, own);
    if (ways.length === 0) {
        throw new InputError({
            stage: "connecting",
            host,
            what: "no way to log in: connection has neither privateKey nor password, and no SSH agent was found",
            advice: `Set connection.privateKey, connection.password or connection.agentSocketPath, or SSH_AUTH_SOCK or ${KEY_VARIABLE} in the environment.`,
        });
    }
    const { user, agentSocketPath, password } = login;
    return {
        ways: ways.map(({ words }) => words),
        config: {
            username: user,
            // ssh2 takes names and descriptions side by side; its types do not say so.
            authHandler: ways.flatMap(({ methods }) => methods) as AuthenticationType[],
            ...defined({ privateKey: own?.text, passphrase: own?.passphrase, agent: agentSocketPath }),
            ...(password === undefined ? {} : { password, tryKeyboard: true }),
        },
    };
}

/**
 * Keys first: a server that wants a key and then a password takes the password only after it. The agent of the environment
 * last: all its keys count as failures where the server has a limit.
 */
function waysOf(login: Login, host: string, environment: NodeJS.ProcessEnv, own: SshKey | undefined): Way[] {
    const { user: username, agentSocketPath, password } = login;
    const agent = agentSocketPath === undefined ? environment["SSH_AUTH_SOCK"] || undefined : undefined;
    return [
        ...(own === undefined ? [] : [{ words: "private key", methods: ["publickey"] as const }]),
        ...keyOfEnvironment(username, host, environment),
        ...(agentSocketPath === undefined ? [] : [{ words: AGENT, methods: ["agent"] as const }]),
        ...(password === undefined ? [] : [{ words: "password", methods: PASSWORD }]),
        ...(agent === undefined ? [] : [{ words: AGENT, methods: [{ type: "agent", username, agent } as const] }]),
    ];
}

function ownKey({ privateKey, privateKeyPassword }: Login, host: string): SshKey | undefined {
    if (privateKey === undefined) return undefined;
    const from = { host, name: "connection.privateKey", phrase: "privateKeyPassword" };
    return requireKey(privateKey, privateKeyPassword, from);
}

function keyOfEnvironment(username: string, host: string, environment: NodeJS.ProcessEnv): Way[] {
    const given = environment[KEY_VARIABLE] || undefined;
    if (given === undefined) return [];
    const from = { host, name: KEY_VARIABLE, phrase: PASSPHRASE_VARIABLE };
    const { text: key, passphrase } = requireKey(given, environment[PASSPHRASE_VARIABLE] || undefined, from);
    const method = { type: "publickey", username, key, ...defined({ passphrase }) } as const;
    return [{ words: `key in ${KEY_VARIABLE}`, methods: [method] }];
}

/** A server that asks by keyboard-interactive gets the password for each hidden question, nothing for others. */
export function answersTo(prompts: readonly Prompt[], password: string | undefined): string[] {
    return prompts.map((prompt) => (prompt.echo === true ? "" : (password ?? "")));
}

/** `name` and `phrase`: where key and passphrase come from, an input or a variable of the environment. */
function requireKey(
    key: string,
    passphrase: string | undefined,
    { host, name, phrase }: { readonly host: string; readonly name: string; readonly phrase: string },
): SshKey {
    const read = readPrivateKey(key, passphrase);
    if (!("unusable" in read)) return read;
    throw new InputError({
        stage: `reading ${name}`,
        host,
        what: `the key ${read.unusable}`,
        advice: `It must be the text of a private key (OpenSSH or PEM); for an encrypted one set ${phrase}.`,
    });
}
