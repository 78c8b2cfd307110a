/** Where CI runs a command: in `.ci/run`, or in a test. `words` stand there. */
interface Place {
    readonly file: string;
    readonly words: string;
}

/** How a command that people are told to run is tried. What cannot run in CI says why, and what is run in its place. */
export type Trial = Place | { readonly cannot: string; readonly instead: Place | undefined };

const ci = (words: string): Place => ({ file: ".ci/run", words });
const e2e = (name: string, words: string): Place => ({ file: `test/e2e/${name}.test.ts`, words });
const cannot = (reason: string, instead?: Place): Trial => ({ cannot: reason, instead });

const MACHINES = "it changes machines and a cloud of the reader's own; the test does it on simulated ones";
const MACHINE = "it is typed on a machine of the reader's own";
const REGISTRY = "tsx comes from the npm registry; the test has the compiler take its place";
const UNIT_TEST = { file: "test/docs/unit-test.test.ts", words: '["--test", "index.test.js"]' };
const QUICK_START = e2e("printed-programs", 'blocksOf("README.md"');
const DRIFT = e2e("guides", 'commandsOf("drift-in-ci.md")');
const ADOPTING = e2e("adopting-guide", "await engine.up(programOf(scene))");
const ROTATING = e2e("life", "sim.rotateKey();");
const FROM_ENVIRONMENT = e2e("keys", "withEnvironment({ PULUMI_MKE_PRIVATE_KEY: sim.privateKey }");
const FROM_AGENT = e2e("keys", "withEnvironment({ SSH_AUTH_SOCK: agent.socket }");

