import { createHash } from "node:crypto";
import type { SimHost } from "../model/host";
import { versionOfProgram } from "../model/k0s-program";
import { parentOf } from "../model/file-system";
import { type Program, ProgramFailure } from "./program";

const TEMPORARY = ".pulumi-mke-upload-";

export const readFile: Program = ({ files }, values) => {
    const path = values.get("FILE");
    if (!files.exists(path)) return "absent";
    const content = files.read(path);
    if (content === undefined) throw new ProgramFailure(`${path} is not a regular file`);
    if (content.length > Number(values.get("LIMIT"))) {
        throw new ProgramFailure(`${path} has ${content.length} bytes; at most ${values.get("LIMIT")} are read`);
    }
    return Buffer.concat([Buffer.from(`file ${content.length}\n`), content]);
};

export const writeFile: Program = (host, values) => {
    const path = values.get("FILE");
    notDirectory(host, path);
    const content = Buffer.from(values.get("CONTENT"), "base64");
    if (content.length !== Number(values.get("SIZE"))) throw new ProgramFailure(`writing ${path} failed`);
    host.files.write(path, content, parseInt(values.get("MODE"), 8));
    return "";
};

export const removeFiles: Program = (host, values) => {
    for (const path of values.lines("FILES")) {
        notDirectory(host, path);
        host.files.remove(path);
    }
    const directory = values.get("EMPTY_DIRECTORY");
    if (directory !== "") host.files.rmdirIfEmpty(directory);
    return "";
};

export const exists: Program = ({ files }, values) => (files.exists(values.get("FILE")) ? "yes" : "no");

export const fileSize: Program = ({ files }, values) => {
    const path = values.get("FILE");
    if (files.isDirectory(path)) throw new ProgramFailure(`${path} is not a regular file`);
    const content = files.read(path);
    return content === undefined ? "absent" : String(content.length);
};

export const sha256: Program = ({ files }, values) => {
    const content = files.read(values.get("FILE"));
    return content === undefined ? "absent" : `${sumOf(content)}\n`;
};

export const uploadBegin: Program = (host, values) => {
    const path = values.get("FILE");
    notDirectory(host, path);
    const directory = parentOf(path);
    for (const name of host.files.list(directory)) {
        if (name.startsWith(TEMPORARY)) host.files.remove(`${directory}/${name}`);
    }
    const temporary = `${directory}/${TEMPORARY}${host.world.random.word(6)}`;
    host.files.write(temporary, "", 0o600);
    return temporary;
};

export const uploadFinish: Program = (host, values) => {
    const temporary = values.get("TEMPORARY");
    const content = host.files.read(temporary) ?? Buffer.alloc(0);
    host.files.remove(temporary);
    if (content.length !== Number(values.get("SIZE"))) {
        throw new ProgramFailure(`${content.length} of ${values.get("SIZE")} bytes arrived`);
    }
    if (sumOf(content) !== values.get("SHA256")) {
        throw new ProgramFailure(`sha256 of what arrived is ${sumOf(content)}, not ${values.get("SHA256")}`);
    }
    host.files.write(values.get("FILE"), content, 0o755);
    return "";
};

export const download: Program = (host, values) => {
    const path = values.get("FILE");
    notDirectory(host, path);
    const content = host.world.downloads.get(values.get("URL"));
    if (content === undefined) throw new ProgramFailure("curl: (22) The requested URL returned error: 404", 22);
    const wanted = values.get("SHA256");
    if (wanted !== "" && sumOf(content) !== wanted) {
        throw new ProgramFailure(`sha256 of the download is ${sumOf(content)}, not ${wanted}`);
    }
    host.files.write(path, content, 0o755);
    return "";
};

export const k0sVersion: Program = ({ files }, values) => {
    const path = values.get("K0S");
    const version = files.isExecutable(path) ? versionOfProgram(files.read(path)) : undefined;
    return version === undefined ? "" : `${version}\n`;
};

function sumOf(content: Buffer): string {
    return createHash("sha256").update(content).digest("hex");
}

function notDirectory({ files }: SimHost, path: string): void {
    if (files.isDirectory(path)) throw new ProgramFailure(`${path} is a directory`);
}
