import assert from "node:assert/strict";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { after, before, describe, it } from "mocha";
import { MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { Planted } from "../support/planted";
import { temporaryFolder } from "../support/program";
import { ENCRYPTION, encryptSecretsOf } from "./encryption";
import { membersSeenFrom, readyNodes, tracesOn } from "./inspect";
import { CONTROLLER_FLAGS, WORKER_FLAGS } from "./lab";
import { bootMachine, destroyLab, labKey, type Machine, machineAt, on, startFirstController } from "./machines";

const s1 = machineAt("s1", 41);
const s2 = machineAt("s2", 42);
const s3 = machineAt("s3", 43);
const MACHINES = [s1, s2, s3];

/** Anybody may see it: each place where secrets are looked for holds it, so that they would have been found there. */
const CONTROL = "planted-word-for-all-to-see";
const SUDO_PASSWORD = "planted-sudo-password-1";
const PASSPHRASE = "planted-backup-passphrase-2";
/** Logs in with a key, and needs the password for sudo. */
const USER = "deploy";

/** Of each controller, and those that all of them have. */
const OWN_KEYS = ["admin", "apiserver-etcd-client", "etcd/peer"];
const SHARED_KEYS = ["ca", "etcd/ca", "sa"];

/** What the watch has seen: command lines, environments, and what was in the file of the join token. */
const SEEN = "/run/lab-watch";
/** Looks at all processes of its machine every few milliseconds, starting none, until it is told to end. */
const WATCH = `
umask 077;
my (%seen, %to, $rounds);
for (qw(cmdline environ token)) { open($to{$_}, ">", "${SEEN}.$_") or die; $to{$_}->autoflush(1) }
sub take { my ($what, $path) = @_; open(my $file, "<", $path) or return; local $/; my $text = <$file> // "";
    return if $text eq "" or $seen{$what}{$text}++; $text =~ tr/\\0/\\n/; print { $to{$what} } "$text\\n" }
until (-e "${SEEN}.end") {
    for my $process (</proc/[0-9]*>) { take($_, "$process/$_") for qw(cmdline environ) }
    take("token", "/etc/k0s/k0stoken");
    $rounds++; select(undef, undef, undef, 0.01) }
print $rounds;`;

/** Commands that show all there is in each place. */
const PLACES: Readonly<Record<string, string>> = {
    "command lines": `cat ${SEEN}.cmdline`,
    environments: `cat ${SEEN}.environ`,
    "the journal": "journalctl --no-pager --all -o cat --output-fields=MESSAGE,_CMDLINE",
    "other logs": "find /var/log -type f -not -path '/var/log/journal/*' -exec cat {} +",
    "shell histories": "find /root /home -maxdepth 2 -type f -name '.*hist*' -exec cat {} +",
    "temporary files": "find /tmp /var/tmp /dev/shm -type f -exec cat {} +",
    "files that anybody may read": `find /etc /opt /run /usr/local /var/lib -xdev -type f -perm /4 -size -2M -cnewer ${SEEN}.begin -exec cat {} +`,
};
const PLANT_CONTROL = `
logger ${CONTROL}
for file in /var/log/lab-control /root/.bash_history /tmp/lab-control /etc/lab-control; do echo ${CONTROL} >>$file; done
LAB_MARK=${CONTROL} timeout 60 sh -c 'until grep -q "$0" ${SEEN}.cmdline && grep -q "$0" ${SEEN}.environ; do sleep 0.1; done' ${CONTROL}`;

const pulumi = findPulumi();
if (process.env["K0S_BINARY"] === undefined) {
    console.log("lab: secrets skipped, K0S_BINARY does not name a k0s binary");
} else if (pulumi === undefined) {
    console.log("lab: secrets skipped, there is no Pulumi CLI on PATH or in ~/.pulumi");
} else {
    describeSecrets(pulumi);
}

function describeSecrets(cli: string): void {
    describe("secrets on real machines", function () {
        this.timeout("15m");
        this.bail(true);
        const folder = temporaryFolder("lab-secrets");
        const planted = new Planted({ CONTROL, SUDO_PASSWORD, PASSPHRASE });
        let engine: Engine | undefined;
        let program: (debug: boolean) => () => Promise<void>;

        before("starts a cluster with an encryption key, and a watch on each machine", async () => {
            await destroyLab();
            for (const machine of MACHINES) await bootMachine(machine);
            for (const machine of MACHINES) await addUser(machine);
            await startFirstController(s1);
            planted.add("the encryption key", await encryptSecretsOf(s1));
            const privateKey = await labKey();
            planted.add("the SSH key", privateKey);
            engine = await Engine.start(cli, { name: "secrets", show: (text) => process.stdout.write(text) });
            program = programOf(privateKey, join(folder.path, "backups"));
            for (const machine of MACHINES) await startWatch(machine);
        });

        after(async () => {
            await engine?.close();
            await destroyLab();
            folder.remove();
        });

        it("are on no command line, in no environment, log, history or open file through joins, restarts and removals", async () => {
            assert.ok(engine !== undefined);
            assert.deepEqual((await engine.up(program(false))).changes, { create: 3 });
            assert.deepEqual(await readyNodes(s1), ["s1", "s2", "s3"]);
            await on(s2, `test -s ${ENCRYPTION}`);
            await plantKeysOf(s1, [...OWN_KEYS, ...SHARED_KEYS], planted);
            await plantKeysOf(s2, OWN_KEYS, planted);
            assert.deepEqual((await engine.up(program(true))).changes, { same: 1, update: 2 });
            const state = await engine.stateFiles();
            await engine.destroy();
            assert.equal((await membersSeenFrom(s1)).length, 1);
            for (const machine of [s2, s3]) assert.deepEqual(await tracesOn(machine), []);

            for (const machine of MACHINES) await endWatch(machine);
            for (const machine of [s2, s3]) await plantTokensOf(machine, planted);
            for (const machine of MACHINES) {
                for (const [place, command] of Object.entries(PLACES)) {
                    const found = planted.in(await on(machine, `${command}; true`));
                    assert.deepEqual([machine.name, place, found], [machine.name, place, ["CONTROL"]]);
                }
                assert.match(await on(machine, PLACES["the journal"] ?? ""), /deploy : .*COMMAND=/);
            }
            assert.deepEqual(planted.in(engine.output.join("")), []);
            assert.deepEqual(planted.in(state), []);
        });
    });
}

async function addUser(machine: Machine): Promise<void> {
    await on(machine, `useradd -m -s /bin/bash ${USER} && echo '${USER}:${SUDO_PASSWORD}' | chpasswd`);
    await on(machine, `echo '${USER} ALL=(ALL) ALL' >/etc/sudoers.d/${USER} && chmod 440 /etc/sudoers.d/${USER}`);
    await on(machine, `install -D -o ${USER} -m 600 /root/.ssh/authorized_keys /home/${USER}/.ssh/authorized_keys`);
}

/** A controller and a worker; `debug`: with other flags than before, the controller saying all it can. */
function programOf(privateKey: string, directory: string): (debug: boolean) => () => Promise<void> {
    const connection = { user: USER, privateKey, sudoPassword: SUDO_PASSWORD };
    const common = {
        connection,
        cluster: { controllers: [{ host: s1.address, connection }] },
        preflight: { cgroupV2: false, minDiskMiB: false as const },
    };
    return (debug) => () => {
        const more = debug ? ["--debug"] : [];
        const backup = { directory, passphrase: PASSPHRASE };
        const controller = { ...common, backup, installFlags: [...CONTROLLER_FLAGS, ...more] };
        new MkeControllerNode("s2", { ...controller, host: s2.address });
        new MkeWorkerNode("s3", { ...common, host: s3.address, installFlags: [...WORKER_FLAGS, ...more] });
        return Promise.resolve();
    };
}

/** Returns when the watch has found what there is to be found. */
async function startWatch(machine: Machine): Promise<void> {
    await on(
        machine,
        `touch ${SEEN}.begin; nohup perl -MIO::Handle -e '${WATCH}' >${SEEN}.rounds 2>${SEEN}.errors </dev/null &`,
    );
    await on(machine, PLANT_CONTROL);
}

async function endWatch(machine: Machine): Promise<void> {
    const rounds = `timeout 60 sh -c 'until [ -s ${SEEN}.rounds ]; do sleep 0.1; done'; cat ${SEEN}.rounds`;
    const different = `grep -c . ${SEEN}.cmdline`;
    const [looks, lines] = (await on(machine, `touch ${SEEN}.end; ${rounds}; echo; ${different}`)).split("\n");
    console.log(`  ${machine.name}: ${looks} looks at its processes, ${lines} different words of command lines`);
    assert.ok(Number(looks) > 0 && Number(lines) > 0);
}

/** That controller's private keys, by name; each line of each is looked for in each form, so not all of them. */
async function plantKeysOf(machine: Machine, names: readonly string[], planted: Planted): Promise<void> {
    for (const name of names)
        planted.add(`${machine.name}: ${name}`, await on(machine, `cat /var/lib/k0s/pki/${name}.key`));
}

/** Each join token that was on that machine, and the bootstrap token in it. */
async function plantTokensOf(machine: Machine, planted: Planted): Promise<void> {
    const tokens = (await on(machine, `cat ${SEEN}.token`)).split("\n").filter((line) => line.length > 100);
    assert.notEqual(tokens.length, 0, `no join token was seen on ${machine.name}`);
    for (const token of tokens) {
        planted.add(`a join token of ${machine.name}`, token);
        const [, bootstrap = ""] = /token: (\S+)/.exec(gunzipSync(Buffer.from(token, "base64")).toString()) ?? [];
        const [, secret = ""] = bootstrap.split(".");
        assert.notEqual(secret, "");
        planted.add(`the bootstrap token of ${machine.name}`, secret);
    }
}
