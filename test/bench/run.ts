/** `npm run bench`: what a preview costs in this package, without the engine. */
import { silentLog } from "../../provider/log";
import { check } from "../../provider/resource/check";
import { diff } from "../../provider/resource/diff";
import { type Bag, UNKNOWN } from "../../provider/resource/shape";
import { checked, PROGRAM, stored } from "../support/node-bags";
import { newSshKey } from "../support/ssh-key";

const WARM_UP = 200;
const ROUNDS = 2000;
const HELPERS = 20;
/** Milliseconds that one comparison may take, as a promise to whoever has many nodes. */
const LIMIT = 1;

/** A program with everything there is, and a login of its own for each of many controllers. */
function bigProgram(): Bag {
    const login = () => ({
        user: "admin",
        privateKey: newSshKey(),
        password: "x".repeat(40),
        sudoPassword: "y".repeat(40),
        hostKey: `SHA256:${"a".repeat(43)}`,
        proxy: { host: "bastion.example.com", privateKey: newSshKey() },
    });
    const controllers = Array.from({ length: HELPERS }, (_, i) => ({ host: `10.0.1.${i + 1}`, connection: login() }));
    return {
        connection: login(),
        cluster: { controllers },
        labels: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`example.com/label-${i}`, `value-${i}`])),
        taints: Array.from({ length: 10 }, (_, i) => `example.com/taint-${i}=x:NoSchedule`),
        installFlags: Array.from({ length: 20 }, (_, i) => `--flag-${i}=value`),
        triggers: Array.from({ length: 20 }, (_, i) => ({ id: `i-${i}`, tags: { a: "b", c: ["d"] } })),
        k0sConfig: {
            spec: { extensions: Array.from({ length: 100 }, (_, i) => ({ name: `chart-${i}`, values: {} })) },
        },
    };
}

/** Milliseconds of CPU for one call: unlike the time on the clock, they do not depend on what else runs. */
function cost(action: () => unknown): number {
    for (let round = 0; round < WARM_UP; round += 1) action();
    const began = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round += 1) action();
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000 / ROUNDS;
}

function main(): void {
    const program = bigProgram();
    const inputs = checked(program);
    const state = stored(inputs);
    const small = { inputs: checked(), state: stored() };
    const unknown = { ...inputs, connection: { ...(inputs["connection"] as Bag), privateKey: UNKNOWN }, host: UNKNOWN };
    const cases: Readonly<Record<string, () => unknown>> = {
        "check, small": () => check("controller", PROGRAM),
        "check, big": () => check("controller", { ...PROGRAM, ...program }),
        "diff, small, nothing changed": () => diff(small.state, small.inputs, silentLog),
        "diff, big, nothing changed": () => diff(state, inputs, silentLog),
        "diff, big, not known yet": () => diff(state, unknown, silentLog),
        "diff, big, everything changed": () => diff(state, small.inputs, silentLog),
    };
    for (const [name, action] of Object.entries(cases)) {
        const milliseconds = cost(action);
        console.log(`${name.padEnd(32)} ${milliseconds.toFixed(3)} ms`);
        if (name.startsWith("diff") && milliseconds > LIMIT) {
            console.log(`  FAILED: more than ${LIMIT} ms`);
            process.exitCode = 1;
        }
    }
}

main();
