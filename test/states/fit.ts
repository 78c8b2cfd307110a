import type { Deployment } from "@pulumi/pulumi/automation";
import type { ConnectionArgs, ProxyConnectionArgs } from "pulumi-mke";
import { caFingerprint } from "../../provider/facts/host-probe";
import type { Simulation } from "../sim";
import { mark, memberIds, type Recording, settleMachines } from "./recording";

/** Marks of an object that Pulumi made of a secret, and the field that holds its value as JSON when it was decrypted. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

type Values = Readonly<Record<string, unknown>>;

type Change = (leaf: string | number) => string | number;

/** A copy of any JSON, also inside decrypted secrets, with its strings and numbers changed. */
function mapped(value: unknown, change: Change): unknown {
    if (typeof value === "string" || typeof value === "number") return change(value);
    if (Array.isArray(value)) return value.map((entry) => mapped(entry, change));
    if (typeof value !== "object" || value === null) return value;
    if (isSecret(value)) return { ...value, plaintext: JSON.stringify(mapped(plainOf(value), change)) };
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, mapped(entry, change)]));
}

interface Secret {
    readonly plaintext: string;
}

function isSecret(value: object): value is Secret {
    return (value as Values)[SIGNATURE] === SECRET && "plaintext" in value;
}

function plainOf({ plaintext }: Secret): unknown {
    return JSON.parse(plaintext);
}

/** The same without the wrapping of secrets. */
function unwrapped(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(unwrapped);
    if (typeof value !== "object" || value === null) return value;
    if (isSecret(value)) return unwrapped(plainOf(value));
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, unwrapped(entry)]));
}

export interface Login extends ConnectionArgs {
    readonly privateKey: string;
    readonly proxy: ProxyConnectionArgs & { readonly port: number };
}

/** What a decrypted state holds of the resource of that name. */
export function outputsIn(state: Deployment, name: string): Values & { readonly connection: Login } {
    const { resources } = state.deployment as { resources: { urn: string; outputs?: Values }[] };
    const outputs = resources.find(({ urn }) => urn.endsWith(`::${name}`))?.outputs;
    if (outputs === undefined) throw new Error(`${name} is not in the state`);
    return unwrapped(outputs) as Values & { readonly connection: Login };
}

/**
 * Makes the machines of a recording in a simulation, and answers the state with what cannot be made the same again replaced:
 * the login, and what a cluster is known by.
 */
export function fit(sim: Simulation, recording: Recording, state: Deployment): Deployment {
    settleMachines(sim, recording.machines);
    const change = changeFor(sim, recording, state);
    const { machines, nodes } = recording;
    mark(sim, mapped({ machines, nodes }, change) as Pick<Recording, "machines" | "nodes">);
    return mapped(state, change) as Deployment;
}

function changeFor(sim: Simulation, recording: Recording, state: Deployment): Change {
    const { connection, clusterId, caFingerprint: fingerprint } = outputsIn(state, "c1");
    const today = sim.connectionArgs("c1");
    const whole = new Map<unknown, string | number>([
        [connection.privateKey, today.privateKey],
        [connection.proxy.port, today.proxy?.port ?? 0],
    ]);
    const members = memberIds(sim);
    const parts = [
        [String(clusterId), sim.cluster.id],
        [String(fingerprint), caFingerprint(sim.cluster.pki.ca)],
        ...Object.entries(recording.members).map(([name, id]) => [id, members[name] ?? id] as const),
    ] as const;
    return (leaf) => {
        const replaced = whole.get(leaf);
        if (replaced !== undefined || typeof leaf === "number") return replaced ?? leaf;
        return parts.reduce((text, [before, after]) => text.replaceAll(before, after), leaf);
    };
}
