import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type {
    Deployment,
    DestroyOptions,
    EngineEvent,
    OutputMap,
    PulumiFn,
    RefreshOptions,
    Stack,
    UpOptions,
} from "@pulumi/pulumi/automation";
import { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation";
import * as runtime from "@pulumi/pulumi/runtime";
import { backendOf, environment, lastChanges, PROJECT, writtenState } from "./engine-backend";
import { endNow, type EngineProcess, processesWith } from "./engine-processes";

keepConnectionsApart();

export interface EngineOptions {
    /** Of the stack; default `test`. */
    readonly name?: string;
    /** Is given what the CLI prints, as it prints it. */
    readonly show?: (text: string) => void;
    /** Is given what happens, one event at a time. */
    readonly onEvent?: (event: EngineEvent) => void;
    /** The CLI's highest verbosity: every log of the engine and its plugins, and each gRPC message (`grpcLog`). */
    readonly verbose?: boolean;
    /** Interrupts what runs, as Ctrl-C does; nothing is begun after that. */
    readonly signal?: AbortSignal;
    /** Environment of the CLI and of the providers it starts, besides the usual one. */
    readonly env?: Readonly<Record<string, string>>;
}

/** One stack of the real Pulumi engine, with a file backend of its own that goes away with it. */
export class Engine {
    /** Every line the engine and the provider wrote, for tests that look for secrets or progress. */
    readonly output: string[] = [];
    private exported: { readonly written: string; readonly state: Deployment } | undefined;

    private constructor(
        private readonly pulumi: string,
        private readonly stack: Stack,
        private readonly folder: string,
        private readonly options: EngineOptions,
    ) {}

    static async start(pulumi: string, options: EngineOptions = {}): Promise<Engine> {
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-"));
        try {
            const stack = await createStack(pulumi, folder, options);
            return new Engine(pulumi, stack, folder, options);
        } catch (error) {
            await rm(folder, { recursive: true, force: true });
            throw error;
        }
    }

    /** Of the CLI. */
    get version(): string {
        return this.stack.workspace.pulumiVersion;
    }

    /** As `pulumi config set --path`. */
    async configure(values: Readonly<Record<string, string>>): Promise<void> {
        const config = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value }]));
        await this.stack.setAllConfig(config, true);
    }

    async up(
        program: PulumiFn,
        options: Pick<UpOptions, "continueOnError" | "parallel" | "refresh" | "replace" | "signal" | "target"> = {},
    ): Promise<UpSummary> {
        await this.running(program, () => this.stack.up({ ...this.watched(), ...options }));
        return { changes: await lastChanges(this.folder, this.stack.name) };
    }

    /** Of the program's stack. */
    outputs(): Promise<OutputMap> {
        const { workspace, name } = this.stack;
        return workspace.stackOutputs(name);
    }

    async preview(program: PulumiFn): Promise<Record<string, number | undefined>> {
        return (await this.running(program, () => this.stack.preview(this.watched()))).changeSummary;
    }

    async refresh(
        options: Pick<RefreshOptions, "clearPendingCreates"> = {},
    ): Promise<Record<string, number | undefined>> {
        await this.stack.refresh({ ...this.watched(), ...options });
        return lastChanges(this.folder, this.stack.name);
    }

    async destroy(options: Pick<DestroyOptions, "parallel"> = {}): Promise<void> {
        await this.stack.destroy({ ...this.watched(), ...options });
    }

    /** As `pulumi cancel`: gives back the lock that a killed CLI left on the stack. */
    async cancel(): Promise<void> {
        await this.stack.cancel();
    }

    /** The CLI that runs for this stack now, and what it or an earlier one started. */
    processes(): EngineProcess[] {
        return processesWith(`PULUMI_BACKEND_URL=${backendOf(this.folder)}`);
    }

    /** As `pulumi stack export --show-secrets`. Exported again only where something was written since. */
    async state(): Promise<Deployment> {
        const written = await writtenState(this.folder, this.stack.name);
        if (written !== this.exported?.written) this.exported = { written, state: await this.stack.exportStack() };
        return structuredClone(this.exported.state);
    }

    /** As `pulumi stack export`: secrets are encrypted. */
    async encryptedState(): Promise<Deployment> {
        const { status, stdout } = await this.shell("pulumi stack export");
        if (status !== 0) throw new Error("the stack cannot be exported");
        return JSON.parse(stdout) as Deployment;
    }

    /** A command of the CLI that needs no program, e.g. `state taint URN`; answers what it printed. */
    async command(...args: readonly string[]): Promise<string> {
        const { workspace } = this.stack;
        return (await promisify(execFile)(this.pulumi, args, { cwd: workspace.workDir, env: this.environment() }))
            .stdout;
    }

    /** Runs commands as a person would in the program's directory, with the stack selected. */
    shell(commands: string): Promise<{ readonly status: number; readonly stdout: string }> {
        const options = { cwd: this.stack.workspace.workDir, env: this.environment(), maxBuffer: 2 ** 26 };
        return new Promise((resolve) => {
            const child = execFile("sh", ["-c", commands], options, (_error, stdout, stderr) => {
                this.take(stderr);
                resolve({ status: child.exitCode ?? -1, stdout });
            });
        });
    }

    /** Of a person who selected this stack. */
    private environment(): NodeJS.ProcessEnv {
        const { workspace, name } = this.stack;
        const own = environment(this.folder);
        const PATH = `${dirname(this.pulumi)}${delimiter}${own["PATH"] ?? ""}`;
        return { ...process.env, ...own, PATH, PULUMI_HOME: workspace.pulumiHome, PULUMI_STACK: name };
    }

    /** As `pulumi stack import`: takes the place of what was there. */
    async takeOver(state: Deployment): Promise<void> {
        await this.stack.importStack(state);
    }

    /** What the engine and its plugins said to each other, where it was started `verbose`. */
    grpcLog(): Promise<string> {
        return readFile(grpcLogIn(this.folder), "utf8");
    }

    /** The state as it lies on disk, for tests that look for what must not be in it. */
    async stateFiles(): Promise<string> {
        const files = await readdir(this.folder, { recursive: true, withFileTypes: true });
        const json = files.filter((file) => file.isFile() && file.name.includes(".json"));
        const texts = await Promise.all(json.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
        return texts.join("\n");
    }

    /** What the state holds of one resource's outputs, by its name in the program. */
    async outputsOf(name: string): Promise<Record<string, unknown>> {
        return (await this.resource(name))?.outputs ?? {};
    }

    /** For options that take one. */
    async urnOf(name: string): Promise<string> {
        return (await this.resource(name))?.urn ?? "";
    }

    /** Names of the resources in state whose type ends so, e.g. `mke:WorkerNode`; sorted. */
    async names(type: string): Promise<string[]> {
        const urns = (await this.resources()).map(({ urn }) => urn.split("::"));
        return urns.flatMap(([, , found = "", name = ""]) => (found.endsWith(type) ? [name] : [])).sort();
    }

    async close(): Promise<void> {
        // A provider that was started and never asked anything does not know of us, and outlives a killed CLI.
        this.processes().forEach(endNow);
        // What is killed may still write while its folder is emptied.
        await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
    }

    private async resource(name: string): Promise<StateResource | undefined> {
        return (await this.resources()).find((resource) => resource.urn.endsWith(`::${name}`));
    }

    private async resources(): Promise<readonly StateResource[]> {
        const { deployment } = (await this.state()) as { deployment: { resources?: StateResource[] } };
        return deployment.resources ?? [];
    }

    /**
     * Where a call of the SDK to its engine is UNAVAILABLE before the program begins, SDK 3.248 ends as after a program without
     * resources: the engine deletes them all, and says so without an error.
     */
    private async running<T>(program: PulumiFn, action: () => Promise<T>): Promise<T> {
        let hasRun = false;
        this.stack.workspace.program = () => {
            hasRun = true;
            return program();
        };
        const result = await action();
        assert(hasRun, "the program was never run: the SDK lost its engine and said that there are no resources");
        return result;
    }

    private watched(): Watched {
        const { onEvent, signal, verbose = false } = this.options;
        signal?.throwIfAborted();
        return {
            onOutput: (text) => this.take(text),
            ...(verbose && { ...HIGHEST_VERBOSITY, onError: (text: string) => this.take(text) }),
            ...(onEvent !== undefined && { onEvent }),
            ...(signal !== undefined && { signal }),
        };
    }

    private take(text: string): void {
        this.output.push(text);
        this.options.show?.(text);
    }
}

