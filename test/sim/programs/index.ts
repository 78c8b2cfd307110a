import type { DecodedProgram, ProgramName } from "../../../provider/adapters/host/program";
import type { SimHost } from "../model/host";
import * as files from "./files";
import { ownValues, refusedHere } from "./guard";
import * as k0s from "./k0s";
import * as material from "./material";
import { probe } from "./probe";
import { type Program, ProgramFailure, type ProgramOutput, Values } from "./program";
import * as service from "./service";

const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
    probe,
    "read-file": files.readFile,
    "write-file": files.writeFile,
    "remove-files": files.removeFiles,
    exists: files.exists,
    "file-size": files.fileSize,
    sha256: files.sha256,
    "upload-begin": files.uploadBegin,
    "upload-finish": files.uploadFinish,
    download: files.download,
    "k0s-version": files.k0sVersion,
    "token-create": k0s.tokenCreate,
    "token-invalidate": k0s.tokenInvalidate,
    "install-service": service.installService,
    service: service.service,
    "service-state": service.serviceState,
    journal: service.journal,
    backup: k0s.backup,
    reset: k0s.reset,
    "clean-up": k0s.cleanUp,
    "describe-files": material.describeFiles,
    "list-files": material.listFiles,
    "make-directories": material.makeDirectories,
    "own-files": material.ownFiles,
    "unknown-names": material.unknownNames,
    "remove-material": material.removeMaterial,
    "selinux-rules": material.selinuxRules,
    "selinux-label": material.selinuxLabel,
    "find-units": material.findUnits,
    unit: material.unit,
    resolve: material.resolve,
};

/** Values that hold secrets or bulk are not kept in the log of events. */
const NOT_LOGGED = new Set(["CONTENT", "URL"]);

/** Carries out what a program means on the model of its host. A program that is not known is a problem of its own. */
export async function runProgram(host: SimHost, decoded: DecodedProgram): Promise<ProgramOutput> {
    const { name, values } = decoded;
    const { events } = host.world;
    const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name as ProgramName] : undefined;
    if (program === undefined) {
        events.add("problem", `the simulation does not know the program ${name}`, { host: host.name });
        return { exitCode: 127, stdout: "", stderr: `the simulation does not know the program ${name}\n` };
    }
    const refused = refusedHere(host, decoded);
    if (refused !== undefined) {
        events.add("refused", name, { host: host.name });
        return refused;
    }
    const shown = ownValues(values).filter(([key]) => !NOT_LOGGED.has(key));
    events.add("program", name, { host: host.name, values: Object.fromEntries(shown) });
    const broken = host.failing.get(name);
    if (broken !== undefined) return { exitCode: 1, stdout: "", stderr: `${broken}\n` };
    try {
        const stdout = await host.world.act(() => program(host, new Values(name, values)));
        return { exitCode: 0, stdout, stderr: "" };
    } catch (error) {
        if (error instanceof ProgramFailure) {
            return { exitCode: error.exitCode, stdout: "", stderr: `${error.message}\n` };
        }
        events.add("problem", `the simulated ${name} failed: ${(error as Error).stack}`, { host: host.name });
        return { exitCode: 126, stdout: "", stderr: `${(error as Error).message}\n` };
    }
}
