/** Whose an etcd database is, whoever is asked. Both never change in the life of a member. */
export interface EtcdIds {
    readonly memberId: bigint;
    /** Another one after a restore. */
    readonly clusterId: bigint;
}

/**
 * From the beginning of any file of its write-ahead log (etcd 3.4–3.6, `server/storage/wal`): a checksum, then the metadata.
 * undefined: not such a file, or cut too short.
 */
export function etcdIdsIn(head: Buffer): EtcdIds | undefined {
    try {
        const metadata = recordsIn(head)
            .find((record) => record.get(TYPE) === METADATA)
            ?.get(DATA);
        if (!Buffer.isBuffer(metadata)) return undefined;
        const fields = fieldsOf(metadata);
        const [memberId, clusterId] = [fields.get(NODE_ID), fields.get(CLUSTER_ID)];
        return typeof memberId === "bigint" && typeof clusterId === "bigint" ? { memberId, clusterId } : undefined;
    } catch (error) {
        if (error instanceof RangeError) return undefined;
        throw error;
    }
}

/** Fields of a record, and of the metadata in it. */
const TYPE = 1;
const DATA = 3;
const NODE_ID = 1;
const CLUSTER_ID = 2;
const METADATA = 1n;
/** The metadata is the second record. */
const RECORDS = 2;
const LENGTH_SIZE = 8;
const ALIGNMENT = 8;

/** Each begins with its length; the length's last byte tells of what it was padded with. */
function recordsIn(head: Buffer): Fields[] {
    const records: Fields[] = [];
    for (let at = 0; records.length < RECORDS;) {
        const size = Number(head.readBigUInt64LE(at) & 0xff_ffff_ffff_ffffn);
        const start = at + LENGTH_SIZE;
        if (start + size > head.length) throw new RangeError("cut short");
        records.push(fieldsOf(head.subarray(start, start + size)));
        at = start + Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    }
    return records;
}

type Fields = ReadonlyMap<number, bigint | Buffer>;

/** Protocol buffers, as far as these messages use them: integers, and bytes. Throws a RangeError on anything else. */
function fieldsOf(message: Buffer): Fields {
    const fields = new Map<number, bigint | Buffer>();
    let at = 0;
    const integer = (): bigint => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = message.readUInt8(at);
            at += 1;
            value |= BigInt(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
    };
    while (at < message.length) {
        const tag = Number(integer());
        const wireType = tag & 7;
        if (wireType !== 0 && wireType !== 2) throw new RangeError(`wire type ${wireType}`);
        const value = integer();
        if (wireType === 0) {
            fields.set(tag >> 3, value);
            continue;
        }
        const end = at + Number(value);
        if (end > message.length) throw new RangeError("cut short");
        fields.set(tag >> 3, message.subarray(at, end));
        at = end;
    }
    return fields;
}
