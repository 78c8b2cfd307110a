import { configAfter, keptByCluster } from "../adapters/k0s/config";
import { withoutValues } from "../adapters/k0s/given-values";
import { CONFIG_PATH } from "../adapters/k0s/paths";
import { argumentsIn, type Init, unitPath, withArguments } from "../adapters/k0s/unit-file";
import { parseK0sYaml } from "../adapters/k0s/yaml";
import { markerOf } from "../decide/identity";
import { changeFlags, type DecideHosts } from "../decide/mke-hosts";
import type { Topic } from "../decide/refusal";
import { unchangeableFlags, unitAfter } from "../decide/unit-flags";
import { unchanged } from "../decide/refusal";
import type { Deadline } from "../deadline";
import { defined } from "../defined";
import { CommandError, type ErrorDetails, RefusedError } from "../errors";
import type { NodeSettings } from "../facts/host";
import { normalFlags, sameFlags } from "../flags";
import type { NodeInputs } from "../inputs";
import type { HostOperation } from "./operation";
import { fileReferences } from "./referred-files";

const STAGE = "comparing k0s settings";
const TOPIC: Topic = "k0s-settings";
/** k0s reads it from there once, to say what is wrong with it; gone with the next boot at the latest. */
const TRIAL_CONFIG = "/run/pulumi-mke-k0s.yaml";
const CONFIG_MODE = 0o600;
/** What `k0s install` says where it has nothing else to complain of (k0s 1.36.3, its source; observed). */
const NOTHING_WRONG = /Init already exists/;

export interface PlannedContent {
    readonly path: string;
    readonly content: string;
}

/** What k0s last came up with, as far as is known. */
export interface EarlierContent {
    readonly path: string;
    /** undefined: there was no file. */
    readonly content: string | undefined;
}

/** What is to be written to the host, and whether k0s has to start with it. */
export interface ReinstallPlan {
    readonly unit: PlannedContent | undefined;
    readonly config: PlannedContent | undefined;
    readonly restart: boolean;
    /** How its entry in MkeConfig is to change; undefined: nothing is to be written there. */
    readonly entry: DecideHosts | undefined;
    /** To be put back where k0s does not come up. */
    readonly back: readonly EarlierContent[];
    /** Of the record: everything that k0s may have been given since the program's last success. */
    readonly settings: readonly NodeSettings[];
    /** For people. */
    readonly notes: readonly string[];
}

export function settingsOf({ installFlags, taints, k0sConfig }: NodeInputs): NodeSettings {
    return { installFlags, taints, ...defined({ k0sConfig }) };
}

/**
 * What the host needs so that its k0s runs as the program says, where it ran as `before` said: only the difference. undefined:
 * nothing. After a reinstall that did not end, k0s may not have started with what is there. Changes nothing.
 */
export async function planReinstall(
    operation: HostOperation,
    before: NodeSettings,
    deadline: Deadline,
): Promise<ReinstallPlan | undefined> {
    const record = markerOf(operation.hostFacts)?.operation;
    const left = record?.kind === "reinstall" ? record : undefined;
    const wanted = settingsOf(operation.inputs);
    const earlier = [before, ...(left?.settings ?? [])];
    const unit = await unitChange(operation, earlier, wanted, deadline);
    const config = await configChange(operation, earlier, wanted, unit.args, deadline);
    const entry = await entryChange(operation, earlier);
    if ([unit.change, config.change, left, entry].every((change) => change === undefined)) return undefined;
    const settings = [...(left?.settings ?? []), wanted];
    const back = { config: config.back, unit: unit.back };
    return {
        unit: unit.change,
        config: config.change,
        entry,
        restart: left?.restart === true || config.change !== undefined || unit.needsRestart,
        back:
            left === undefined
                ? [...back.config, ...back.unit]
                : await wayBack(operation, { given: settings, lastGood: before }, back, deadline),
        settings,
        notes: [
            ...unit.kept.map((name) => `${name} stays: the program named it, but its value there is not the program's`),
            ...config.kept.map((path) => `${path} stays in k0s.yaml: the controller that helps has it too`),
        ],
    };
}

