import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { InputError } from "../../provider/errors";
import { MkeControllerNode, MkeWorkerNode, type ConnectionArgs, type MkeControllerNodeArgs } from "../../sdk";
import { propertiesOf } from "../../sdk/properties";
import { isMarkedSecret, known, type Registered, startMocks } from "../support/mocks";
import { root } from "../support/root";

const CLUSTER = { controllers: [{ host: "10.0.0.11" }] };

describe("the resource classes", () => {
    let registered: Registered[];

    beforeEach(() => {
        registered = startMocks();
    });

    it("register under the types and with the text that are in existing states", async () => {
        const nodes = [
            new MkeControllerNode("c2", { host: "10.0.0.12", cluster: CLUSTER }),
            new MkeWorkerNode("w1", { host: "10.0.0.21", cluster: CLUSTER }),
        ];
        await Promise.all(nodes.map((node) => known(node.urn)));
        const texts = ["controller", "worker"].map((kind) =>
            readFileSync(join(root, `test/sdk/stub.${kind}.txt`), "utf8"),
        );
        assert.deepEqual(
            registered.map(({ type, name, inputs }) => [type, name, inputs["__provider"]]),
            [
                ["pulumi-nodejs:dynamic/mke:ControllerNode", "c2", texts[0]],
                ["pulumi-nodejs:dynamic/mke:WorkerNode", "w1", texts[1]],
            ],
        );
    });

    it("give outputs that were found, not only those that were asked for", async () => {
        const controller = new MkeControllerNode("c2", { host: "10.0.0.12", cluster: CLUSTER });
        const worker = new MkeWorkerNode("w1", { host: "10.0.0.21", cluster: CLUSTER });
        assert.equal(await known(controller.nodeName), "c2");
        assert.equal(await known(controller.memberId), "1f");
        assert.equal(await known(controller.status), "ready");
        assert.equal(await known(worker.apiServer), "https://a:6443");
        for (const name of ["drift", "k0sVersion", "clusterId", "requestedNodeName", "timeouts"] as const) {
            assert.ok(pulumi.Output.isInstance(worker[name]), name);
        }
    });

    it("pass the owner, and leave host a plain output beside a secret connection", async () => {
        const connection = { privateKey: "key", user: "root" };
        const node = new MkeControllerNode("c2", { host: "10.0.0.12", cluster: CLUSTER, connection });
        assert.equal(await known(node.host), "10.0.0.12");
        assert.equal(await pulumi.isSecret(node.host), false);
        assert.equal(await pulumi.isSecret(node.connection), true);
        const { inputs } = only(registered);
        assert.equal(inputs["owner"], "acme/mke/test/c2");
        assert.equal(inputs["host"], "10.0.0.12");
        assert.equal(isMarkedSecret(inputs["connection"]), true);
        // It has the resource's own key, because its controller has no connection.
        assert.equal(isMarkedSecret(inputs["cluster"]), true);
    });

    it("do not change the arguments of the program, which are often shared", () => {
        const shared = Object.freeze({ cluster: Object.freeze(CLUSTER), connection: Object.freeze({ password: "x" }) });
        new MkeControllerNode("c2", Object.freeze({ ...shared, host: "10.0.0.12" }));
        new MkeWorkerNode("w1", Object.freeze({ ...shared, host: "10.0.0.21" }));
    });
});

describe("secrets in arguments", () => {
    let registered: Registered[];

    beforeEach(() => {
        registered = startMocks();
    });

    const LOGIN = { user: "root", privateKey: "k", privateKeyPassword: "p", password: "w", hostKey: "SHA256:x" };

    async function secretsOf(fields: object): Promise<string[]> {
        const marks = await Promise.all(
            Object.entries(fields).map(async ([name, value]) => ((await isSecretOutput(value)) ? [name] : [])),
        );
        return marks.flat().sort();
    }

    async function isSecretOutput(value: unknown): Promise<boolean> {
        return pulumi.Output.isInstance(value) && (await pulumi.isSecret(value));
    }

    it("are wrapped field by field, also in the proxy and in the controllers' logins", async () => {
        const connection = { ...LOGIN, sudoPassword: "s", proxy: { host: "b", ...LOGIN } };
        const args = { host: "10.0.0.12", connection, cluster: { controllers: [{ host: "a", connection: LOGIN }] } };
        const properties = propertiesOf("c2", args) as unknown as typeof args;
        const secrets = ["password", "privateKey", "privateKeyPassword"];
        assert.deepEqual(await secretsOf(properties.connection), [...secrets, "sudoPassword"]);
        assert.deepEqual(await secretsOf(properties.connection.proxy), secrets);
        assert.deepEqual(await secretsOf(properties.cluster.controllers[0]?.connection ?? {}), secrets);
    });

    it("are the address of a download with a login or a signature in it, and no other", async () => {
        let made = 0;
        const hidden = async (downloadUrl: pulumi.Input<string>): Promise<string[]> => {
            const args = { host: `10.0.1.${(made += 1)}`, cluster: CLUSTER, k0s: { version: "v1.36.3", downloadUrl } };
            return secretsOf((propertiesOf("w1", args) as unknown as typeof args).k0s);
        };
        assert.deepEqual(await hidden("https://example.com/k0s"), []);
        for (const url of ["https://me:word@example.com/k0s", "https://example.com/k0s?signature=a"]) {
            assert.deepEqual(await hidden(url), ["downloadUrl"]);
            assert.deepEqual(await hidden(pulumi.output(url)), ["downloadUrl"]);
        }
    });

    it("are hidden where they stand in the wrong place, as Pulumi prints what is refused", async () => {
        const wrong = {
            host: "10.0.0.12",
            cluster: CLUSTER,
            conection: LOGIN,
            token: "t",
            connection: "key",
            registry: "me:w",
        };
        const properties = propertiesOf("w1", wrong as unknown as MkeControllerNodeArgs);
        assert.deepEqual(await secretsOf(properties), ["conection", "connection", "registry", "token"]);
    });

    it("leave it to the provider to say that the controllers are no list", () => {
        const args = { host: "10.0.0.12", cluster: { controllers: { host: "10.0.0.11" } } };
        const properties = propertiesOf("w1", args as unknown as MkeControllerNodeArgs);
        assert.deepEqual(properties["cluster"], args.cluster);
    });

    it("are marked where a part is an output", async () => {
        const connection: pulumi.Output<ConnectionArgs> = pulumi.output({ password: "w" });
        const cluster = pulumi.output({ controllers: [{ host: "a", connection: { password: "w" } }] });
        await known(new MkeWorkerNode("w1", { host: "10.0.0.12", connection, cluster }).urn);
        const { inputs } = only(registered);
        assert.equal(isMarkedSecret(inputs["connection"]), true);
        assert.equal(isMarkedSecret(inputs["cluster"]), true);
    });

    it("go to a controller without a login of its own, but never the host key", async () => {
        const args = { host: "10.0.0.12", connection: LOGIN, cluster: CLUSTER };
        const { cluster } = propertiesOf("c2", args) as unknown as MkeControllerNodeArgs;
        const [controller] = (cluster as typeof CLUSTER).controllers as { host: string; connection?: object }[];
        assert.deepEqual(Object.keys(controller?.connection ?? {}), [
            "user",
            "privateKey",
            "privateKeyPassword",
            "password",
        ]);
        assert.deepEqual(await secretsOf(controller?.connection ?? {}), [
            "password",
            "privateKey",
            "privateKeyPassword",
        ]);
    });
});

