import assert from "node:assert/strict";
import { it } from "mocha";
import { assertCluster, untilNodesAreSteady } from "./checks";
import { membersSeenFrom } from "./inspect";
import { CONTROLLER_FLAGS, describeOnLab, WORKER_FLAGS } from "./lab";
import { c1, c2, c3, type Machine, on, w1 } from "./machines";

const NODES = { controllers: [c2, c3], workers: [w1] };
const MORE = {
    more: {
        installFlags: [...CONTROLLER_FLAGS, "--kubelet-extra-args=--max-pods=100", "--debug"],
        k0sConfig: { spec: { controllerManager: { extraArgs: { "node-monitor-period": "4s" } } } },
    },
    moreOfWorkers: {
        installFlags: [...WORKER_FLAGS, "--kubelet-extra-args=--max-pods=100"],
        taints: ["lab/reinstall=yes:PreferNoSchedule"],
    },
};
/** The same flags in other words. */
const SPELLED = {
    ...MORE,
    more: {
        ...MORE.more,
        installFlags: MORE.more.installFlags.map((flag) => (flag === "--debug" ? "--debug=true" : flag)),
    },
};

describeOnLab("other settings for nodes of a real cluster", (lab) => {
    it("joins two controllers and a worker, with lines of somebody else in a service", async () => {
        await lab().up(NODES);
        await on(c2, `sed -i '/^RestartSec=/i Environment="LAB=theirs"' /etc/systemd/system/k0scontroller.service`);
        await on(c2, "mkdir -p /etc/systemd/system/k0scontroller.service.d");
        await on(c2, "printf '[Service]\\nLimitNPROC=99999\\n' > /etc/systemd/system/k0scontroller.service.d/lab.conf");
        await on(c2, "systemctl daemon-reload");
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
        await untilNodesAreSteady(c1);
    });

    it("restarts each with its new flags: one controller at a time, the same members, nobody replaced", async () => {
        const members = await membersSeenFrom(c1);
        const { changes } = await lab().up({ ...NODES, ...MORE });
        assert.deepEqual(changes, { same: 1, update: 3 });
        const ids = (list: typeof members): string[] => list.map(({ id }) => id).sort();
        assert.deepEqual(ids(await membersSeenFrom(c1)), ids(members));
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
        for (const machine of [c2, c3, w1]) {
            assert.match(
                await on(machine, "cat /proc/$(pgrep -x kubelet | head -n 1)/cmdline | tr '\\0' ' '"),
                /--max-pods=100/,
            );
            assert.match(await commandOf(machine), /--token-file=\/etc\/k0s\/k0stoken/);
        }
        for (const machine of [c2, c3]) {
            assert.match(await commandOf(machine), /--debug=true/);
            const manager = "cat /proc/$(pgrep -x kube-controller | head -n 1)/cmdline | tr '\\0' ' '";
            assert.match(await on(machine, `${manager}; true`), /node-monitor-period=4s|^$/);
        }
        const service = await on(c2, "systemctl show k0scontroller -p Environment -p LimitNPROC -p UnitFileState");
        assert.match(service, /LAB=theirs/);
        assert.match(service, /LimitNPROC=99999/);
        assert.match(service, /UnitFileState=enabled/);
        assert.match(await taintsOf(w1), /lab\/reinstall=yes:PreferNoSchedule/);
        const [first, second] = [c2, c3].map(({ name }) => restartOf(lab().said, name));
        assert.ok(first !== undefined && second !== undefined);
        assert.ok(first.end < second.begin || second.end < first.begin, "the controllers' restarts overlap");
    });

    it("changes nothing when run again, in whatever words", async () => {
        const started = await Promise.all([c2, c3, w1].map(startOf));
        assert.deepEqual((await lab().up({ ...NODES, ...MORE })).changes, { same: 4 });
        assert.deepEqual((await lab().up({ ...NODES, ...SPELLED })).changes, { same: 4 });
        assert.deepEqual(await lab().engine.refresh(), { same: 4 });
        assert.deepEqual(await Promise.all([c2, c3, w1].map(startOf)), started);
    });

    it("refuses what k0s does not accept, before anything is changed", async () => {
        const started = await Promise.all([c2, c3].map(startOf));
        const flags = { more: { ...MORE.more, installFlags: [...MORE.more.installFlags, "--no-such-flag"] } };
        assert.match(await lab().refusalOf({ ...NODES, ...MORE, ...flags }), /unknown flag: --no-such-flag/);
        const k0sConfig = { spec: { network: { podCIDR: "no network" } } };
        const config = { more: { ...MORE.more, k0sConfig } };
        assert.match(
            await lab().refusalOf({ ...NODES, ...MORE, ...config }),
            /does not accept these settings.*podCIDR/i,
        );
        assert.deepEqual(await Promise.all([c2, c3].map(startOf)), started);
        assert.deepEqual((await lab().up({ ...NODES, ...MORE })).changes, { same: 4 });
    });

    it("puts a worker back whose kubelet does not start with its new flags", async () => {
        const installFlags = [...WORKER_FLAGS, "--kubelet-extra-args=--no-such-flag"];
        const moreOfWorkers = { ...MORE.moreOfWorkers, installFlags, timeouts: { ready: 90 } };
        assert.match(
            await lab().refusalOf({ ...NODES, ...MORE, moreOfWorkers }),
            /nothing listens on port 10250.*Its old settings were put back, and k0s runs with them/s,
        );
        assert.match(await commandOf(w1), /--max-pods=100/);
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("takes all of it back", async () => {
        await lab().up(NODES);
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
        for (const machine of [c2, c3, w1]) assert.doesNotMatch(await commandOf(machine), /max-pods|--debug/);
        assert.doesNotMatch(await on(c2, "cat /etc/k0s/k0s.yaml"), /node-monitor-period/);
        assert.doesNotMatch(await taintsOf(w1), /lab\/reinstall/);
        assert.deepEqual(await lab().engine.refresh(), { same: 4 });
    });
});

function commandOf(machine: Machine): Promise<string> {
    return on(
        machine,
        "cat /proc/$(systemctl show -p MainPID --value k0scontroller k0sworker | grep -v '^0$' | grep .)/cmdline | tr '\\0' ' '",
    );
}

/** Changes with each start of k0s. */
function startOf(machine: Machine): Promise<string> {
    return on(machine, "systemctl show k0scontroller k0sworker -p InvocationID --value");
}

function taintsOf({ name }: Machine): Promise<string> {
    return on(c1, `k0s kubectl get node ${name} -o jsonpath='{range .spec.taints[*]}{.key}={.value}:{.effect} {end}'`);
}

/** Where a controller's restart begins and is over, in what was printed. */
function restartOf(said: string, name: string): { readonly begin: number; readonly end: number } | undefined {
    const begin = said.indexOf(`${name}: restarting k0s …`);
    const end = said.indexOf(`${name}: waiting for the Node … `, begin);
    return begin < 0 || end < 0 ? undefined : { begin, end };
}
