import type { SimHost } from "../model/host";
import { etcdLog } from "./etcd-log";
import { type ClusterPki, kubeconfig } from "../model/pki";

/** What the simulated k0s never reads but a real one has; nobody can use it. */
const NOT_A_KEY = "-----BEGIN PRIVATE KEY-----\nc2ltdWxhdGVk\n-----END PRIVATE KEY-----\n";

/** The cluster's CA and what k0s makes with it before it joins etcd (`rejoin-wiped-host.txt`). */
export function writeKubernetesPki(host: SimHost, dataDir: string, pki: ClusterPki, localApi: string): void {
    const write = (name: string, content: string): void => host.files.write(`${dataDir}/pki/${name}`, content, 0o640);
    write("ca.crt", pki.ca);
    for (const name of ["ca.key", "sa.key", "front-proxy-ca.key", "server.key", "k0s-api.key"]) write(name, NOT_A_KEY);
    write("admin.crt", pki.admin.cert);
    write("admin.key", pki.admin.key);
    write("admin.conf", kubeconfig(localApi, pki.ca, pki.admin));
    write("server.crt", pki.apiServer.cert);
}

export function writeEtcdPki(host: SimHost, dataDir: string, pki: ClusterPki): void {
    const write = (name: string, content: string): void => host.files.write(`${dataDir}/pki/${name}`, content, 0o640);
    write("etcd/ca.crt", pki.etcdCa);
    write("etcd/ca.key", NOT_A_KEY);
    write("etcd/server.crt", pki.etcdServer.cert);
    write("etcd/server.key", pki.etcdServer.key);
    write("etcd/peer.crt", pki.etcdServer.cert);
    write("etcd/peer.key", pki.etcdServer.key);
    write("apiserver-etcd-client.crt", pki.etcdClient.cert);
    write("apiserver-etcd-client.key", pki.etcdClient.key);
}

/** What etcd keeps on disk of whom it is. */
export interface EtcdData {
    readonly clusterId: string;
    /** Hexadecimal. */
    readonly memberId: string;
}

export function databasePath(dataDir: string): string {
    return `${dataDir}/etcd/member/snap/db`;
}

export function etcdLogPath(dataDir: string): string {
    return `${dataDir}/etcd/member/wal/0000000000000000-0000000000000000.wal`;
}

/** `etcdId`: etcd's own cluster id. */
export function writeEtcdData(host: SimHost, dataDir: string, data: EtcdData, etcdId: bigint): void {
    host.files.write(databasePath(dataDir), JSON.stringify(data), 0o600);
    host.files.write(etcdLogPath(dataDir), etcdLog(BigInt(`0x${data.memberId}`), etcdId), 0o600);
}

/** undefined: there is no database. */
export function readEtcdData(host: SimHost, dataDir: string): EtcdData | undefined {
    const text = host.files.text(databasePath(dataDir));
    if (text === undefined) return undefined;
    try {
        return JSON.parse(text) as EtcdData;
    } catch {
        return { clusterId: "", memberId: "0" };
    }
}
