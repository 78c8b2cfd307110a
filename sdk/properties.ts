import type * as pulumi from "@pulumi/pulumi";
import { NODE_FIELDS } from "../provider/resource/schema";
import type { NodeArgs } from "./args";
import type { ClusterArgs, ConnectionArgs, ControllerAddressArgs, ProxyConnectionArgs } from "./connection-args";
import { claimHost } from "./hosts";
import { sdk } from "./program-sdk";
import type { NodeResult } from "./result";

/** Every output must be among the properties given to Pulumi, or the SDK drops it. */
const OUTPUTS: Readonly<Record<keyof NodeResult, undefined>> = {
    host: undefined,
    connection: undefined,
    cluster: undefined,
    role: undefined,
    privateAddress: undefined,
    k0s: undefined,
    dataDir: undefined,
    kubeletRootDir: undefined,
    installFlags: undefined,
    labels: undefined,
    taints: undefined,
    drain: undefined,
    backup: undefined,
    lock: undefined,
    mke: undefined,
    registry: undefined,
    timeouts: undefined,
    preflight: undefined,
    onUnreachable: undefined,
    onLastController: undefined,
    adopt: undefined,
    allowStrandedWorkers: undefined,
    triggers: undefined,
    owner: undefined,
    nodeName: undefined,
    requestedNodeName: undefined,
    clusterId: undefined,
    caFingerprint: undefined,
    k0sVersion: undefined,
    machineId: undefined,
    peerAddress: undefined,
    status: undefined,
    state: undefined,
    drift: undefined,
    token: undefined,
    installedBinary: undefined,
    schemaVersion: undefined,
};

const SECRET_FIELDS = ["privateKey", "privateKeyPassword", "password", "sudoPassword"] as const;

/** What a class hands to Pulumi: the inputs with their secrets wrapped, the owner, and every output as undefined. */
export function propertiesOf(name: string, args: NodeArgs): Record<string, unknown> {
    const connection = withSecrets(args.connection ?? {});
    return {
        ...OUTPUTS,
        ...args,
        ...hidden(args),
        host: claimHost(args.host, name),
        connection,
        cluster: clusterWithSecrets(args.cluster, connection),
        ...withSecret(args, "registry", "password"),
        ...withSecret(args, "backup", "passphrase"),
        ...withSecret(args, "k0s", "downloadUrl", secretWithLogin),
        owner: [organization(), sdk.getProject(), sdk.getStack(), name].join("/"),
    };
}

/** Every engine names one; mocks that a test sets need not, and then it is the one that backends without organisations have. */
function organization(): string {
    try {
        return sdk.getOrganization();
    } catch {
        return "organization";
    }
}

/**
 * What is no input, made secret. It will be refused, and Pulumi prints the whole value of a refused property: of a `conection`,
 * or a key that stands beside `connection` instead of in it.
 */
function hidden(args: object): Record<string, unknown> {
    const strange = Object.entries(args).filter(
        ([name, value]) => !(name in NODE_FIELDS.controller) && value !== undefined,
    );
    return Object.fromEntries(strange.map(([name, value]) => [name, sdk.secret(value)]));
}

/** The object of that name with one field of it secret; nothing where the program does not give the object. */
function withSecret(
    args: object,
    name: "registry" | "backup" | "k0s",
    field: string,
    hide: (value: unknown) => unknown = sdk.secret,
): Record<string, unknown> {
    const given = (args as Readonly<Record<string, pulumi.Input<Record<string, unknown>> | undefined>>)[name];
    if (given === undefined) return {};
    return {
        [name]: lift(given, (fields) =>
            fields[field] === undefined ? fields : { ...fields, [field]: hide(fields[field]) },
        ),
    };
}

/** A login or a signature in an address is as good as a password; other addresses are worth seeing in a preview. */
function secretWithLogin(url: unknown): unknown {
    if (sdk.Output.isInstance(url) || url instanceof Promise) return sdk.output(url).apply(secretWithLogin);
    return typeof url === "string" && /^[^/]*\/\/[^/]*@|\?/.test(url) ? sdk.secret(url) : url;
}

type Login = ConnectionArgs | ProxyConnectionArgs;

function withSecrets<T extends Login>(login: pulumi.Input<T>): pulumi.Input<T> {
    return lift(login, (fields) => {
        const safe: Record<string, unknown> = { ...fields };
        for (const field of SECRET_FIELDS) {
            if (safe[field] !== undefined) safe[field] = sdk.secret(safe[field]);
        }
        const { proxy } = fields as ConnectionArgs;
        if (proxy !== undefined) safe["proxy"] = withSecrets(proxy);
        return safe as T;
    });
}

function clusterWithSecrets(
    cluster: pulumi.Input<ClusterArgs>,
    own: pulumi.Input<ConnectionArgs>,
): pulumi.Input<ClusterArgs> {
    return lift(cluster, (fields) => ({
        ...fields,
        controllers: lift(fields.controllers, (list) =>
            isList(list) ? list.map((entry) => controllerWithSecrets(entry, own)) : list,
        ),
    }));
}

/** `Array.isArray` makes `any` of a read-only list. */
function isList<T>(value: readonly T[]): value is readonly T[] {
    return Array.isArray(value);
}

function controllerWithSecrets(
    controller: pulumi.Input<ControllerAddressArgs>,
    own: pulumi.Input<ConnectionArgs>,
): pulumi.Input<ControllerAddressArgs> {
    return lift(controller, (fields) => ({
        ...fields,
        connection: fields.connection === undefined ? withoutHostKey(own) : withSecrets(fields.connection),
    }));
}

/** A host key belongs to one host, and so does the address that a connection of `@pulumi/command` has. */
function withoutHostKey(connection: pulumi.Input<ConnectionArgs>): pulumi.Input<ConnectionArgs> {
    return lift(connection, ({ hostKey: _, host: __, ...rest }) => rest);
}

/**
 * Applies to plain values at once and to outputs when they are known: an output made of a plain object would make the
 * whole property unknown as soon as one field is.
 */
function lift<T extends object>(value: pulumi.Input<T>, change: (value: T) => T): pulumi.Input<T> {
    if (sdk.Output.isInstance(value) || value instanceof Promise) {
        return sdk.output(value).apply((known): T => changeObject(known as T, change));
    }
    return changeObject(value, change);
}

/** Wrong types are left for `check`, which can name the property; a key in place of `{ privateKey }` is still a key. */
function changeObject<T>(value: T, change: (value: T) => T): T {
    if (typeof value === "object" && value !== null) return change(value);
    return typeof value === "string" ? (sdk.secret(value) as T) : value;
}
