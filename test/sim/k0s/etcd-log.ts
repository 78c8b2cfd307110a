/** How etcd 3.6 begins a file of its write-ahead log: a checksum, whose database it is, and an empty snapshot. */
export function etcdLog(memberId: bigint, clusterId: bigint): Buffer {
    const metadata = Buffer.from([8, ...varint(memberId), 16, ...varint(clusterId)]);
    return Buffer.concat([
        frame([8, 4, 16, 0]),
        frame([8, 1, 16, ...varint(0x5f8e_03bbn), 26, metadata.length, ...metadata]),
        frame([8, 5, 16, ...varint(0x6dbc_5d94n), 26, 4, 8, 0, 16, 0]),
    ]);
}

function frame(record: readonly number[]): Buffer {
    const padding = (8 - (record.length % 8)) % 8;
    const length = Buffer.alloc(8);
    length.writeUInt32LE(record.length);
    length.writeUInt8(padding === 0 ? 0 : 0x80 | padding, 7);
    return Buffer.concat([length, Buffer.from(record), Buffer.alloc(padding)]);
}

function varint(value: bigint): number[] {
    return value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)];
}
