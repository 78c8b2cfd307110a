/**
 * k0s's own configuration, the fields that people use (k0s 1.36, `ClusterConfig` of `k0s.k0sproject.io/v1beta1`); k0s takes
 * more, and so does the input, which is handed on as it is. Every field may be left out; its default is k0s's.
 */
import type { Input } from "@pulumi/pulumi";

/** What `k0s config create` prints. */
export interface K0sConfig {
    /** `k0s.k0sproject.io/v1beta1`. */
    apiVersion?: Input<string>;
    /** `ClusterConfig`. */
    kind?: Input<string>;
    metadata?: Input<{ name?: Input<string>; namespace?: Input<string> }>;
    spec?: Input<K0sConfigSpec>;
}

export interface K0sConfigSpec {
    api?: Input<K0sApiSpec>;
    controllerManager?: Input<K0sProgramSpec>;
    scheduler?: Input<K0sProgramSpec>;
    storage?: Input<K0sStorageSpec>;
    network?: Input<K0sNetworkSpec>;
    workerProfiles?: Input<readonly Input<{ name: Input<string>; values: Input<object> }>[]>;
    featureGates?: Input<readonly Input<K0sFeatureGate>[]>;
    extensions?: Input<object>;
    images?: Input<object>;
    installConfig?: Input<{ users?: Input<object> }>;
    konnectivity?: Input<{ adminPort?: Input<number>; agentPort?: Input<number> }>;
    telemetry?: Input<{ enabled?: Input<boolean> }>;
}

/** Arguments for a program that k0s runs. */
export interface K0sProgramSpec {
    /** Name without dashes to value. */
    extraArgs?: Input<Readonly<Record<string, Input<string>>>>;
    /** Arguments as they are, after all others. */
    rawArgs?: Input<readonly Input<string>[]>;
}

export interface K0sApiSpec extends K0sProgramSpec {
    /** Address of this controller. A joining controller gets its own. */
    address?: Input<string>;
    onlyBindToAddress?: Input<boolean>;
    /** Address or name of a balancer in front of all controllers. */
    externalAddress?: Input<string>;
    /** Port of the Kubernetes API. */
    port?: Input<number>;
    /** Port of the API that controllers join by. */
    k0sApiPort?: Input<number>;
    /** Further names and addresses in the certificate. */
    sans?: Input<readonly Input<string>[]>;
}

export interface K0sStorageSpec {
    type?: Input<"etcd">;
    etcd?: Input<{ peerAddress?: Input<string>; extraArgs?: K0sProgramSpec["extraArgs"] }>;
}

export interface K0sNetworkSpec {
    provider?: Input<"kuberouter" | "calico" | "custom">;
    podCIDR?: Input<string>;
    serviceCIDR?: Input<string>;
    clusterDomain?: Input<string>;
    primaryAddressFamily?: Input<"IPv4" | "IPv6">;
    dualStack?: Input<object>;
    kubeProxy?: Input<object>;
    kuberouter?: Input<object>;
    calico?: Input<object>;
    coreDNS?: Input<object>;
    nodeLocalLoadBalancing?: Input<object>;
    controlPlaneLoadBalancing?: Input<object>;
}

export interface K0sFeatureGate {
    name: Input<string>;
    enabled?: Input<boolean>;
    /** Programs it is for, e.g. `kubelet`. */
    components?: Input<readonly Input<string>[]>;
}
