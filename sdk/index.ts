/** Nodes of MKE 4 and k0s clusters as Pulumi resources. */
export type {
    BackupArgs,
    DrainArgs,
    LockArgs,
    MkeArgs,
    RegistryArgs,
    K0sArgs,
    MkeControllerNodeArgs,
    MkeWorkerNodeArgs,
    NodeArgs,
    PreflightArgs,
    TimeoutArgs,
} from "./args";
export type { ClusterArgs, ConnectionArgs, ControllerAddressArgs, ProxyConnectionArgs } from "./connection-args";
export type { MkeNode } from "./node";
export type {
    K0sApiSpec,
    K0sConfig,
    K0sConfigSpec,
    K0sFeatureGate,
    K0sNetworkSpec,
    K0sProgramSpec,
    K0sStorageSpec,
} from "./k0s-config";
export type { NodeResult } from "./result";
export { MkeControllerNode } from "./controller-node";
export { MkeWorkerNode } from "./worker-node";
export type {
    BackupInputs,
    ClusterInputs,
    Connection,
    ControllerAddress,
    DrainInputs,
    K0sSource,
    LockInputs,
    MkeInputs,
    Preflight,
    ProxyConnection,
    RegistryInputs,
    Role,
    Timeouts,
} from "../provider/inputs";
export type { NodeStatus } from "../provider/resource/state";
