import type { Duplex } from "node:stream";
import { oneSpelling } from "../model/address";
import { EtcdError, type EtcdMember, type EtcdProcess } from "../model/etcd";
import type { KubeObject } from "../model/store";
import { TIMING } from "../timing";
import { SimCluster } from "./cluster";
import { publishControlNode, publishEtcdMember, publishStatus } from "./controller-objects";
import { K0sDaemon } from "./daemon";
import { joinCluster } from "./join";
import { Kubelet } from "./kubelet";
import { configProblem } from "./node-config";
import { readEtcdData, writeEtcdData, writeEtcdPki, writeKubernetesPki } from "./pki-files";
import { decodeToken } from "./token";

const REMOVAL_TRIES = 10;
const REMOVAL_PAUSE = 5;

/** `k0s controller`, era C (1.35.5+, 1.36.1+): from its start to its leave. */
export class ControllerDaemon extends K0sDaemon implements EtcdProcess {
    cluster: SimCluster | undefined;
    member: EtcdMember | undefined;
    /** Its own API server runs; whether it can answer is a matter of etcd. */
    apiRuns = false;
    /** Its etcd serves. */
    etcdRuns = false;
    private kubelet: Kubelet | undefined;
    private joining = false;
    private leaving = false;

    get alive(): boolean {
        return this.etcdRuns && this.host.powered && !this.host.etcdHung;
    }

    /** A full member with an API server and a valid lease. */
    get canLead(): boolean {
        return this.apiRuns && this.etcdRuns && !this.leaving && this.member?.learner === false;
    }

    reaches(other: EtcdProcess): boolean {
        if (!(other instanceof ControllerDaemon)) return false;
        return this.world.network.route(this.host, other.config.peerAddress, 2380).verdict !== "blocked";
    }

    listener(port: number, fromItself: boolean, to: string): ((stream: Duplex) => void) | undefined {
        const { servers } = this.world;
        const { apiPort, joinPort, boundTo } = this.config;
        if (
            (port === apiPort || port === joinPort) &&
            boundTo !== undefined &&
            oneSpelling(boundTo) !== oneSpelling(to)
        )
            return undefined;
        if (port === apiPort && this.apiRuns) return (stream) => servers.api(this.host, stream);
        if (port === 2379 && fromItself && this.etcdRuns) return (stream) => servers.etcd(this.host, stream);
        if (port === 2380 && this.etcdRuns) return (stream) => this.ignore(stream);
        if (port === joinPort && this.apiRuns) return (stream) => this.ignore(stream);
        if (port === 10250 && this.kubelet?.running === true) return (stream) => this.ignore(stream);
        return undefined;
    }

    /** At once as it is long after it joined: for setting the scene. `into`: an existing cluster. */
    settle(into: SimCluster | undefined): SimCluster {
        const cluster = into ?? new SimCluster(this.world, this.world.pkis.take());
        const { id } = into === undefined ? this.bootstrapEtcd(cluster) : this.settledMember(cluster);
        this.startEtcd(cluster, id);
        this.startApi();
        this.statusAnswers = true;
        publishEtcdMember(this);
        publishStatus(this);
        publishControlNode(this);
        if (this.config.enableWorker) this.newKubelet(cluster).settle();
        return cluster;
    }

    protected run(): void {
        const problem = configProblem(this.host, this.config);
        if (problem !== undefined) return this.crashSoon(`Error: invalid node config: ${problem}`);
        const data = readEtcdData(this.host, this.config.dataDir);
        if (data !== undefined) return this.restart(data.clusterId, BigInt(`0x${data.memberId}`));
        const token = this.tokenText();
        if (token === undefined && this.config.tokenFile !== undefined) {
            return this.crashSoon(
                `Error: token file "${this.config.tokenFile}" not found: obtain a new token via "k0s token create"`,
            );
        }
        if (token === undefined) return this.bootstrap();
        this.joining = true;
        joinCluster(this, decodeToken(token));
    }

    protected stopped(how: "clean" | "killed"): void {
        this.kubelet?.stop();
        this.apiRuns = false;
        this.stopEtcd();
        this.cluster?.endLease(this, how === "clean");
        this.cluster?.daemons.delete(this);
    }

    /** The join API of another controller added us; etcd is started next. */
    added(cluster: SimCluster, member: EtcdMember): void {
        this.member = member;
        writeEtcdPki(this.host, this.config.dataDir, cluster.pki);
        this.later(this.within(TIMING.memberStarts), () => {
            if (cluster.etcd.member(member.id) === undefined) return this.crashSoon("etcd: the member was removed");
            this.startEtcd(cluster, member.id);
            this.later(TIMING.joinTimeout, () => {
                if (member.learner) this.unit.crash("Error: Etcd health-check timed out");
            });
        });
    }

    /** Called at each change of the member list. */
    membersChanged(): void {
        const { cluster, member } = this;
        if (cluster === undefined || member === undefined || !this.etcdRuns) return;
        if (cluster.etcd.member(member.id) === undefined) return this.leaving ? undefined : this.removed();
        if (!this.joining || member.learner) return;
        this.joining = false;
        this.later(TIMING.apiAfterPromotion, () => this.startApi());
        this.later(TIMING.statusAfterPromotion, () => (this.statusAnswers = true));
        this.later(this.within(TIMING.etcdMemberAfterPromotion), () => this.publish());
    }

