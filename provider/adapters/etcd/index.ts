/** One controller's own etcd, by gRPC through SSH with the controller's certificates. It does and never decides. */
export interface Etcd {
    /** Linearizable: fails without quorum. Health is not part of it. */
    members(): Promise<EtcdMembers>;
    /** Of this member alone: whom it takes for the leader, whether it is a learner. */
    status(): Promise<{
        readonly memberId: bigint;
        readonly clusterId: bigint;
        readonly leaderId: bigint | undefined;
        readonly learner: boolean;
        readonly version: string;
    }>;
    /** In words, e.g. `NOSPACE on 2f3a…`. */
    alarms(): Promise<readonly string[]>;
    /** `not-found`: it is gone already. "unhealthy cluster" and "leader changed" are retryable errors. */
    removeMember(id: bigint): Promise<"removed" | "not-found">;
    /** Must be asked of the leader itself. */
    moveLeader(to: bigint): Promise<void>;
    close(): void;
}

export interface EtcdMembers {
    readonly clusterId: bigint;
    readonly members: readonly {
        readonly id: bigint;
        readonly name: string;
        readonly peerUrls: readonly string[];
        readonly learner: boolean;
    }[];
}
