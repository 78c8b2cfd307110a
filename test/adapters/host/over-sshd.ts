import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe } from "mocha";
import type { Host } from "../../../provider/adapters/host";
import { closeAll, openHost } from "../../../provider/adapters/ssh/pool";
import { Deadline } from "../../../provider/deadline";
import { skipWithout } from "../../support/real-parts";
import { SSHD_PARTS, TestSshd } from "../../support/sshd";

export const HOST = "127.0.0.1";
export const PATHS = { dataDir: "/var/lib/k0s", k0sPath: "/usr/local/bin/k0s" };
/** Nothing is compared: it is this machine. */
export const ANY_MACHINE = { machineId: "" };
/** For what a real sshd does on a busy machine. */
export const soon = (): Deadline => Deadline.afterSeconds(120);

/** This machine as a host, through an sshd of its own. */
export interface OverSshd {
    readonly sshd: TestSshd;
    /** As root. */
    readonly host: Host;
    /** Is emptied after each test. */
    readonly directory: string;
}

/** Tests with one sshd for all of them, left out where there is none. The scene may be used only while they run. */
export function describeOverSshd(title: string, tests: (scene: OverSshd) => void): void {
    describe(title, () => {
        const scene = {} as { -readonly [key in keyof OverSshd]: OverSshd[key] };
        const clean: (() => void)[] = [];

        before(async function () {
            skipWithout(this, ...SSHD_PARTS);
            scene.directory = mkdtempSync(join(tmpdir(), "mke-host-"));
            clean.push(() => rmSync(scene.directory, { recursive: true, force: true }));
            scene.sshd = await TestSshd.start();
            clean.push(() => scene.sshd.stop());
            scene.host = openHost(HOST, scene.sshd.connection()).onMachine(ANY_MACHINE);
        });
        afterEach(() => {
            for (const entry of readdirSync(scene.directory)) rmSync(join(scene.directory, entry), { recursive: true });
        });
        after(() => {
            closeAll();
            for (const end of clean.splice(0)) end();
        });

        tests(scene);
    });
}

export function* chunks(content: Buffer): Generator<Buffer> {
    for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
}

/** A program that does what `body` says, in place of k0s. */
export function fakeK0s(directory: string, body: string): string {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, "fake-k0s");
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return file;
}