/**
 * What is there may be of a run that was killed before k0s came up with it: its own earlier text is not known any more. Or it
 * was put back already, and is itself the way back (`found`).
 */
async function wayBack(
    operation: HostOperation,
    { given, lastGood }: { readonly given: readonly NodeSettings[]; readonly lastGood: NodeSettings },
    found: Readonly<Record<"config" | "unit", readonly EarlierContent[]>>,
    deadline: Deadline,
): Promise<EarlierContent[]> {
    const unit = await unitChange(operation, given, lastGood, deadline);
    const config = await configChange(operation, given, lastGood, unit.args, deadline);
    return [
        ...(config.change === undefined ? found.config : [config.change]),
        ...(unit.change === undefined ? found.unit : [unit.change]),
    ];
}

/** Asked only where flags change, in a cluster with MKE. */
async function entryChange(
    { cluster, clusterFacts, inputs }: HostOperation,
    before: readonly NodeSettings[],
): Promise<DecideHosts | undefined> {
    const flags = before.map(({ installFlags }) => installFlags);
    if (!clusterFacts.mke || flags.every((earlier) => sameFlags(earlier, inputs.installFlags))) return undefined;
    const decide = changeFlags(flags);
    const config = await cluster.kube.mke.config();
    return config !== undefined && decide(config.hosts, inputs).kind === "patch" ? decide : undefined;
}

/** One file. */
interface FilePlan {
    readonly change: PlannedContent | undefined;
    readonly back: readonly EarlierContent[];
    readonly kept: readonly string[];
}

interface UnitPlan extends FilePlan {
    readonly needsRestart: boolean;
    readonly args: readonly string[];
}

async function unitChange(
    operation: HostOperation,
    before: readonly NodeSettings[],
    wanted: NodeSettings,
    deadline: Deadline,
): Promise<UnitPlan> {
    const { kind, hostFacts } = operation;
    const [fixed] = unchangeableFlags(before, wanted);
    if (fixed !== undefined)
        throw refused(operation, `${fixed} is written into the service once, when it is installed`);
    const init = initOf(operation);
    const path = unitPath(init, kind);
    const content = (await operation.target.readFile(path, deadline))?.toString("utf8");
    const args = content === undefined ? undefined : argumentsIn(content, init);
    if (content === undefined || args === undefined || !isAsInstalled(args, kind)) {
        throw refused(operation, `${path} is not as \`k0s install\` writes it`);
    }
    // A drop-in with a command of its own would go on winning.
    const inForce = hostFacts.units[kind]?.args.slice(1) ?? [];
    if (args.length !== inForce.length || !args.every((arg, index) => arg.startsWith(inForce[index] ?? " "))) {
        throw refused(operation, `${path} does not hold the command that k0s${kind} is started with`);
    }
    const { args: result, needsRestart, kept } = unitAfter(args, before, wanted);
    if (result === args) return { change: undefined, back: [], needsRestart: false, args, kept };
    // systemd would put a variable's value there, and k0s is not asked about what it reads then.
    if (init === "systemd" && result.some((arg) => arg.includes("$") && !args.includes(arg))) {
        throw refused(operation, "a flag with `$` cannot be written into a unit");
    }
    const changed = withArguments(content, init, result);
    if (normalFlags(argumentsIn(changed, init) ?? []).join("\n") !== normalFlags(result).join("\n")) {
        throw refused(operation, `a flag cannot be written into ${path}`);
    }
    return { change: { path, content: changed }, back: [{ path, content }], needsRestart, args: result, kept };
}

/** `k0s install` writes long names, each in one word with its value; of other spellings a flag would be taken for another one. */
function isAsInstalled([command, ...flags]: readonly string[], kind: HostOperation["kind"]): boolean {
    return command === kind && flags.every((flag) => flag.startsWith("--"));
}

function initOf(operation: HostOperation): Init {
    const { init } = operation.hostFacts;
    if (init === "other") throw refused(operation, "neither systemd nor OpenRC runs on the host");
    return init;
}

