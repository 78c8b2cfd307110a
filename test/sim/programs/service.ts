import { readConfig } from "../k0s/node-config";
import type { SimHost } from "../model/host";
import { versionOfProgram } from "../model/k0s-program";
import type { Unit, UnitName } from "../model/units";
import { type Program, ProgramFailure, type Values } from "./program";

/** Flags that k0s 1.36 refuses without a value. */
const SWITCHES = new Set(["--enable-worker", "--no-taints", "--single", "--ignore-pre-flight-checks"]);
/** Made by `k0s install controller`, deleted by `k0s reset`. */
export const K0S_USERS = ["etcd", "kube-apiserver", "konnectivity-server", "kube-scheduler"];
const SECRET_LINE =
    /[A-Za-z0-9+/=]{200}|(^|[^a-z0-9])[a-z0-9]{6}\.[a-z0-9]{16}([^a-z0-9]|$)|password|private key|bearer /i;

export const installService: Program = (host, values) => {
    const k0s = requireProgram(host, values.get("K0S"));
    const role = values.get("ROLE");
    const name = `k0s${role}` as UnitName;
    const flags = values.lines("FLAGS").map((flag) => (SWITCHES.has(flag) ? `${flag}=true` : flag));
    const unknown = flags.find((flag) => flag.startsWith("--unknown"));
    if (unknown !== undefined) throw new ProgramFailure(`Error: unknown flag: ${unknown}`);
    const config = flags.find((flag) => flag.startsWith("--config="))?.slice("--config=".length);
    if (config !== undefined) checkConfig(host, config);
    if (host.units.get(name) !== undefined) {
        const file = `/etc/systemd/system/${name}.service`;
        throw new ProgramFailure(`Error: failed to install ${role} service: Init already exists: ${file}`);
    }
    // They become the environment of the service, not its arguments.
    const args = flags.filter((flag) => !/^(--env|-e)=/.test(flag));
    host.units.install(name, [k0s, role, ...args]);
    if (role === "controller") for (const user of K0S_USERS) host.users.add(user);
    host.happened(`${name} installed`);
    return "";
};

export const service: Program = (host, values) => {
    const action = values.get("ACTION");
    const unit = unitOf(host, values);
    if (unit === undefined) {
        if (action === "disable" || action === "stop") return "";
        throw new ProgramFailure(`there is no service ${values.get("SERVICE")}`);
    }
    act(unit, action);
    return "";
};

export const serviceState: Program = (host, values) => {
    const unit = unitOf(host, values);
    return unit === undefined ? "absent" : `${unit.active} ${unit.sub} ${unit.restarts}`;
};

export const journal: Program = (host, values) => {
    const lines = unitOf(host, values)?.journal.slice(-Number(values.get("LINES_WANTED"))) ?? [];
    return lines
        .filter((line) => !SECRET_LINE.test(line))
        .map((line) => `${line}\n`)
        .join("");
};

/** The path itself, if a k0s program lies there. */
export function requireProgram({ files }: SimHost, path: string): string {
    if (!files.isExecutable(path) || versionOfProgram(files.read(path)) === undefined) {
        throw new ProgramFailure(`sh: ${path}: not found`, 127);
    }
    return path;
}

function unitOf(host: SimHost, values: Values): Unit | undefined {
    return host.units.get(values.get("SERVICE") as UnitName);
}

function act(unit: Unit, action: string): void {
    switch (action) {
        case "start":
            return unit.start();
        case "stop":
            return unit.stop();
        case "restart":
            unit.stop();
            return unit.start();
        case "reread":
            return unit.reread();
        case "enable":
            unit.enabled = true;
            return;
        case "disable":
            unit.enabled = false;
            return;
        default:
            throw new ProgramFailure(`Unknown command verb ${action}.`);
    }
}

function checkConfig(host: SimHost, path: string): void {
    if (!host.files.isFile(path))
        throw new ProgramFailure(`Error: failed to get runtime config: open ${path}: no such file or directory`);
    try {
        readConfig(host, path);
    } catch (error) {
        throw new ProgramFailure(`Error: invalid node config: ${(error as Error).message}`);
    }
}
