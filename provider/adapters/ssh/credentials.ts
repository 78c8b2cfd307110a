import type { AnyAuthMethod, AuthenticationType, ConnectConfig, Prompt } from "ssh2";
import { utils } from "ssh2";
import { defined } from "../../defined";
import { InputError } from "../../errors";
import type { Connection, ProxyConnection } from "../../inputs";

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
    const ways = waysOf(login, host, environment);
    if (ways.length === 0) {
        throw new InputError({
            stage: "connecting",
            host,
            what: "no way to log in: connection has neither privateKey nor password, and no SSH agent was found",
            advice: `Set connection.privateKey, connection.password or connection.agentSocketPath, or SSH_AUTH_SOCK or ${KEY_VARIABLE} in the environment.`,
        });
    }
    const { user, privateKey, privateKeyPassword, agentSocketPath, password } = login;
    return {
        ways: ways.map(({ words }) => words),
        config: {
            username: user,
            // ssh2 takes names and descriptions side by side; its types do not say so.
            authHandler: ways.flatMap(({ methods }) => methods) as AuthenticationType[],
            ...defined({ privateKey, passphrase: privateKeyPassword, agent: agentSocketPath }),
            ...(password === undefined ? {} : { password, tryKeyboard: true }),
        },
    };
}

/**
 * Keys first: a server that wants a key and then a password takes the password only after it. The agent of the environment
 * last: all its keys count as failures where the server has a limit.
 */
function waysOf(login: Login, host: string, environment: NodeJS.ProcessEnv): Way[] {
    const { user: username, agentSocketPath, password } = login;
    const agent = agentSocketPath === undefined ? environment["SSH_AUTH_SOCK"] || undefined : undefined;
    return [
        ...ownKey(login, host),
        ...keyOfEnvironment(username, host, environment),
        ...(agentSocketPath === undefined ? [] : [{ words: AGENT, methods: ["agent"] as const }]),
        ...(password === undefined ? [] : [{ words: "password", methods: PASSWORD }]),
        ...(agent === undefined ? [] : [{ words: AGENT, methods: [{ type: "agent", username, agent } as const] }]),
    ];
}

function ownKey({ privateKey, privateKeyPassword }: Login, host: string): Way[] {
    if (privateKey === undefined) return [];
    requireKey(privateKey, privateKeyPassword, { host, name: "connection.privateKey", phrase: "privateKeyPassword" });
    return [{ words: "private key", methods: ["publickey"] }];
}

function keyOfEnvironment(username: string, host: string, environment: NodeJS.ProcessEnv): Way[] {
    const key = environment[KEY_VARIABLE] || undefined;
    if (key === undefined) return [];
    const passphrase = environment[PASSPHRASE_VARIABLE] || undefined;
    requireKey(key, passphrase, { host, name: KEY_VARIABLE, phrase: PASSPHRASE_VARIABLE });
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
): void {
    const parsed = utils.parseKey(key, passphrase);
    if (!(parsed instanceof Error)) return;
    throw new InputError({
        stage: `reading ${name}`,
        host,
        what: parsed.message,
        advice: `It must be the text of a private key (OpenSSH or PEM); for an encrypted one set ${phrase}.`,
    });
}
