import type { HostOperation } from "./operation";

/** spec/002, "Registry CA sync". */
export async function syncRegistryCa(_operation: HostOperation): Promise<void> {
    return Promise.resolve();
}

/** spec/002, "Control plane configuration sync". */
export async function syncConfiguration(_operation: HostOperation): Promise<void> {
    return Promise.resolve();
}

/** spec/002, "SELinux labels". */
export async function labelForSelinux(_operation: HostOperation): Promise<void> {
    return Promise.resolve();
}

/** spec/002, "Etcd maintenance service installation". */
export async function installEtcdMaintenance(_operation: HostOperation): Promise<void> {
    return Promise.resolve();
}

/** Its counterpart, before the host is reset. */
export async function removeEtcdMaintenance(_operation: HostOperation): Promise<void> {
    return Promise.resolve();
}
