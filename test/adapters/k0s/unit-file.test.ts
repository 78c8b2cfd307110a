import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { argumentsIn, type Init, withArguments } from "../../../provider/adapters/k0s/unit-file";

/** As k0s 1.36.3 writes it, with a line of somebody's. */
const SYSTEMD = `[Unit]
Description=k0s - Zero Friction Kubernetes
ConditionFileIsExecutable=/usr/local/bin/k0s

[Service]
StartLimitInterval=5
ExecStart=/usr/local/bin/k0s worker --data-dir=/var/lib/k0s --kubelet-extra-args=--v=2\\x20--node-ip=10.0.0.1 --token-file=/etc/k0s/k0stoken
Environment="HTTPS_PROXY=http://proxy:3128"

RestartSec=10
# ours
Restart=always
`;

const OPENRC = `#!/sbin/openrc-run
supervisor=supervise-daemon
command=/usr/local/bin/k0s
command_args="'worker' '--data-dir=/var/lib/k0s' '--kubelet-extra-args=--v=2 --node-ip=10.0.0.1' '--token-file=/etc/k0s/k0stoken' "
name=$(basename $(readlink -f $command))
`;

const ARGS = [
    "worker",
    "--data-dir=/var/lib/k0s",
    "--kubelet-extra-args=--v=2 --node-ip=10.0.0.1",
    "--token-file=/etc/k0s/k0stoken",
];

const MORE = [...ARGS.slice(0, 3), `--a=50% of "it" \\ $x`, "--kubelet-extra-args=--x y"];

for (const [init, file] of [
    ["systemd", SYSTEMD],
    ["openrc", OPENRC],
] as const satisfies readonly [Init, string][]) {
    describe(`the definition of a service for ${init}`, () => {
        it("is read whole", () => assert.deepEqual(argumentsIn(file, init), ARGS));

        it("is the same where its arguments are", () =>
            assert.equal(withArguments(file, init, ARGS).trim(), file.replace(` "\n`, `"\n`).trim()));

        it("differs in one line where they do not", () => {
            const changed = withArguments(file, init, [...ARGS, "--debug=true"]);
            const lines = changed.split("\n").filter((line) => !file.split("\n").includes(line));
            assert.equal(lines.length, 1);
            assert.deepEqual(argumentsIn(changed, init), [...ARGS, "--debug=true"]);
        });

        it("is not exchanged where it has several commands, or one that goes on", () => {
            const line = file.split("\n").find((one) => one.includes("--token-file")) ?? "";
            assert.equal(argumentsIn(`${file}\n${line}\n`, init), undefined);
            assert.equal(argumentsIn("", init), undefined);
            if (init === "systemd")
                assert.equal(argumentsIn("ExecStart=/usr/local/bin/k0s \\\n worker\n", init), undefined);
        });
    });
}

describe("an argument with characters that mean something", () => {
    it("is what it was when systemd's file is read again", () => {
        assert.deepEqual(argumentsIn(withArguments(SYSTEMD, "systemd", MORE), "systemd"), MORE);
    });
});
