import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { Deadline } from "../../provider/deadline";
import { CommandError } from "../../provider/errors";
import type { HostFacts, NodeSettings } from "../../provider/facts/host";
import { planReinstall, type ReinstallPlan, tryReinstall } from "../../provider/stages/plan-reinstall";
import { cluster, controllerHost, marker, record, unit, workerHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { fakeMke, mkeConfig } from "../support/fake-mke";
import { scene, type Scene, type SceneOptions } from "../support/fake-operation";

const FILE = "/etc/systemd/system/k0sworker.service";
const NOTHING: NodeSettings = { installFlags: [], taints: [] };
const program = "/usr/local/bin/k0s";

function worker(args: string, options: SceneOptions = {}, host: Partial<HostFacts> = {}): Scene {
    const words = `${program} ${args}`.split(" ");
    const units = { controller: undefined, worker: unit(words) };
    const made = scene({ name: "w1", hostFacts: workerHost("w1", { units, ...host }), ...options });
    made.files.set(FILE, `[Service]\nExecStart=${words.join(" ")}\n`);
    return made;
}

const plan = ({ operation }: Scene, before = NOTHING): Promise<ReinstallPlan | undefined> =>
    planReinstall(operation, before, Deadline.afterSeconds(60));

describe("what a change of settings needs", () => {
    it("is nothing where the host has it already", async () => {
        assert.equal(await plan(worker("worker --debug=true", { inputs: { installFlags: ["--debug"] } })), undefined);
    });

    it("is a service's file with the program's flags, and those that were there", async () => {
        const found = await plan(
            worker("worker --token-file=/t --theirs=1", { inputs: { installFlags: ["--debug"] } }),
        );
        assert.match(found?.unit?.content ?? "", /ExecStart=\S+ worker --token-file=\/t --theirs=1 --debug=true\n/);
        assert.deepEqual([found?.restart, found?.config], [true, undefined]);
    });

    it("is no restart where taints alone change", async () => {
        const found = await plan(worker("worker", { inputs: { taints: ["a:NoSchedule"] } }));
        assert.deepEqual([found?.restart, found?.unit !== undefined], [false, true]);
    });

    it("is a restart after a change that did not end, although the files are as they should be", async () => {
        const settings = [{ installFlags: ["--debug"], taints: [] }];
        const operation = record("reinstall", { settings, restart: true });
        const left = { marker: marker("w1", "worker", { operation }) };
        const found = await plan(worker("worker --debug=true", { inputs: { installFlags: ["--debug"] } }, left));
        assert.deepEqual([found?.restart, found?.unit], [true, undefined]);
        const back = await plan(worker("worker --debug=true", {}, left));
        assert.match(back?.unit?.content ?? "", /ExecStart=\S+ worker\n/);
    });

    it("knows the way back to what k0s last came up with, also after a change that was killed", async () => {
        const inputs = { installFlags: ["--debug"] };
        const before = await plan(worker("worker --theirs=1", { inputs }));
        assert.match(before?.back[0]?.content ?? "", /ExecStart=\S+ worker --theirs=1\n/);
        const operation = record("reinstall", { settings: [{ installFlags: ["--debug"], taints: [] }], restart: true });
        const left = { marker: marker("w1", "worker", { operation }) };
        const found = await plan(worker("worker --theirs=1 --debug=true", { inputs }, left));
        assert.equal(found?.unit, undefined);
        assert.deepEqual(
            found?.back.map(({ content }) => content),
            [`[Service]\nExecStart=${program} worker --theirs=1\n`],
        );
    });

    it("knows it too where a failed change was put back already, and is tried again", async () => {
        const inputs = { installFlags: ["--debug"] };
        const operation = record("reinstall", { settings: [{ installFlags: ["--debug"], taints: [] }], restart: true });
        const left = { marker: marker("w1", "worker", { operation }) };
        const found = await plan(worker("worker --theirs=1", { inputs }, left));
        assert.match(found?.unit?.content ?? "", / --debug=true\n/);
        assert.deepEqual(found?.back, [{ path: FILE, content: `[Service]\nExecStart=${program} worker --theirs=1\n` }]);
    });

    it("is MkeConfig's entry as well, and it alone where the host has it already", async () => {
        const entry = (flags: readonly string[]) => ({
            role: "worker",
            ssh: { address: "10.0.0.11" },
            installFlags: flags,
        });
        const asked: number[] = [];
        const found = async (
            args: string,
            flags: readonly string[],
            before = NOTHING,
        ): Promise<ReinstallPlan | undefined> => {
            const options = { inputs: { installFlags: ["--debug"] }, cluster: cluster({ mke: true }) };
            const made = worker(args, options);
            const config = mkeConfig({ hosts: [entry(flags)] });
            Object.assign(made.operation.cluster.kube, { mke: fakeMke(made.calls, { config }) });
            const result = await plan(made, before);
            asked.push(only(made.calls, "mke config").length);
            return result;
        };
        const both = await found("worker", []);
        assert.deepEqual([both?.unit !== undefined, both?.entry !== undefined], [true, true]);
        const alone = await found("worker --debug=true", []);
        assert.deepEqual([alone?.unit, alone?.restart, alone?.entry !== undefined], [undefined, false, true]);
        assert.equal((await found("worker", ["--debug"]))?.entry, undefined);
        // The program did not change its flags: whatever the entry says is not looked at.
        assert.equal(await found("worker --debug=true", [], { installFlags: ["--debug=true"], taints: [] }), undefined);
        assert.deepEqual(asked, [1, 1, 1, 0]);
    });

    const inputs = { installFlags: ["--debug"] };
    const refused: readonly [title: string, scene: () => Scene, says: RegExp][] = [
        ["a drop-in has a command of its own", () => other("worker --theirs=1"), /does not hold the command/],
        [
            "a flag and its value are two words",
            () => worker("worker --taints a:NoSchedule", { inputs }),
            /is not as `k0s/,
        ],
        [
            "systemd would exchange a part of a flag",
            () => worker("worker", { inputs: { installFlags: ["--theirs=$HOME"] } }),
            /a flag with `\$`/,
        ],
        ["a flag is given by a short name", () => worker("worker -c=/etc/other.yaml", { inputs }), /is not as `k0s/],
        ["there is no such file", () => without(worker("worker", { inputs })), /is not as `k0s install` writes it/],
        [
            "neither init system runs",
            () => worker("worker", { inputs }, { init: "other" }),
            /neither systemd nor OpenRC/,
        ],
        [
            "the environment changes",
            () => worker("worker", { inputs: { installFlags: ["--env=A=1"] } }),
            /--env is written/,
        ],
    ];
    for (const [title, made, says] of refused) {
        it(`is refused where ${title}`, async () => {
            await assert.rejects(plan(made()), (error: Error) => {
                assert.match(error.message, says);
                assert.match(error.message, /Nothing was changed\.\nRunbook: docs\/runbook\.md#k0s-settings/);
                return true;
            });
        });
    }

    function other(args: string): Scene {
        const made = worker("worker", { inputs });
        made.files.set(FILE, `[Service]\nExecStart=${program} ${args}\n`);
        return made;
    }

    function without(made: Scene): Scene {
        made.files.clear();
        return made;
    }
});

describe("k0s's own word on a change of settings", () => {
    const k0sConfig = { spec: { api: { extraArgs: { "audit-policy-file": "/etc/k0s/audit.yaml" } } } };
    const says = (output: string): Partial<Host> => ({
        installService: () =>
            Promise.reject(new CommandError({ stage: "", what: "k0s install failed", exitCode: 1, output })),
    });
    const controller = (output: string, more: SceneOptions = {}): Scene => {
        const units = { controller: unit([program, "controller", "--config=/etc/k0s/k0s.yaml"]), worker: undefined };
        const hostFacts = controllerHost("c3", { units });
        const made = scene({ hostFacts, inputs: { k0sConfig }, target: says(output), ...more });
        made.files.set(
            "/etc/systemd/system/k0scontroller.service",
            `ExecStart=${program} controller --config=/etc/k0s/k0s.yaml\n`,
        );
        made.files.set("/etc/k0s/audit.yaml", "rules: []");
        return made;
    };
    const attempt = async (made: Scene): Promise<void> => {
        const { k0sConfig: wanted } = made.operation.inputs;
        const found = await plan(made, wanted === undefined ? { ...NOTHING, k0sConfig } : NOTHING);
        assert.ok(found !== undefined);
        await tryReinstall(made.operation, found, Deadline.afterSeconds(60));
    };

    it("is that the service is there already, where nothing is wrong; nothing of the trial stays", async () => {
        const made = controller("Error: failed to install controller service: Init already exists: /etc/…");
        await attempt(made);
        assert.deepEqual([...made.files.keys()].sort(), [
            "/etc/k0s/audit.yaml",
            "/etc/systemd/system/k0scontroller.service",
        ]);
    });

    it("is in the error, where something is, without the values", async () => {
        const made = controller('Error: invalid node config: spec.api: Invalid value: "/etc/k0s/audit.yaml"');
        await assert.rejects(
            attempt(made),
            /k0s does not accept these settings\n {2}Error: invalid node config: spec\.api: Invalid value: "…"\n/,
        );
        assert.equal(made.files.has("/run/pulumi-mke-k0s.yaml"), false);
    });

    const refusedAndUntouched = async (made: Scene, says: RegExp): Promise<void> => {
        const before = [...made.files];
        await assert.rejects(attempt(made), (error: Error) => {
            assert.match(error.message, says);
            assert.match(error.message, /Put them on this host.*Nothing was changed\.\nRunbook: .*#k0s-settings/);
            return true;
        });
        assert.deepEqual([...made.files], before);
        assert.deepEqual(only(made.calls, "c3 writeFile", "c3 installService", "c3 service"), []);
    };

    it("is not asked for where a file is missing that the configuration names, or that such a file names", async () => {
        const made = controller("");
        made.files.delete("/etc/k0s/audit.yaml");
        await refusedAndUntouched(
            made,
            /files that are not there: \/etc\/k0s\/audit\.yaml \(spec\.api\.extraArgs\.audit-policy-file\)/,
        );
        made.files.set("/etc/k0s/audit.yaml", "plugins: [{configuration: {kubeConfigFile: /etc/k0s/inner.conf}}]");
        await refusedAndUntouched(made, /not there: \/etc\/k0s\/inner\.conf \(\/etc\/k0s\/audit\.yaml\)/);
    });

    it("is not asked for where what the program takes out falls back to a file of another controller", async () => {
        const spec = { api: { extraArgs: { "audit-policy-file": "/etc/k0s/theirs.yaml" } } };
        const made = controller("", { inputs: {}, config: { spec } });
        made.files.set("/etc/k0s/k0s.yaml", JSON.stringify(k0sConfig));
        await refusedAndUntouched(made, /not there: \/etc\/k0s\/theirs\.yaml \(spec\.api/);
    });
});