async function configChange(
    operation: HostOperation,
    before: readonly NodeSettings[],
    { k0sConfig }: NodeSettings,
    args: readonly string[],
    deadline: Deadline,
): Promise<FilePlan> {
    const { target, cluster, kind, peerAddress } = operation;
    if (kind === "worker") return { change: undefined, back: [], kept: [] };
    const path = configPathIn(args);
    const own = (await target.readFile(path, deadline))?.toString("utf8");
    if (!isYaml(own)) throw refused(operation, `${path} is not YAML`);
    const configs = before.map((settings) => settings.k0sConfig);
    const joiner = { helperConfig: cluster.config, address: peerAddress };
    const content = configAfter(own, joiner, configs, k0sConfig);
    const kept = keptByCluster(joiner, configs, k0sConfig);
    const isNothing = own === undefined && [k0sConfig, ...configs].every((config) => config === undefined);
    if (content === own || isNothing) return { change: undefined, back: [], kept };
    return { change: { path, content }, back: [{ path, content: own }], kept };
}

/** The parser's own message would quote the file. */
function isYaml(text: string | undefined): boolean {
    try {
        parseK0sYaml(text ?? "");
        return true;
    } catch {
        return false;
    }
}

function configPathIn(args: readonly string[]): string {
    return args.find((arg) => arg.startsWith("--config="))?.slice("--config=".length) ?? CONFIG_PATH;
}

/**
 * k0s itself reads the new flags and the new configuration before anything in force is changed: `k0s install` gets as far as
 * the service that is there already. Files that its configuration names must be there.
 */
export async function tryReinstall(operation: HostOperation, plan: ReinstallPlan, deadline: Deadline): Promise<void> {
    const { target, kind, inputs, hostFacts } = operation;
    if (plan.unit === undefined && plan.config === undefined) return;
    if (plan.config !== undefined) await requireFiles(operation, plan.config, deadline);
    const [program] = hostFacts.units[kind]?.args ?? [];
    const args = await argumentsAfter(operation, plan, deadline);
    const trial = plan.config === undefined ? [] : [`--config=${TRIAL_CONFIG}`];
    try {
        if (plan.config !== undefined) await target.writeFile(TRIAL_CONFIG, plan.config.content, CONFIG_MODE, deadline);
        const rest = args.slice(1).filter((arg) => trial.length === 0 || !arg.startsWith("--config="));
        await target.installService(program ?? inputs.k0s.installPath, kind, [...rest, ...trial], deadline);
    } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        const output = error.details.output ?? "";
        if (NOTHING_WRONG.test(output)) return;
        throw refused(operation, "k0s does not accept these settings", { output: withoutValues(output, inputs) });
    } finally {
        if (plan.config !== undefined) await target.removeFiles([TRIAL_CONFIG], deadline);
    }
}

async function argumentsAfter(
    operation: HostOperation,
    { unit }: ReinstallPlan,
    deadline: Deadline,
): Promise<readonly string[]> {
    const init = initOf(operation);
    const path = unitPath(init, operation.kind);
    const content = unit?.content ?? (await operation.target.readFile(path, deadline))?.toString("utf8") ?? "";
    return argumentsIn(content, init) ?? [];
}

/** Only a controller that joins gets files from another one: to one that runs nobody brings them. */
async function requireFiles(operation: HostOperation, { content }: PlannedContent, deadline: Deadline): Promise<void> {
    const { target, inputs } = operation;
    const references = await fileReferences(target, parseK0sYaml(content), inputs.dataDir, deadline);
    if (references.length === 0) return;
    const paths = references.map(({ path }) => path);
    const found = await target.material.describe(paths, deadline);
    const absent = found.filter(({ kind }) => kind === "absent").map(({ path }) => path);
    const missing = references.filter(({ path }) => absent.includes(path));
    if (missing.length === 0) return;
    const names = missing.map(({ path, from }) => `${path} (${from})`).join(", ");
    const advice =
        "Put them on this host, where the change is to stay, and run `pulumi up` again. " +
        unchanged(operation.begunBefore);
    throw refused(operation, `k0s.yaml would name files that are not there: ${names}`, { advice });
}

function refused({ target, begunBefore }: HostOperation, what: string, more: Partial<ErrorDetails> = {}): RefusedError {
    return new RefusedError({
        stage: STAGE,
        host: target.address,
        what,
        advice: unchanged(begunBefore),
        topic: TOPIC,
        ...more,
    });
}
