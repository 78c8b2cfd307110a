import type { AuthenticationType, ConnectConfig, Prompt } from "ssh2";
import { utils } from "ssh2";
import { InputError } from "../../errors";
import type { Connection, ProxyConnection } from "../../inputs";

export type Login = Connection | ProxyConnection;

/**
 * The part of ssh2's configuration that says who we are. Without key and password the agent of the environment is
 * asked. Throws InputError where the key cannot be read or nothing is given at all.
 */
export function credentialsFor(login: Login, host: string, environment = process.env): ConnectConfig {
    const agent = login.agentSocketPath ?? fallbackAgent(login, environment);
    if (login.privateKey !== undefined) checkKey(login, host);
    const methods: AuthenticationType[] = [
        ...(login.privateKey === undefined ? [] : (["publickey"] as const)),
        ...(agent === undefined ? [] : (["agent"] as const)),
        ...(login.password === undefined ? [] : (["password", "keyboard-interactive"] as const)),
    ];
    if (methods.length === 0) {
        throw new InputError({
            stage: "connecting",
            host,
            what: "no way to log in: connection has neither privateKey nor password, and no SSH agent was found",
            advice: "Set connection.privateKey, connection.password or connection.agentSocketPath, or SSH_AUTH_SOCK.",
        });
    }
    return {
        username: login.user,
        // Keys first: a server that wants a key and then a password takes the password only after it.
        authHandler: methods,
        ...(login.privateKey === undefined ? {} : { privateKey: login.privateKey }),
        ...(login.privateKeyPassword === undefined ? {} : { passphrase: login.privateKeyPassword }),
        ...(agent === undefined ? {} : { agent }),
        ...(login.password === undefined ? {} : { password: login.password, tryKeyboard: true }),
    };
}

/** A server that asks by keyboard-interactive gets the password for each hidden question, nothing for others. */
export function answersTo(prompts: readonly Prompt[], password: string | undefined): string[] {
    return prompts.map((prompt) => (prompt.echo === true ? "" : (password ?? "")));
}

function fallbackAgent(login: Login, environment: NodeJS.ProcessEnv): string | undefined {
    if (login.privateKey !== undefined || login.password !== undefined) return undefined;
    return environment["SSH_AUTH_SOCK"] || undefined;
}

function checkKey(login: Login, host: string): void {
    const parsed = utils.parseKey(login.privateKey ?? "", login.privateKeyPassword);
    if (!(parsed instanceof Error)) return;
    throw new InputError({
        stage: "reading connection.privateKey",
        host,
        what: parsed.message,
        advice: "It must be the text of a private key (OpenSSH or PEM); for an encrypted one set privateKeyPassword.",
    });
}
