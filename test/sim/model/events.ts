import type { SimClock } from "./clock";

/** What happened, with its simulated time. */
export interface SimEvent {
    /** Seconds since the start. */
    readonly at: number;
    readonly kind:
        | "program" // a program of the fixed vocabulary ran on a host: `what` is its name
        | "refused" // a program found itself on another machine than it was meant for, and did nothing
        | "stream" // a file's content went off or onto a host
        | "api-write" // a client changed something through the API: `what` is method and path
        | "etcd-write" // a client changed etcd's membership or leadership
        | "etcd" // the member list changed: `what` is the member as `etcdctl member list` prints it
        | "object" // an EtcdMember or ControlNode changed
        | "node" // a Node changed: `what` is `<name> Ready`, `<name> NotReady` or `<name> deleted`
        | "host" // power, service and other changes of a host
        | "leader" // the etcd or k0s leader changed
        | "problem"; // something that must never happen
    readonly host?: string;
    readonly what: string;
    readonly values?: Readonly<Record<string, string>>;
}

export class EventLog {
    readonly all: SimEvent[] = [];
    /** Hears of each event as it happens. */
    listener: ((event: SimEvent) => void) | undefined;

    constructor(private readonly clock: SimClock) {}

    add(kind: SimEvent["kind"], what: string, more: Pick<SimEvent, "host" | "values"> = {}): void {
        const event: SimEvent = { at: this.clock.now, kind, what, ...more };
        this.all.push(event);
        this.listener?.(event);
    }

    of(...kinds: readonly SimEvent["kind"][]): SimEvent[] {
        return this.all.filter((event) => kinds.includes(event.kind));
    }
}
