import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { ApiError, RefusedError } from "../../provider/errors";
import type { RegistryInputs } from "../../provider/inputs";
import { stageBinary } from "../../provider/stages/stage-binary";
import { needsSource, verifySource } from "../../provider/stages/verify-source";
import { BINARY, blankHost, cluster } from "../decide/build";
import { only } from "../support/fake-calls";
import { HELPER_VERSION } from "../support/fake-host";
import { fakeMke, mkeConfig, type MkeObjects } from "../support/fake-mke";
import { type Scene, scene, type SceneOptions } from "../support/fake-operation";
import { artifact, index, tarball } from "../support/registry-content";
import { fakeRegistry, LOGIN, REPOSITORY, type TestRegistry } from "../support/registry-server";

const PATH = BINARY.path;
const PROGRAM = Buffer.from("the k0s program");
const soon = (): Deadline => Deadline.after(20_000);

describe("k0s from a registry", () => {
    let server: TestRegistry;
    before(async () => {
        server = await fakeRegistry("token");
        await server.push("v1", index({ amd64: artifact({ content: PROGRAM, title: "k0s" }) }));
        const archive = {
            content: tarball({ k0s: PROGRAM }),
            mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
        };
        await server.push("archive", artifact(archive));
    });
    after(() => server.close());

    /** What arrived on the host, beside the scene. */
    function world(
        registry: RegistryInputs,
        tag = "v1",
        options: SceneOptions = {},
        objects: MkeObjects = {},
    ): Scene & { readonly arrived: string[] } {
        const arrived: string[] = [];
        const ociArtifact = `${server.name}/${REPOSITORY}:${tag}`;
        const made: Scene = scene({
            ...options,
            inputs: { k0s: { installPath: PATH, ociArtifact }, registry },
            target: {
                putExecutable: async (path, content) => {
                    arrived.push(await text(content));
                    made.files.set(path, HELPER_VERSION);
                },
                ...options.target,
            },
        });
        Object.assign(made.operation.cluster.kube, { mke: fakeMke(made.calls, objects) });
        return { ...made, arrived };
    }
    const given = (): RegistryInputs => ({ ...LOGIN, caCertificate: server.ca });
    /** An MkeConfig that knows the registry, with its login in a Secret. */
    const mkeObjects = (
        url = `${server.name}/mke`,
        caData = Buffer.from(server.ca).toString("base64"),
    ): MkeObjects => ({
        config: mkeConfig({ imageRegistry: { url, caData, credentialsSecretName: "pull" } }),
        dockerConfigs: {
            pull: JSON.stringify({
                auths: {
                    "https://elsewhere.example.com": { username: "no", password: "no" },
                    [`https://${server.name}/v1/`]: {
                        auth: Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString("base64"),
                    },
                },
            }),
        },
    });
    const onMke: SceneOptions = { cluster: cluster({ mke: true }) };

    it("is streamed through this process, as a file with its size and checksum", async () => {
        const made = world(given());
        assert.equal(await stageBinary(made.operation, soon()), `${HELPER_VERSION} from ${server.name}`);
        assert.deepEqual(made.arrived, [PROGRAM.toString()]);
        assert.match(only(made.calls, "c3 put").join(), new RegExp(`${PATH} ${PROGRAM.length} [0-9a-f]{64}$`));
        assert.equal(made.operation.progress.installedBinary, true);
    });

    it("is streamed out of an archive", async () => {
        const made = world(given(), "archive");
        await stageBinary(made.operation, soon());
        assert.deepEqual(made.arrived, [PROGRAM.toString()]);
    });

    it("is read with login and authority from MkeConfig where that names the registry", async () => {
        for (const objects of [mkeObjects(), mkeObjects(undefined, server.ca)]) {
            const made = world({}, "v1", onMke, objects);
            assert.match((await verifySource(made.operation, soon())) as string, /^sha256:/);
            await stageBinary(made.operation, soon());
            assert.deepEqual(made.arrived, [PROGRAM.toString()]);
        }
    });

    it("is not read with the login of another registry", async () => {
        const made = world({ caCertificate: server.ca }, "v1", onMke, mkeObjects("registry.example.com/mke"));
        await assert.rejects(verifySource(made.operation, soon()), /it wants a login, and none was given/);
        assert.deepEqual(only(made.calls, "mke dockerConfig"), []);
    });

    it("keeps the login and the token off the host, the log and errors", async () => {
        const made = world(given());
        await verifySource(made.operation, soon());
        await stageBinary(made.operation, soon());
        const wrong = world({ ...given(), password: "wrong-pass" });
        const error = await verifySource(wrong.operation, soon()).catch((failure: unknown) => failure);
        assert.ok(error instanceof ApiError);
        const basic = Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString("base64");
        const said = [...made.calls, ...made.lines, ...made.arrived, ...wrong.calls, error.message, error.stack].join(
            "\n",
        );
        for (const secret of [LOGIN.password, "the-token", "wrong-pass", basic])
            assert.ok(!said.includes(secret), secret);
    });

    it("is verified before anything is changed: there, and for the host's architecture", async () => {
        await assert.rejects(verifySource(world(given(), "v2").operation, soon()), /404 manifest unknown/);
        const arm = world(given(), "v1", { hostFacts: blankHost("c3", { arch: "arm64" }) });
        await assert.rejects(
            verifySource(arm.operation, soon()),
            (error: Error) => error instanceof RefusedError && /nothing for linux\/arm64/.test(error.message),
        );
    });

    it("is not asked for where the wanted version is on the host", () => {
        assert.equal(needsSource(world({}).operation), true);
        assert.equal(needsSource(world({}, "v1", { hostFacts: blankHost("c3", { binary: BINARY }) }).operation), false);
        const older = { ...BINARY, version: "v1.30.0+k0s.0" };
        assert.equal(needsSource(world({}, "v1", { hostFacts: blankHost("c3", { binary: older }) }).operation), true);
        assert.equal(needsSource(scene().operation), false);
    });
});

describe("an address that the host will download from", () => {
    const download = (answer: "open" | "blocked", downloadUrl: string): Scene =>
        scene({ inputs: { k0s: { installPath: PATH, downloadUrl } }, target: { reach: async () => answer } });

    it("is tried from the host, and told of where it cannot be reached", async () => {
        const open = download("open", "https://example.com/k0s");
        assert.equal(await verifySource(open.operation, soon()), "example.com:443 is open");
        assert.deepEqual(only(open.calls, "c3 reach"), ["c3 reach example.com:443"]);
        const byAddress = download("open", "http://[fd00::5]:8080/k0s");
        assert.equal(await verifySource(byAddress.operation, soon()), "[fd00::5]:8080 is open");
        assert.deepEqual(only(byAddress.calls, "c3 reach"), ["c3 reach fd00::5:8080"]);
        const blocked = download("blocked", "http://example.com:8080/k0s");
        assert.match(
            (await verifySource(blocked.operation, soon())) as string,
            /example\.com:8080 is blocked; the download will tell/,
        );
    });
});