describe("two resources with one host", () => {
    beforeEach(() => void startMocks());

    it("are an error of the constructor where the host is known", () => {
        new MkeControllerNode("c2", { host: "C2.example.", cluster: CLUSTER });
        assert.throws(
            () => new MkeWorkerNode("w1", { host: "c2.example", cluster: CLUSTER }),
            (error) => error instanceof InputError && /"c2" and "w1" have the same host/.test(error.message),
        );
    });

    it("are an error of the registration where it becomes known later", async () => {
        new MkeControllerNode("c2", { host: "10.0.0.12", cluster: CLUSTER });
        const { host } = propertiesOf("c3", { host: pulumi.output("10.0.0.12"), cluster: CLUSTER });
        // What Pulumi asks of an output when it registers a resource.
        const asked = host as { promise(): Promise<unknown>; isKnown: Promise<boolean>; isSecret: Promise<boolean> };
        const answers = [asked.promise(), asked.isKnown, asked.isSecret];
        await Promise.all(answers.map((answer) => assert.rejects(answer, /"c2" and "c3" have the same host/)));
    });

    it("are none in another run of the program in the same process", () => {
        for (let run = 0; run < 2; run++) {
            startMocks();
            new MkeControllerNode("c2", { host: "10.0.0.12", cluster: CLUSTER });
        }
    });
});

describe("a controller whose removal would be skipped", () => {
    const args = { host: "10.0.0.12", cluster: CLUSTER };
    let registered: Registered[];

    beforeEach(() => {
        registered = startMocks();
    });

    it("is refused, unless the program says that it may be", async () => {
        const parent = new MkeWorkerNode("w1", { host: "10.0.0.21", cluster: CLUSTER });
        for (const opts of [{ retainOnDelete: true }, { deletedWith: parent }]) {
            assert.throws(() => new MkeControllerNode("c2", args, opts), /skips its removal from etcd/);
        }
        const node = new MkeControllerNode("c2", { ...args, allowSkippedRemoval: true }, { deletedWith: parent });
        await known(node.urn);
        assert.equal("allowSkippedRemoval" in (registered.at(-1)?.inputs ?? {}), false);
    });

    it("leaves no claim on its host behind", () => {
        assert.throws(() => new MkeControllerNode("c2", args, { retainOnDelete: true }));
        new MkeControllerNode("c2", args, { retainOnDelete: false });
    });

    it("may be a worker, which leaves no member behind", () => {
        new MkeWorkerNode("w1", args, { retainOnDelete: true });
    });
});

describe("a node that is to be imported", () => {
    beforeEach(() => void startMocks());

    it("is refused with the way to adopt it, in an error that Pulumi shows without a stack", () => {
        for (const node of [MkeControllerNode, MkeWorkerNode]) {
            assert.throws(
                () => new node("c2", { host: "10.0.0.12", cluster: CLUSTER }, { import: "c2" }),
                (error: Error) => {
                    assert.match(error.message, /"c2" has the option import.*cannot be imported\n.*adopted as it is/);
                    assert.equal(error.stack, error.message);
                    return pulumi.RunError.isInstance(error) && error instanceof InputError;
                },
            );
        }
        new MkeWorkerNode("c2", { host: "10.0.0.12", cluster: CLUSTER });
    });
});

describe("a program under test", () => {
    it("needs mocks for a project and a stack only", async () => {
        const registered: Registered[] = [];
        const newResource: pulumi.runtime.Mocks["newResource"] = ({ type, name, inputs }) => {
            registered.push({ type, name, inputs: inputs as Record<string, unknown> });
            return { id: name, state: inputs as object };
        };
        void pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "mke", "test", false);
        await known(new MkeWorkerNode("w1", { host: "10.0.0.21", cluster: CLUSTER }).urn);
        assert.equal(only(registered).inputs["owner"], "organization/mke/test/w1");
    });
});

function only(registered: readonly Registered[]): Registered {
    const [first, ...more] = registered;
    assert.ok(first !== undefined && more.length === 0);
    return first;
}
