import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Deployment, OutputMap, PulumiFn, Stack } from "@pulumi/pulumi/automation";
import { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation";

/** One stack of the real Pulumi engine, with a file backend of its own that goes away with it. */
export class Engine {
    /** Every line the engine and the provider wrote, for tests that look for secrets or progress. */
    readonly output: string[] = [];

    private constructor(
        private readonly stack: Stack,
        private readonly folder: string,
        private readonly show: (text: string) => void,
    ) {}

    static async start(
        pulumi: string,
        options: { name?: string; show?: (text: string) => void } = {},
    ): Promise<Engine> {
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-"));
        const stack = await LocalWorkspace.createStack(
            { stackName: options.name ?? "test", projectName: "mke", program: () => Promise.resolve() },
            {
                pulumiCommand: await PulumiCommand.get({ root: dirname(dirname(pulumi)), skipVersionCheck: true }),
                pulumiHome: join(folder, "home"),
                envVars: environment(folder),
            },
        );
        return new Engine(stack, folder, options.show ?? (() => undefined));
    }

    async up(program: PulumiFn): Promise<UpSummary> {
        this.stack.workspace.program = program;
        const result = await this.stack.up({ onOutput: (text) => this.take(text) });
        return { changes: result.summary.resourceChanges ?? {}, outputs: result.outputs };
    }

    async preview(program: PulumiFn): Promise<Record<string, number | undefined>> {
        this.stack.workspace.program = program;
        return (await this.stack.preview({ onOutput: (text) => this.take(text) })).changeSummary;
    }

    async refresh(): Promise<Record<string, number | undefined>> {
        const result = await this.stack.refresh({ onOutput: (text) => this.take(text) });
        return result.summary.resourceChanges ?? {};
    }

    async destroy(): Promise<void> {
        await this.stack.destroy({ onOutput: (text) => this.take(text) });
    }

    state(): Promise<Deployment> {
        return this.stack.exportStack();
    }

    /** What the state holds of one resource's outputs, by its name in the program. */
    async outputsOf(name: string): Promise<Record<string, unknown>> {
        const { deployment } = (await this.state()) as { deployment: { resources?: StateResource[] } };
        return deployment.resources?.find((resource) => resource.urn.endsWith(`::${name}`))?.outputs ?? {};
    }

    async close(): Promise<void> {
        await rm(this.folder, { recursive: true, force: true });
    }

    private take(text: string): void {
        this.output.push(text);
        this.show(text);
    }
}

export interface UpSummary {
    readonly changes: Record<string, number | undefined>;
    readonly outputs: OutputMap;
}

interface StateResource {
    readonly urn: string;
    readonly outputs?: Record<string, unknown>;
}

function environment(folder: string): Record<string, string> {
    // The engine looks on PATH for the script that starts dynamic providers; the npm package carries it.
    const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
    return {
        PULUMI_BACKEND_URL: `file://${folder}`,
        PULUMI_CONFIG_PASSPHRASE: "test",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        PATH: `${sdk}${delimiter}${process.env["PATH"] ?? ""}`,
    };
}
