import { type Bag, bagOf, isBag, isMissing, quote, type Report, UNKNOWN } from "./shape";

const API_VERSION = "k0s.k0sproject.io/v1beta1";
const KIND = "ClusterConfig";
const PARTS = new Set(["apiVersion", "kind", "metadata", "spec"]);

/** What k0s would not take, what this package cannot work with, and what belongs to one host and has inputs of its own. */
export function k0sConfiguration(config: unknown, report: Report): void {
    if (!isBag(config)) return;
    for (const name of Object.keys(config)) {
        if (!PARTS.has(name)) report(`k0sConfig.${name}`, "belongs into k0sConfig.spec");
    }
    is("apiVersion", config, API_VERSION, report);
    is("kind", config, KIND, report);
    const { spec } = config;
    if (!isMissing(spec) && spec !== UNKNOWN && !isBag(spec)) report("k0sConfig.spec", "must be an object");
    storage(bagOf(bagOf(spec)["storage"]), report);
    if (!isMissing(bagOf(bagOf(spec)["api"])["address"])) {
        report("k0sConfig.spec.api.address", "is the input privateAddress");
    }
}

function storage(given: Bag, report: Report): void {
    const etcd = bagOf(given["etcd"]);
    const { type } = given;
    if (!isMissing(type) && type !== "etcd" && type !== UNKNOWN) {
        report("k0sConfig.spec.storage.type", "must be etcd: other storage has no members to add and remove");
    }
    if (!isMissing(etcd["externalCluster"])) {
        report("k0sConfig.spec.storage.etcd.externalCluster", "is not supported: its members are not those of k0s");
    }
    if (!isMissing(bagOf(etcd["extraArgs"])["data-dir"])) {
        const why =
            "is not supported: k0s looks into <dataDir>/etcd to know whether it has joined. Mount the disk there";
        report("k0sConfig.spec.storage.etcd.extraArgs.data-dir", why);
    }
    if (!isMissing(etcd["peerAddress"])) {
        report("k0sConfig.spec.storage.etcd.peerAddress", "is the input privateAddress");
    }
}

function is(name: "apiVersion" | "kind", config: Bag, expected: string, report: Report): void {
    const value = config[name];
    if (isMissing(value) || value === expected || value === UNKNOWN) return;
    report(`k0sConfig.${name}`, `must be ${expected}, got ${quote(value)}`);
}
