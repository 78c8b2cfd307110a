import type { DocumentCell } from "./document";
import type { Write } from "./writes";

/** Where this package does something else than the document's words say. docs/node-matrix.md has the same table. */
export interface Deviation {
    /** Which cells, as the document counts: rows, or all of a kind. */
    readonly cells: string;
    readonly fits: (cell: DocumentCell) => boolean;
    /** What is done besides the words. */
    readonly what: string;
    readonly reason: string;
    readonly effect: Effect;
}

export type Effect =
    /** Writes that no word calls for. `always`: in each of the cells; else where there is something to write. */
    | { readonly adds: readonly Write[]; readonly always: boolean }
    /** A step of the words that becomes another. */
    | { readonly instead: Write; readonly does: Write }
    /** A step that comes before another, though the words have it after that. */
    | { readonly first: "drain"; readonly then: "wait-left" };

const acts = ({ words }: DocumentCell): boolean => !words.startsWith("report, fail");
const removes = (cell: DocumentCell): boolean => acts(cell) && cell.operation === "remove";
const adds = (cell: DocumentCell): boolean => acts(cell) && cell.operation === "add";
const removesController =
    (...rows: readonly string[]) =>
    (cell: DocumentCell): boolean =>
        removes(cell) && cell.kind === "controller" && (rows.length === 0 || rows.includes(cell.row));
const touchesMachine = (cell: DocumentCell): boolean => removes(cell) && !cell.words.includes("MKEConfig only");

export const DEVIATIONS: readonly Deviation[] = [
    {
        cells: "all that act",
        fits: acts,
        what: "takes its locks, and gives them back",
        reason: "two runs must not change one cluster's members, or one node, at the same time",
        effect: { adds: ["lock"], always: true },
    },
    {
        cells: "all that act",
        fits: acts,
        what: "writes its mark on the host: who owns the node, and what is begun; the end of a removal takes it away",
        reason: "a killed operation is found again and finished, and no other program's node is touched",
        effect: { adds: ["mark"], always: true },
    },
    {
        cells: "add, all that act",
        fits: adds,
        what: "annotates the Node with its owner and the API server that a worker uses",
        reason: "ownership is looked up where the host cannot be reached, and a controller that workers depend on is not removed",
        effect: { adds: ["own"], always: true },
    },
    {
        cells: "remove, all that end with the machine",
        fits: touchesMachine,
        what: "disables and stops k0s before the machine is cleaned",
        reason: "`k0s reset` refuses while k0s runs, and a running k0s writes its folders anew",
        effect: { adds: ["stop"], always: true },
    },
    {
        cells: "remove, all that end with the machine",
        fits: touchesMachine,
        what: "cleans the folders of k0s after `k0s reset`",
        reason: "a reset leaves configuration, tokens and service files behind, and a rest of keys would look like a node",
        effect: { adds: ["folders"], always: true },
    },
    {
        cells: "remove a controller, all that act",
        fits: removesController(),
        what: "deletes its ControlNode, and its Lease in `kube-node-lease`",
        reason: "k0s leaves both: autopilot plans would wait for the ControlNode, and k0s counts the Lease as a controller",
        effect: { adds: ["delete-control-node", "delete-lease"], always: true },
    },
    {
        cells: "remove a controller, 0c",
        fits: removesController("0c"),
        what: "resets the host",
        reason: "the other rows of scenario 0 do, and a host with a rest of k0s is not one that can be added again",
        effect: { adds: ["reset"], always: true },
    },
    {
        cells: "remove a controller, 1a, 1b, 1d, 1e",
        fits: removesController("1a", "1b", "1d", "1e"),
        what: "cleans the folders instead of `k0s reset`",
        reason: "there is no k0s program on the host that could reset it",
        effect: { instead: "reset", does: "folders" },
    },
    {
        cells: "remove a controller, 0d, 1d, 2b, 3b, 4b, 6b, 7b, 10b",
        fits: removesController("0d", "1d", "2b", "3b", "4b", "6b", "7b", "10b"),
        what: "annotates the EtcdMember with member ID and operation before it leaves, and moves etcd's leadership away",
        reason: "a removal that is killed is told apart from somebody else's, and a leader that leaves stops all writes for a while",
        effect: { adds: ["note-leave", "move-leader"], always: false },
    },
    {
        cells: "remove a controller, 2c, 3c",
        fits: removesController("2c", "3c"),
        what: "drains the node before it waits for the member to leave, not after that",
        reason: "k0s ends the host's kubelet with the leave: after it no pod can be evicted in an orderly way",
        effect: { first: "drain", then: "wait-left" },
    },
    {
        cells: "remove a controller, 0e, 1e, 2c, 3c, 4c, 6c, 6d, 7c, 7d, 10c, 10d",
        fits: removesController("0e", "1e", "2c", "3c", "4c", "6c", "6d", "7c", "7d", "10c", "10d"),
        what: "deletes the EtcdMember once it says that its member left",
        reason: "it would be row b or e of the next operation, and a controller of that name could not be added before somebody cleans up",
        effect: { adds: ["delete-object"], always: true },
    },
    {
        cells: "remove a controller, 0e, 1e, 6b, 6c, 6d, 6e",
        fits: removesController("0e", "1e", "6b", "6c", "6d", "6e"),
        what: "deletes the Node",
        reason: "a Node without a machine stays NotReady, and one of them keeps every later operation of the cluster from starting",
        effect: { adds: ["delete-node"], always: true },
    },
    {
        cells: "remove a controller, all that act",
        fits: removesController(),
        what: "notes on the namespace kube-system which controller has gone",
        reason: "the last controller may end the cluster although a program still lists that one, whose machine is gone by then",
        effect: { adds: ["note-removed"], always: false },
    },
    {
        cells: "all that act, in a cluster with MKE",
        fits: acts,
        what: "keeps the host's entry in MkeConfig up to date, and spreads MKE's workloads after a change of etcd's members",
        reason: "the page about adding nodes ends each add so; a removal is its counterpart",
        effect: { adds: ["mke-config", "spread"], always: false },
    },
];

/** What of the table holds for a cell. */
export function deviationsOf(cell: DocumentCell): readonly Effect[] {
    return DEVIATIONS.filter(({ fits }) => fits(cell)).map(({ effect }) => effect);
}
