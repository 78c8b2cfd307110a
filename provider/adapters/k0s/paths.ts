/** Where we put what k0s reads (k0s-interfaces.md 1.1); both are also k0sctl's choices. */
export const CONFIG_PATH = "/etc/k0s/k0s.yaml";
export const TOKEN_PATH = "/etc/k0s/k0stoken";

/** Ports every controller must reach on every other one, and a worker on its API server; `api` and `join` are defaults. */
export const PORTS = { etcdPeer: 2380, api: 6443, join: 9443, kubelet: 10250 } as const;
