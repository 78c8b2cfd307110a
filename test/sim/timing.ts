import type { Range } from "./model/random";

/**
 * How long things take, in seconds: [shortest, longest] as recorded in `test/fixtures/timelines` (k0s 1.36.3+k0s.2), or one
 * value. What was not recorded says where it comes from.
 */
export const TIMING = {
    /** Start of a joining controller → CA fetched, `pki/` filled. */
    fetchCa: 0.9,
    /** Start of a joining controller → it asks to be added. */
    joinRequest: [1.3, 1.5],
    /** Its retries of that request: 1 s, doubled up to 60 s, ten tries (two-at-once: 1 + 2 + 4 s). */
    joinRetryFirst: 1,
    joinRetryLongest: 60,
    joinTries: 10,
    /** Tries to fetch the CA, and the pause between them (k0s source). */
    fetchTries: 10,
    fetchPause: 10,
    /** Added → named. */
    memberStarts: [0.5, 0.7],
    /** A joiner that is not promoted in this time gives up (k0s source). */
    joinTimeout: 120,
    /** The k0s leader looks at all members again after this; at once when an EtcdMember changes. */
    resync: 10,
    /** Promoted → its own API server, its status socket (11–12 s after the start). */
    apiAfterPromotion: 2.8,
    statusAfterPromotion: 3,
    /** Promoted → EtcdMember object without status → with status. */
    etcdMemberAfterPromotion: [4.9, 5.4],
    etcdMemberStatus: [0.6, 0.8],
    /** EtcdMember object → Node registers → Ready. */
    nodeAfterEtcdMember: [0.5, 0.8],
    nodeReady: [0.6, 0.7],
    /** The wobble of every fresh Node: this long after it registered, for so long. */
    wobbleAfter: [53, 58],
    wobbleFor: [5, 8.2],
    /** Kubelet dead → Node NotReady. */
    nodeNotReady: [40, 50],
    /** A kubelet's Lease: valid for 40 s, renewed each quarter of that (kubelet's default). */
    kubeletLease: 40,
    kubeletRenews: 10,
    /** A worker: start → Node registers → Ready → status socket. */
    workerRegisters: [1, 2],
    workerReady: 1,
    workerStatus: 4,
    /** spec.leave → its kubelet and API server end → member gone. */
    leaveStops: 0.6,
    leaveRemoves: 1.3,
    /** Controller lease: renewed each 5 s, valid 60 s (k0s source); dead this long, the leader removes the member. */
    leaseRenew: 5,
    leaseValid: 60,
    deadMember: 300,
    /** The leader gives up leadership this long to let another remove it (k0s source). */
    yieldLeadership: 30,
    /** Another controller takes k0s leadership: after a clean release; after a crash (k0s source). */
    leaderReleased: 5,
    leaderCrashed: 60,
    /** k0s with etcd data starts → etcd serves → API and status → EtcdMember rewritten (timeline-leave-revoked). */
    restartEtcd: 2,
    restartApi: 5,
    restartStatus: 5.2,
    restartEtcdMember: 7.7,
    /** systemd: RestartSec of the unit. */
    restartPause: 10,
    /** k0s of a removed member gives up after this (k0s source). */
    removedTimeout: 120,
    /** First start of a cluster: etcd, API, EtcdMember, Node (the objects of objects-3-controllers-1-worker.json). */
    bootstrapEtcd: 1,
    bootstrapApi: 8,
    bootstrapEtcdMember: 10,
    bootstrapNode: 39,
    /** etcd leader gone: no write ends in this time; a new leader is there after the second one (not recorded). */
    writeGap: 7,
    election: 1.5,
    /** etcd answers so late when it has no quorum, the API's `/readyz/etcd` when etcd hangs. */
    etcdRequest: 7,
    readyzEtcd: 2,
    /** A TCP connection that nobody answers is given up by the host (Linux). */
    tcpConnect: 127,
} as const satisfies Readonly<Record<string, Range>>;
