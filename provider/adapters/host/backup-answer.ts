import type { BackupArchive, BackupRequest } from "./index";
import type { ProgramValues } from "./program";

/** The values of the program `backup`; `files` as lines. */
export function backupValues({ k0sPath, dataDir, directory, name, keep }: BackupRequest, files: string): ProgramValues {
    return { K0S: k0sPath, DATA_DIR: dataDir, DIRECTORY: directory, NAME: name, KEEP: String(keep), FILES: files };
}

/** Lines `<key> <value>`; undefined: it names no archive. */
export function parseBackupAnswer(answer: string): BackupArchive | undefined {
    const lines = answer.split("\n").map((line): [key: string, value: string] => {
        const space = line.indexOf(" ");
        return [line.slice(0, Math.max(0, space)), line.slice(space + 1)];
    });
    const valuesOf = (key: string): string[] => lines.filter(([name]) => name === key).map(([, value]) => value);
    const [path] = valuesOf("archive");
    const [sha256] = valuesOf("sha256");
    const size = Number(valuesOf("size")[0]);
    if (path === undefined || sha256 === undefined || !Number.isInteger(size)) return undefined;
    return { path, size, sha256, without: valuesOf("without") };
}