/** Every command of README and the guides, in their order. */
export const COMMANDS: Readonly<Record<string, readonly (readonly [command: string, trial: Trial])[]>> = {
    "README.md": [
        ["npm ci && npm run demo", ci("npm run demo")],
        ["npm ci", ci("npm ci")],
        ["pulumi stack init dev", QUICK_START],
        ["pulumi config set mke:controller 10.77.0.11", QUICK_START],
        ["pulumi config set mke:user root", QUICK_START],
        ["pulumi config set --secret mke:privateKey < ~/.ssh/id_ed25519", QUICK_START],
        ["pulumi config set --path 'mke:workers[0]' 10.77.0.21", QUICK_START],
        ["pulumi up", cannot(MACHINES, e2e("printed-programs", "examples/quickstart/index.js"))],
        ["npm install --save-dev tsx", cannot(REGISTRY, { file: "test/package/project.ts", words: 'tsx: "4"' })],
        ["npx tsx --test index.test.ts", cannot(REGISTRY, UNIT_TEST)],
        ["npm test", ci("tests npm test")],
        ["npx mocha dist/test/lock/lock.test.js", ci("npx mocha dist/test/lock/lock.test.js")],
        ["npm run -s matrix", ci("npm run -s matrix")],
        ["npm run bench", ci("npm run bench")],
        ["npm run test:package", ci("npm run test:package")],
        [
            "K0S_BINARY=/path/to/k0s npm run test:lab",
            cannot("it needs a k0s program, and machines of its own on one host"),
        ],
        ["npm run check", ci("npm run check")],
    ],
    "docs/guides/adopting-a-cluster.md": [
        [`k0s kubectl get namespace kube-system -o jsonpath='{.metadata.uid}{"\\n"}'`, cannot(MACHINE)],
        ["k0s kubectl get nodes -o wide", cannot(MACHINE)],
        ["pulumi up", cannot(MACHINES, ADOPTING)],
        [
            "pulumi up",
            cannot(MACHINES, e2e("adopting-guide", "(await engine.up(programOf(scene))).changes, { same: 6 }")),
        ],
        ["pulumi refresh", cannot(MACHINES, e2e("adopting-guide", "await engine.refresh(), { same: 6 }"))],
    ],
    "docs/guides/destroying.md": [
        ["npm ci", ci("npm ci")],
        [
            "pulumi destroy --target 'urn:pulumi:prod::infra::pulumi-nodejs:dynamic/mke:WorkerNode::w1'",
            e2e("guides", 'commandsOf("destroying.md")'),
        ],
        ["pulumi up", cannot(MACHINES, { file: "test/demo/scene.ts", words: 'onLastController: "reset"' })],
        ["pulumi destroy", cannot(MACHINES, { file: "test/demo/run.ts", words: "engine.destroy()" })],
    ],
    "docs/guides/drift-in-ci.md": [
        ["npm ci", ci("npm ci")],
        ["pulumi refresh --yes --non-interactive --expect-no-changes || status=$?", DRIFT],
        [
            `pulumi stack export | jq -r '.deployment.resources[] | select((.outputs.drift // []) | length > 0)
    | "\\(.outputs.nodeName): \\(.outputs.drift | join("; "))"'`,
            DRIFT,
        ],
        ["exit ${status:-0}", DRIFT],
        [
            `pulumi stack export | jq -e '[.deployment.resources[] | select((.outputs.state // "") | startswith("rebuild: "))] == []'`,
            DRIFT,
        ],
    ],
    "docs/guides/first-controller.md": [
        ["mkectl init > mke4.yaml", cannot("mkectl is not public")],
        ["mkectl apply -f mke4.yaml", cannot("mkectl is not public")],
        ["k0sctl apply --config k0sctl.yaml", cannot(MACHINE)],
        [
            "k0s install controller --enable-worker",
            cannot(MACHINE, { file: "test/lab/first-controller.sh", words: "k0s" }),
        ],
        ["k0s start", cannot(MACHINE)],
        ["k0s status", cannot(MACHINE)],
    ],
    "docs/guides/recovering-a-failed-join.md": [
        [
            `pulumi stack export | jq '.deployment.resources[] | select(.outputs.status == "joining") | {urn, initErrors}'`,
            e2e("guides", 'commandsOf("recovering-a-failed-join.md")'),
        ],
        ["ssh root@10.0.1.12 journalctl -u k0scontroller -n 100 --no-pager", cannot(MACHINE)],
        ["pulumi cancel --yes", e2e("killed", "await engine.cancel()")],
        ["pulumi up", cannot(MACHINES, e2e("killed", "await engine.up("))],
        [
            "pulumi refresh --yes --clear-pending-creates",
            cannot(MACHINES, e2e("killed", "engine.refresh({ clearPendingCreates: true })")),
        ],
    ],
    "docs/guides/replacing-ec2-controllers.md": [
        ["pulumi config set ami ami-0new", cannot(MACHINES, e2e("fixed-addresses", '"mke:ami": image'))],
        ["pulumi preview", cannot(MACHINES, e2e("life", "a preview in which nothing is known yet"))],
        ["pulumi up", cannot(MACHINES, e2e("replacement", "cloud: cloud.url, image"))],
        ["pulumi config set ami ami-0new", cannot(MACHINES, e2e("fixed-addresses", '"mke:ami": image'))],
        ["pulumi up", cannot(MACHINES, e2e("fixed-addresses", 'up(scene, GUIDE, "new"), { same: 1, replace: 6 }'))],
    ],
    "docs/guides/rotating-keys.md": [
        [
            "ssh-keygen -t ed25519 -N '' -f new-key",
            { file: "test/support/sshd.ts", words: 'execFileSync("ssh-keygen", ["-q", "-t", type, "-N"' },
        ],
        [
            "for host in 10.0.1.10 10.0.1.11 10.0.2.10; do ssh-copy-id -i new-key.pub root@$host; done",
            cannot(MACHINE, ROTATING),
        ],
        ["pulumi config set --secret privateKey < new-key", cannot(MACHINES, ROTATING)],
        ["pulumi up", cannot(MACHINES, ROTATING)],
        ["pulumi refresh", cannot(MACHINES, ROTATING)],
        [`export PULUMI_MKE_PRIVATE_KEY="$(cat new-key)"`, cannot(MACHINES, FROM_ENVIRONMENT)],
        [
            "read -rs PULUMI_MKE_PRIVATE_KEY_PASSWORD && export PULUMI_MKE_PRIVATE_KEY_PASSWORD",
            cannot(MACHINES, {
                file: "test/adapters/ssh/connection.test.ts",
                words: 'PULUMI_MKE_PRIVATE_KEY_PASSWORD: "open sesame"',
            }),
        ],
        ["pulumi refresh", cannot(MACHINES, FROM_ENVIRONMENT)],
        ["pulumi destroy", cannot(MACHINES, FROM_ENVIRONMENT)],
        [`eval "$(ssh-agent)" && ssh-add new-key`, cannot(MACHINES, FROM_AGENT)],
        ["pulumi destroy", cannot(MACHINES, FROM_AGENT)],
    ],
};
