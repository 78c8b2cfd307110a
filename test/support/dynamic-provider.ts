import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type Metadata, type ServiceError } from "@grpc/grpc-js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { root } from "./root";

export type Properties = Record<string, unknown>;

/** What Pulumi keeps of a resource whose `create` or `update` failed half-way. */
export interface InitFailure {
    readonly id: string;
    readonly properties: Properties;
    readonly reasons: readonly string[];
}

/** A failed call: the message, and the init failure where there is one. */
export class CallError extends Error {
    constructor(
        message: string,
        readonly initFailure: InitFailure | undefined,
    ) {
        super(message);
    }
}

/** Pulumi's own dynamic-provider process, spoken to as the engine does. */
export class DynamicProvider {
    /** Everything it printed after its port. */
    readonly output: string[] = [];

    private constructor(
        private readonly child: ChildProcess,
        private readonly client: ResourceProviderClient,
    ) {}

    /**
     * `folder`: where the program would be; `require` in the stored text resolves from there. `engine`: the engine's address,
     * which the server does not use, but ours ends where nobody is there; without one it has no engine to lose.
     */
    static async start(folder: string = root, engine = "none"): Promise<DynamicProvider> {
        const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
        const child = spawn(process.execPath, [script, engine], {
            cwd: folder,
            stdio: ["ignore", "pipe", "pipe"],
        });
        const lines = createInterface({ input: child.stdout });
        const [port] = (await once(lines, "line")) as [string];
        const client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
        const provider = new DynamicProvider(child, client);
        lines.on("line", (line) => provider.output.push(line));
        child.stderr.on("data", (data) => provider.output.push(String(data)));
        const request = new messages.ConfigureRequest();
        request.setArgs(struct({}));
        await call<messages.ConfigureResponse>((done) => client.configure(request, done));
        return provider;
    }

    async check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: [string, string][] }> {
        const request = new messages.CheckRequest();
        request.setOlds(struct(olds));
        request.setNews(struct(news));
        const response = await call<messages.CheckResponse>((done) => this.client.check(request, done));
        return {
            inputs: plain(response.getInputs()),
            failures: response.getFailuresList().map((failure) => [failure.getProperty(), failure.getReason()]),
        };
    }

    async diff(
        olds: Properties,
        news: Properties,
    ): Promise<{ changes: string; replaces: string[]; deleteFirst: boolean }> {
        const request = new messages.DiffRequest();
        request.setId("id");
        request.setOlds(struct(olds));
        request.setNews(struct(news));
        const response = await call<messages.DiffResponse>((done) => this.client.diff(request, done));
        const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
        const names = new Map<number, string>([
            [DIFF_NONE, "none"],
            [DIFF_SOME, "some"],
        ]);
        return {
            changes: names.get(response.getChanges()) ?? "unknown",
            replaces: response.getReplacesList(),
            deleteFirst: response.getDeletebeforereplace(),
        };
    }

    async create(inputs: Properties): Promise<{ id: string; properties: Properties }> {
        const request = new messages.CreateRequest();
        request.setProperties(struct(inputs));
        const response = await call<messages.CreateResponse>((done) => this.client.create(request, done));
        return { id: response.getId(), properties: plain(response.getProperties()) };
    }

    async read(id: string, properties: Properties): Promise<{ id: string; properties: Properties }> {
        const request = new messages.ReadRequest();
        request.setId(id);
        request.setProperties(struct(properties));
        const response = await call<messages.ReadResponse>((done) => this.client.read(request, done));
        return { id: response.getId(), properties: plain(response.getProperties()) };
    }

    async update(id: string, olds: Properties, news: Properties): Promise<Properties> {
        const request = new messages.UpdateRequest();
        request.setId(id);
        request.setOlds(struct(olds));
        request.setNews(struct(news));
        const response = await call<messages.UpdateResponse>((done) => this.client.update(request, done));
        return plain(response.getProperties());
    }

    async delete(id: string, properties: Properties): Promise<void> {
        const request = new messages.DeleteRequest();
        request.setId(id);
        request.setProperties(struct(properties));
        await call((done) => this.client.delete(request, done));
    }

    /** Waits until it has ended by itself. */
    async ended(): Promise<void> {
        if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "close");
    }

    /** The process stands still, as on a machine that sleeps. */
    suspend(): void {
        this.child.kill("SIGSTOP");
    }

    resume(): void {
        this.child.kill("SIGCONT");
    }

    /** At once, as by the kernel; calls that are under way fail. */
    async kill(): Promise<void> {
        const ended = once(this.child, "close");
        this.child.kill("SIGKILL");
        await ended;
    }

    async stop(): Promise<void> {
        this.client.close();
        if (this.child.exitCode !== null || this.child.signalCode !== null) return;
        this.resume();
        const ended = once(this.child, "close");
        this.child.kill();
        await ended;
    }
}

type Done<T> = (error: ServiceError | null, response: T) => void;

function call<T>(send: (done: Done<T>) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
        send((error, response) => {
            if (error === null) resolve(response);
            else reject(new CallError(error.details, initFailureOf(error.metadata)));
        });
    });
}

function initFailureOf(metadata: Metadata): InitFailure | undefined {
    const [bytes] = metadata.get("grpc-status-details-bin");
    const [detail] = bytes instanceof Buffer ? Status.deserializeBinary(bytes).getDetailsList() : [];
    if (detail === undefined) return undefined;
    const failure = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
    return { id: failure.getId(), properties: plain(failure.getProperties()), reasons: failure.getReasonsList() };
}

function struct(properties: Properties): Struct {
    return Struct.fromJavaScript(properties as Parameters<typeof Struct.fromJavaScript>[0]);
}

function plain(properties: Struct | undefined): Properties {
    return properties?.toJavaScript() ?? {};
}
