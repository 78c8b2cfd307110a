import { valuesOf } from "../flags";
import type { Role } from "../inputs";

/**
 * Flags of `k0s install` without which a controller's etcd ends at once: it starts on 32-bit ARM only where the environment of
 * its service says so (etcd 3.6, `checkSupportArch`; spec/001). k0s writes the variable into a unit of systemd and a script of
 * OpenRC alike. What the program itself says of the variable counts.
 */
export function etcdArchitectureFlags(role: Role, arch: string, installFlags: readonly string[]): string[] {
    if (role === "worker" || arch !== UNSUPPORTED) return [];
    const given = [...valuesOf(installFlags, "--env"), ...valuesOf(installFlags, "-e")];
    return given.some((value) => value.split("=", 1)[0] === VARIABLE) ? [] : [`--env=${VARIABLE}=${UNSUPPORTED}`];
}

const VARIABLE = "ETCD_UNSUPPORTED_ARCH";
/** Go's name; arm64 is supported. */
const UNSUPPORTED = "arm";
