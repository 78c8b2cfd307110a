import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Simulation, startSimulation } from "../sim";
import { COMMANDS, type Form } from "./forms";
import { pathWith, type Toolbox } from "./toolbox";

/** What the dynamic provider process ran on. */
export interface Witness {
    readonly node: string;
    readonly script: string;
    readonly provider: string;
}

/** What `drive.cjs` answers. */
interface Seen {
    readonly sdk: string;
    readonly node: string;
    readonly texts: readonly { readonly name: string; readonly text: string }[];
    readonly outputs: Readonly<Record<string, unknown>>;
    readonly up: Changes;
    readonly refresh: Changes;
    readonly destroy: Changes;
    readonly output: string;
}

type Changes = Readonly<Record<string, number>>;

export interface FormRun extends Seen {
    readonly providers: readonly Witness[];
    /** Names of the etcd members after `refresh`, and at the end. */
    readonly joined: readonly string[];
    readonly left: readonly string[];
    /** Hosts on which a unit of k0s was left at the end. */
    readonly unclean: readonly string[];
}

const ADDRESSES = { c1: "10.77.0.11", c2: "10.77.0.12", w1: "10.77.0.21" };

/** `up`, `refresh` and `destroy` of one form, in its project directory, on a cluster of its own. */
export async function runForm(pulumi: string, toolbox: Toolbox, project: string, form: Form): Promise<FormRun> {
    const sim = await startSimulation({ speed: 30 });
    const stack = await mkdtemp(join(toolbox.folder, "stack-"));
    try {
        for (const [name, address] of Object.entries(ADDRESSES)) sim.host(name, { address });
        sim.bootstrapController("c1");
        return await drive(sim, { pulumi, toolbox, project, form, stack });
    } finally {
        await rm(stack, { recursive: true, force: true });
        await sim.close();
    }
}

interface Place {
    readonly pulumi: string;
    readonly toolbox: Toolbox;
    readonly project: string;
    readonly form: Form;
    readonly stack: string;
}

async function drive(sim: Simulation, place: Place): Promise<FormRun> {
    const witness = join(place.stack, "witness");
    const driver = new Driver(place);
    try {
        driver.send(await taskOf(sim, place, witness));
        await driver.answer("joined");
        const joined = sim.memberNames();
        driver.send({});
        const seen = (await driver.answer("seen")) as Seen;
        sim.assertInvariants();
        const lines = (await readFile(witness, "utf8")).trim().split("\n");
        return {
            ...seen,
            providers: lines.map((line) => JSON.parse(line) as Witness),
            joined,
            left: sim.memberNames(),
            unclean: sim.hosts.filter(({ units }) => units.installed !== undefined).map(({ name }) => name),
        };
    } finally {
        await driver.stop();
    }
}

async function taskOf(sim: Simulation, { pulumi, toolbox, project, form, stack }: Place, witness: string) {
    const workDir = join(stack, "work");
    await mkdir(workDir);
    const { host, port, privateKey } = sim.bastion;
    const plain = {
        bastion: host,
        bastionPort: String(port),
        controller: ADDRESSES.c1,
        c2: ADDRESSES.c2,
        w1: ADDRESSES.w1,
    };
    const config = Object.entries(plain).map(([name, value]) => [`mke:${name}`, { value }] as const);
    return {
        workDir,
        pulumiHome: join(stack, "home"),
        cli: basename(dirname(pulumi)) === "bin" ? { root: dirname(dirname(pulumi)) } : {},
        config: { ...Object.fromEntries(config), "mke:privateKey": { value: privateKey, secret: true } },
        envVars: {
            PULUMI_BACKEND_URL: `file://${stack}`,
            PULUMI_CONFIG_PASSPHRASE: "test",
            PULUMI_SKIP_UPDATE_CHECK: "true",
            PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
            // The script that starts dynamic providers is looked for on PATH, and runs the `node` that is there.
            PATH: pathWith(toolbox.node(form.node), join(project, "node_modules/@pulumi/pulumi/package.json")),
            NODE_OPTIONS: `--require ${join(project, "witness.cjs")}`,
            PULUMI_MKE_WITNESS: witness,
        },
    };
}

/** The process of `drive.cjs`. */
class Driver {
    private readonly child: ChildProcess;
    private readonly ended: Promise<void>;
    private readonly answers = new Map<string, (answer: unknown) => void>();
    private readonly failure: Promise<never>;
    private printed = "";

    constructor({ toolbox, project, form }: Place) {
        const node = toolbox.node(form.node);
        this.child = spawn(node, COMMANDS[form.language], {
            cwd: project,
            env: { ...process.env, PATH: pathWith(node) },
            stdio: ["ignore", "pipe", "pipe", "ipc"],
        });
        for (const stream of [this.child.stdout, this.child.stderr]) {
            stream?.on("data", (chunk: Buffer) => (this.printed += chunk.toString()));
        }
        this.ended = new Promise((resolve) => this.child.once("exit", () => resolve()));
        this.failure = new Promise((_, reject) => {
            this.child.once("error", reject);
            this.child.on("message", (message: Record<string, unknown>) => {
                if (typeof message["error"] === "string") reject(new Error(message["error"]));
                for (const [name, value] of Object.entries(message)) this.answers.get(name)?.(value);
            });
            void this.ended.then(() => reject(new Error(`the program ended early:\n${this.printed}`)));
        });
        this.failure.catch(() => undefined);
    }

    send(message: object): void {
        this.child.send(message);
    }

    answer(name: string): Promise<unknown> {
        const answered = new Promise((resolve) => this.answers.set(name, resolve));
        return Promise.race([answered, this.failure]);
    }

    async stop(): Promise<void> {
        this.child.kill();
        await this.ended;
    }
}
