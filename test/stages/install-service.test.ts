import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { Deadline } from "../../provider/deadline";
import { CommandError, LockError } from "../../provider/errors";
import type { HostFacts } from "../../provider/facts/host";
import type { K0sSource } from "../../provider/inputs";
import {
    blankLeftToken,
    installService,
    restartService,
    startService,
    withJoinToken,
} from "../../provider/stages/install-service";
import { blankHost, controllerHost, workerHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { JOIN_TOKEN } from "../support/fake-host";
import { type SceneOptions, type Scene, scene } from "../support/fake-operation";

const TOKEN_FILE = "/etc/k0s/k0stoken";
const soon = (): Deadline => Deadline.after(5000);
const failed = new Error("the join failed");

const tokenOn = ({ files }: Scene): string => files.get(TOKEN_FILE) ?? "absent";

function isRetired(world: Scene): void {
    assert.deepEqual(only(world.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);
    assert.match(tokenOn(world), /^# used by pulumi-mke/);
}

/** The token is nowhere but in the file it was written to. */
function isSecret({ calls, lines }: Scene, error: unknown = ""): void {
    const said = [...calls, ...lines, error instanceof Error ? `${error.message}${error.stack ?? ""}` : String(error)];
    assert.ok(!said.join("\n").includes(JOIN_TOKEN), said.join("\n"));
}

/** What the join fails with. */
const failureOf = async (world: Scene, join: () => Promise<unknown>): Promise<unknown> => {
    try {
        await withJoinToken(world.operation, join);
    } catch (error) {
        return error;
    }
    return undefined;
};

describe("a join token", () => {
    it("is in a file of the host while the join runs, for root alone, and answers what the join does", async () => {
        const world = scene();
        const answer = await withJoinToken(world.operation, async () => tokenOn(world));
        assert.equal(answer, JOIN_TOKEN);
        assert.equal(world.calls[1], `c3 writeFile ${TOKEN_FILE} 600`);
    });

    it("lives for half an hour, whatever becomes of the join", async () => {
        const lives: number[] = [];
        const createJoinToken: Host["createJoinToken"] = async ({ expirySeconds }) => {
            lives.push(expirySeconds);
            return { token: JOIN_TOKEN, id: "abcdef" };
        };
        await withJoinToken(scene({ helper: { createJoinToken } }).operation, async () => undefined);
        assert.deepEqual(lives, [30 * 60]);
    });

    for (const name of ["c3", "w1"]) {
        it(`is of the role of ${name}`, async () => {
            const world = scene({ name });
            await withJoinToken(world.operation, async () => undefined);
            assert.equal(world.calls[0], `c1 createJoinToken ${name === "c3" ? "controller" : "worker"}`);
        });
    }

    it("is invalid and blank after the join", async () => {
        const world = scene();
        await withJoinToken(world.operation, () => installService(world.operation, soon()));
        isRetired(world);
        isSecret(world);
    });

    it("is invalid and blank after a join that failed, and the failure is the join's", async () => {
        const world = scene();
        const error = await failureOf(world, () => Promise.reject(failed));
        assert.equal(error, failed);
        isRetired(world);
        isSecret(world, error);
    });

    it("is invalid also when it could not be written to the host", async () => {
        let writes = 0;
        const world: Scene = scene({
            target: {
                writeFile: async (path, content) => {
                    writes += 1;
                    if (writes === 1) throw failed;
                    world.files.set(path, content.toString());
                },
            },
        });
        let joined = false;
        const error = await failureOf(world, async () => (joined = true));
        assert.equal(error, failed);
        assert.equal(joined, false);
        isRetired(world);
    });

    const stubborn: SceneOptions = { helper: { invalidateJoinToken: () => Promise.reject(new Error("helper away")) } };

    it("is blank also when the helper cannot invalidate it, and then the join has failed", async () => {
        const world = scene(stubborn);
        assert.match(String(await failureOf(world, async () => undefined)), /helper away/);
        assert.match(tokenOn(world), /^# used/);
    });

    it("is retired after a join although the API is away for a moment", async () => {
        let away = true;
        const invalidateJoinToken = async (): Promise<void> => {
            if (!away) return;
            away = false;
            throw new CommandError({
                stage: "invalidating the join token",
                host: "c1",
                what: "k0s failed",
                exitCode: 1,
            });
        };
        const world = scene({ helper: { invalidateJoinToken } });
        assert.equal(await withJoinToken(world.operation, async () => "joined"), "joined");
        assert.deepEqual(only(world.calls, "c1 invalidate").length, 2);
        assert.match(tokenOn(world), /^# used/);
    });

    it("that could not be retired after a failed join is told of in the log, without itself", async () => {
        const world = scene(stubborn);
        const error = await failureOf(world, () => Promise.reject(failed));
        assert.equal(error, failed);
        assert.match(world.lines.join(), /could not be retired, it expires by itself: helper away/);
        isSecret(world, error);
    });

    it("stays on workers of the one version that decodes it at every start, where it is invalid", async () => {
        const version = "v1.35.1+k0s.0";
        const { operation } = scene();
        const k0s = { ...operation.inputs.k0s, version };
        const worker = scene({ name: "w1", inputs: { k0s } });
        await withJoinToken(worker.operation, async () => undefined);
        assert.equal(tokenOn(worker), JOIN_TOKEN);
        assert.deepEqual(only(worker.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);

        const controller = scene({ inputs: { k0s } });
        await withJoinToken(controller.operation, async () => undefined);
        isRetired(controller);
    });
});

describe("a join token that a killed join left behind", () => {
    const blank = async (name: string, change: Partial<HostFacts>, k0s: Partial<K0sSource> = {}): Promise<Scene> => {
        const facts = name === "c3" ? controllerHost(name, change) : workerHost(name, change);
        const world = scene({ name, hostFacts: facts, inputs: { k0s: { installPath: "/usr/local/bin/k0s", ...k0s } } });
        world.files.set(TOKEN_FILE, JOIN_TOKEN);
        await blankLeftToken(world.operation, soon());
        return world;
    };

    it("is blanked where the host is ours", async () => {
        const world = await blank("c3", { tokenFile: "token" });
        assert.match(tokenOn(world), /^# used/);
    });

    it("stays where the host is not, where it is blank already, and where its worker needs it at every start", async () => {
        const kept = [
            await blank("c3", { tokenFile: "token", marker: undefined }),
            await blank("c3", { tokenFile: "blank" }),
            await blank("w1", { tokenFile: "token" }, { version: "v1.35.1+k0s.0" }),
        ];
        assert.deepEqual(kept.map(tokenOn), [JOIN_TOKEN, JOIN_TOKEN, JOIN_TOKEN]);
    });
});

describe("the service", () => {
    it("is installed with the flags of the helper's cloud provider in the first place", async () => {
        const world = scene();
        Object.assign(world.operation.cluster.helperFacts, { args: ["controller", "--enable-cloud-provider"] });
        assert.equal(await installService(world.operation, soon()), "with --enable-cloud-provider");
        const [installed = ""] = only(world.calls, "c3 installService controller");
        assert.ok(installed.endsWith(" --enable-cloud-provider"), installed);
    });

    it("of a controller has the flags that all controllers share from the helper; the log names them only", async () => {
        const world = scene();
        const args = ["controller", "--enable-dynamic-config=true", "--disable-components=helm", "--profile=big"];
        Object.assign(world.operation.cluster.helperFacts, { args });
        assert.equal(
            await installService(world.operation, soon()),
            "with --enable-dynamic-config --disable-components",
        );
        const [installed = ""] = only(world.calls, "c3 installService controller");
        assert.ok(installed.endsWith(" --enable-dynamic-config --disable-components=helm"), installed);
    });

    it("of a controller on 32-bit ARM has the environment without which its etcd ends, unless the program says it", async () => {
        const installed = async (arch: string, flags: readonly string[] = [], name = "c3"): Promise<string> => {
            const world = scene({ name, hostFacts: blankHost(name, { arch }), inputs: { installFlags: flags } });
            await installService(world.operation, soon());
            return only(world.calls, `${name} installService`).join();
        };
        assert.match(await installed("arm"), / --env=ETCD_UNSUPPORTED_ARCH=arm/);
        for (const own of ["--env=ETCD_UNSUPPORTED_ARCH=arm", "-e=ETCD_UNSUPPORTED_ARCH=arm"]) {
            assert.equal((await installed("arm", [own])).split("ETCD_UNSUPPORTED_ARCH").length, 2);
        }
        const besides = await installed("arm", ["--env=HTTPS_PROXY=http://proxy"]);
        assert.match(besides, / --env=ETCD_UNSUPPORTED_ARCH=arm --env=HTTPS_PROXY=http:\/\/proxy/);
        for (const [arch, name] of [
            ["arm64", "c3"],
            ["amd64", "c3"],
            ["arm", "w1"],
        ] as const) {
            assert.doesNotMatch(await installed(arch, [], name), /ETCD_UNSUPPORTED_ARCH/);
        }
    });

    it("that k0s does not accept fails with its words, without values of the program's", async () => {
        const output = 'invalid argument "s3cret" for "--labels" flag: "s3cret" is no pair';
        const refusing: SceneOptions = {
            inputs: { installFlags: ["--labels=s3cret"] },
            target: {
                installService: () =>
                    Promise.reject(
                        new CommandError({ stage: "installing k0s", host: "c3", what: "failed", exitCode: 1, output }),
                    ),
            },
        };
        await assert.rejects(installService(scene(refusing).operation, soon()), (error) => {
            assert.ok(error instanceof CommandError);
            assert.equal(error.details.output, 'invalid argument "…" for "--labels" flag: "…" is no pair');
            assert.doesNotMatch(`${error.message}${error.stack ?? ""}`, /s3cret/);
            return true;
        });
    });

    it("is installed with flags that name the token's file and not the token", async () => {
        const world = scene();
        await withJoinToken(world.operation, () => installService(world.operation, soon()));
        const [installed = ""] = only(world.calls, "c3 installService controller");
        assert.match(installed, new RegExp(`--token-file=${TOKEN_FILE}`));
    });

    it("is enabled and started, in the lock", async () => {
        const world = scene({ name: "w1" });
        await startService(world.operation, soon());
        assert.deepEqual(world.calls, ["lock prove", "w1 service enable worker", "w1 service start worker"]);
    });

    it("is restarted in the lock", async () => {
        const world = scene();
        await restartService(world.operation, soon());
        assert.deepEqual(world.calls, ["lock prove", "c3 service restart controller"]);
    });

    it("is not touched without the lock", async () => {
        for (const act of [startService, restartService]) {
            const world = scene();
            world.loseLock();
            await assert.rejects(act(world.operation, soon()), LockError);
            assert.deepEqual(only(world.calls, "c3"), []);
        }
    });
});