    /** The k0s leader asked it to shut down, which it does only for a leave (k0s-interfaces.md 3.5). */
    shutdownAsked(object: KubeObject): void {
        if (this.leaving || object.spec?.["leave"] !== true) return;
        this.leaving = true;
        this.later(TIMING.leaveRemoves, () => this.leave(REMOVAL_TRIES));
        if (this.host.revokesNextLeave) return;
        this.later(TIMING.leaveStops, () => {
            this.kubelet?.stop();
            this.apiRuns = false;
            this.statusAnswers = false;
            this.cluster?.endLease(this, true);
        });
    }

    writePki(cluster: SimCluster): void {
        writeKubernetesPki(this.host, this.config.dataDir, cluster.pki, this.config.localApi);
    }

    override later(seconds: number, action: () => void): void {
        super.later(seconds, action);
    }

    override crashSoon(line: string): void {
        super.crashSoon(line);
    }

    private leave(tries: number): void {
        const { cluster, member, host } = this;
        if (host.revokesNextLeave) {
            host.revokesNextLeave = false;
            return this.unit.crash("killed");
        }
        if (cluster === undefined || member === undefined) return;
        try {
            if (!cluster.etcd.hasQuorum(member.id)) throw new EtcdError(14, "request timed out");
            cluster.etcd.remove(member.id);
            this.etcdRuns = false;
        } catch (error) {
            if (!(error instanceof EtcdError)) throw error;
            if (tries > 1) return this.later(REMOVAL_PAUSE, () => this.leave(tries - 1));
            this.stopEtcd();
        }
        // The process idles on; its unit stays active.
        cluster.daemons.delete(this);
        this.unit.log("Awaiting process shutdown");
    }

    /** Taken out by somebody else: etcd ends and is started again for ever, all else goes on (observed.md). */
    private removed(): void {
        this.etcdRuns = false;
        this.unit.log("etcd: the member has been permanently removed from the cluster");
    }

    private restart(clusterId: string, memberId: bigint): void {
        const cluster = this.world.clusters.find(({ id }) => id === clusterId);
        if (cluster?.etcd.member(memberId) === undefined) {
            this.unit.log("etcd: the member has been permanently removed from the cluster");
            return this.later(TIMING.removedTimeout, () => this.unit.crash("Error: Etcd health-check timed out"));
        }
        this.cluster = cluster;
        this.later(TIMING.restartEtcd, () => this.startEtcd(cluster, memberId));
        this.later(TIMING.restartApi, () => this.startApi());
        this.later(TIMING.restartStatus, () => (this.statusAnswers = true));
        this.later(TIMING.restartEtcdMember, () => this.publish());
    }

    /** Neither data nor token: a cluster of its own, without complaint. */
    private bootstrap(): void {
        const ca = this.host.files.text(`${this.config.dataDir}/pki/ca.crt`);
        const known = this.world.clusters.find(({ pki }) => pki.ca === ca)?.pki;
        const cluster = new SimCluster(this.world, known ?? this.world.pkis.take());
        this.writePki(cluster);
        this.later(TIMING.bootstrapEtcd, () => this.startEtcd(cluster, this.bootstrapEtcd(cluster).id));
        this.later(TIMING.bootstrapApi, () => {
            this.startApi();
            this.statusAnswers = true;
        });
        this.later(TIMING.bootstrapEtcdMember, () => this.publish(TIMING.bootstrapNode - TIMING.bootstrapEtcdMember));
    }

    private bootstrapEtcd(cluster: SimCluster): EtcdMember {
        this.writePki(cluster);
        writeEtcdPki(this.host, this.config.dataDir, cluster.pki);
        return cluster.etcd.bootstrap(this.host.hostName, this.config.peerAddress);
    }

    private settledMember(cluster: SimCluster): EtcdMember {
        this.writePki(cluster);
        writeEtcdPki(this.host, this.config.dataDir, cluster.pki);
        const { peerAddress } = this.config;
        const member = cluster.etcd.add(peerAddress, false);
        return member;
    }

    private startEtcd(cluster: SimCluster, id: bigint): void {
        this.cluster = cluster;
        this.member = cluster.etcd.member(id);
        // removed in the last moments
        if (this.member === undefined) return;
        this.etcdRuns = true;
        cluster.daemons.add(this);
        const data = { clusterId: cluster.id, memberId: id.toString(16) };
        writeEtcdData(this.host, this.config.dataDir, data, cluster.etcd.id);
        cluster.etcd.start(id, this.host.hostName, this);
    }

    private stopEtcd(): void {
        this.etcdRuns = false;
        if (this.member !== undefined) this.cluster?.etcd.stop(this.member.id);
    }

    private startApi(): void {
        if (!this.etcdRuns) return;
        this.apiRuns = true;
        this.cluster?.takeLease(this);
    }

    private publish(nodeAfter: number = this.within(TIMING.nodeAfterEtcdMember)): void {
        const { cluster } = this;
        if (cluster === undefined || !this.etcdRuns) return;
        publishEtcdMember(this);
        this.later(this.within(TIMING.etcdMemberStatus), () => {
            publishStatus(this);
            publishControlNode(this);
        });
        if (!this.config.enableWorker) return;
        this.later(nodeAfter, () => this.newKubelet(cluster).start(this.within(TIMING.nodeReady)));
    }

    private newKubelet(cluster: SimCluster): Kubelet {
        this.kubelet = new Kubelet(this.host, cluster, this.config, true);
        this.host.files.mkdir(this.config.kubeletRootDir);
        return this.kubelet;
    }

    private tokenText(): string | undefined {
        const { tokenFile } = this.config;
        return tokenFile === undefined ? undefined : this.host.files.text(tokenFile);
    }

    private within(range: readonly [number, number]): number {
        return this.world.random.within(range);
    }
}
