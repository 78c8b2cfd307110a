import { createHash } from "node:crypto";
import type { SimHost } from "../model/host";
import { parentOf } from "../model/file-system";
import { type Program, ProgramFailure } from "./program";

/** Nothing else is owned by anybody else on a fresh machine. */
const ROOT = { user: "root", group: "root" };

export const describeFiles: Program = (host, values) =>
    values
        .lines("FILES")
        .map((path) => `${describe(host, path)}\n`)
        .join("");

export const listFiles: Program = ({ files }, values) => {
    const directory = values.get("DIRECTORY");
    if (!files.isDirectory(directory)) return "";
    const inside = files.list(directory).flatMap((name) => {
        const path = `${directory}/${name}`;
        return files.isDirectory(path) ? files.list(path).map((inner) => `${path}/${inner}`) : [path];
    });
    return inside
        .filter((path) => files.isFile(path))
        .map((path) => `${path}\n`)
        .join("");
};

export const makeDirectories: Program = ({ files }, values) => {
    for (const line of values.lines("DIRECTORIES")) {
        const [mode = "", ...rest] = line.split(" ");
        const path = rest.join(" ");
        if (files.isDirectory(path)) continue;
        if (!files.isDirectory(parentOf(path))) throw new ProgramFailure(`mkdir: cannot create directory '${path}'`);
        files.mkdir(path);
        files.own(path, { ...ROOT, mode: parseInt(mode, 8) });
    }
    return "";
};

export const ownFiles: Program = (host, values) => {
    for (const line of values.lines("OWNERS")) {
        const [mode = "", owner = "", ...rest] = line.split(" ");
        const [user = "", group = ""] = owner.split(":");
        if (!host.users.has(user)) throw new ProgramFailure(`chown: invalid user: '${owner}'`);
        if (!host.users.has(group)) throw new ProgramFailure(`chown: invalid group: '${owner}'`);
        const path = rest.join(" ");
        if (!host.files.exists(path)) throw new ProgramFailure(`chown: cannot access '${path}'`);
        host.files.own(path, { user, group, mode: parseInt(mode, 8) });
    }
    return "";
};

export const unknownNames: Program = (host, values) => {
    const unknown = (kind: string, names: readonly string[]): string[] =>
        names.filter((name) => !host.users.has(name)).map((name) => `${kind} ${name}\n`);
    return [...unknown("user", values.lines("USER_NAMES")), ...unknown("group", values.lines("GROUP_NAMES"))].join("");
};

export const removeMaterial: Program = ({ files }, values) => {
    for (const path of values.lines("FILES")) files.remove(path);
    for (const path of values.lines("DIRECTORIES")) files.rmdirIfEmpty(path);
    return "";
};

/** No simulated host has the tools; those with SELinux in their facts are for tests of decisions. */
export const selinuxRules: Program = () => {
    throw new ProgramFailure("semanage is not on the host: install policycoreutils-python-utils");
};

export const selinuxLabel: Program = () => {
    throw new ProgramFailure("semanage: not found");
};

export const findUnits: Program = ({ files }, values) =>
    files
        .list("/etc/systemd/system")
        .map((name) => `/etc/systemd/system/${name}`)
        .filter((path) => path.endsWith(".service") && files.text(path)?.includes(`=${values.get("PROGRAM")}`))
        .map((path) => `${path}\n`)
        .join("");

/** The services of others are no more than their files here: what was done is an event. */
export const unit: Program = (host, values) => {
    const name = values.get("UNIT");
    const action = values.get("ACTION");
    if (action === "up" && !host.files.isFile(`/etc/systemd/system/${name}`)) {
        throw new ProgramFailure(`Failed to enable unit: Unit file ${name} does not exist.`);
    }
    host.happened(`unit ${name} ${action}`);
    return "";
};

function describe({ files }: SimHost, path: string): string {
    if (!files.exists(path)) return "absent";
    const { user, group, mode } = files.owner(path);
    const content = files.read(path);
    const sum = content === undefined ? "-" : createHash("sha256").update(content).digest("hex");
    return `${content === undefined ? "directory" : "file"} ${mode.toString(8)} ${user} ${group} ${sum}`;
}

/** As the network's name server has them. */
export const resolve: Program = ({ world: { network } }, values) =>
    values
        .lines("NAMES")
        .flatMap((name) => network.addressesOf(name).map((address) => `${name} ${address}\n`))
        .join("");
