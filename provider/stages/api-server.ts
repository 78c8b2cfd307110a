import type { Deadline } from "../deadline";
import type { HostOperation } from "./operation";

/** The API server this node's kubelet uses, from the host itself: `https://10.0.0.1:6443`. */
export async function readApiServer(
    { target, inputs }: HostOperation,
    deadline: Deadline,
): Promise<string | undefined> {
    const paths = { dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath };
    return (await target.probe(paths, deadline)).apiServer;
}
