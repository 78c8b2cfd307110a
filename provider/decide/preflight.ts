import type { HostFacts } from "../facts/host";
import type { Preflight, Role } from "../inputs";

/** Of those MKE 4 supports and k0s runs on, by `ID` or `ID_LIKE` of os-release. */
const SUPPORTED_OS = [
    "ubuntu",
    "debian",
    "rhel",
    "rocky",
    "almalinux",
    "ol",
    "centos",
    "fedora",
    "sles",
    "amzn",
    "flatcar",
    "opensuse",
    "suse",
    "alpine",
];

/** When a host was asked for its clock and when it had answered, by the API server's, milliseconds since 1970. */
export interface ClockLook {
    readonly asked: number;
    readonly answered: number;
}

/**
 * What keeps a host from becoming a node; empty when nothing does. Thresholds are the user's (`preflight`). Without a look at
 * the clocks they are not compared.
 */
export function preflightProblems(host: HostFacts, preflight: Preflight, role: Role, look?: ClockLook): string[] {
    return [
        ...osProblems(host, preflight),
        ...tooSmall("CPUs", host.cpus, preflight.minCpus, ""),
        ...tooSmall("memory", host.memoryMiB, preflight.minMemoryMiB, " MiB"),
        ...tooSmall("free disk", host.diskFreeMiB, preflight.minDiskMiB, " MiB"),
        ...cgroupProblems(host, preflight, role),
        ...(look === undefined ? [] : clockProblems(host, preflight, look)),
    ];
}

function osProblems(host: HostFacts, { os }: Preflight): string[] {
    const names = [host.os.id, ...host.os.idLike];
    if (!os || names.some((name) => SUPPORTED_OS.includes(name))) return [];
    return [
        `operating system ${host.os.name} is not one of ${SUPPORTED_OS.join(", ")} (preflight.os: false turns this off)`,
    ];
}

function tooSmall(what: string, found: number, wanted: number | false, unit: string): string[] {
    if (wanted === false || found >= wanted) return [];
    return [`${what}: ${found}${unit} found, ${wanted}${unit} wanted`];
}

function cgroupProblems(host: HostFacts, { cgroupV2 }: Preflight, role: Role): string[] {
    if (!cgroupV2 || role === "controller" || host.cgroupVersion === 2) return [];
    return [`cgroup v2 is wanted, found ${host.cgroupVersion === undefined ? "none" : "v1"}`];
}

/** Both clocks tell whole seconds, and the host answered at some moment of its look: only what is certain counts. */
function clockProblems({ clock }: HostFacts, { maxClockSkew }: Preflight, { asked, answered }: ClockLook): string[] {
    const behind = asked / 1000 - (clock + 1);
    const ahead = clock - (answered / 1000 + 1);
    if (maxClockSkew === false || Math.max(behind, ahead) <= maxClockSkew) return [];
    const skew = ahead > behind ? `${Math.ceil(ahead)} s ahead of` : `${Math.ceil(behind)} s behind`;
    return [
        `its clock is ${skew} the API server's, ${maxClockSkew} s are allowed (preflight.maxClockSkew): synchronise both, e.g. with chrony`,
    ];
}