export interface UpSummary {
    readonly changes: Record<string, number | undefined>;
}

const HIGHEST_VERBOSITY = { debug: true, logVerbosity: 11, logFlow: true, logToStdErr: true } as const;

interface Watched extends Pick<EngineOptions, "onEvent" | "signal">, Partial<typeof HIGHEST_VERBOSITY> {
    readonly onOutput: (text: string) => void;
    readonly onError?: (text: string) => void;
}

interface StateResource {
    readonly urn: string;
    readonly outputs?: Record<string, unknown>;
}

async function createStack(
    pulumi: string,
    folder: string,
    { name = "test", verbose = false, env }: EngineOptions,
): Promise<Stack> {
    const workDir = join(folder, "work");
    await mkdir(workDir);
    const stack = await LocalWorkspace.createStack(
        { stackName: name, projectName: PROJECT, program: () => Promise.resolve() },
        {
            workDir,
            pulumiCommand: await commandAt(pulumi),
            pulumiHome: join(folder, "home"),
            envVars: { ...environment(folder), ...(verbose && { PULUMI_DEBUG_GRPC: grpcLogIn(folder) }), ...env },
        },
    );
    // After every run the API starts the CLI three times more to ask for these, a second of CPU that few tests need.
    stack.outputs = () => Promise.resolve({});
    stack.info = () => Promise.resolve(undefined);
    return stack;
}

/**
 * gRPC shares connections by address across a process. Those that a killed engine left are retried for minutes, and a later
 * engine that happens to get the same port would be "UNAVAILABLE". The SDK does not publish the options of its clients.
 */
function keepConnectionsApart(): void {
    const { grpcClientOptions } = runtime as { grpcClientOptions?: Record<string, unknown> };
    assert(grpcClientOptions, "this SDK keeps the options of its gRPC clients elsewhere");
    grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;
}

/** The Automation API takes a folder with `bin/pulumi` in it, or what is on PATH. */
function commandAt(pulumi: string): Promise<PulumiCommand> {
    const folder = dirname(pulumi);
    const root = basename(folder) === "bin" ? { root: dirname(folder) } : {};
    return PulumiCommand.get({ ...root, skipVersionCheck: true });
}

function grpcLogIn(folder: string): string {
    return join(folder, "grpc.log");
}
