import assert from 'node:assert/strict';

import { openWal, type Wal } from 'svc/store';

export const writers: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Segments so small that a kill often meets a change from one to the next. */
export const openIn = (folder: string): Promise<Wal> =>
  openWal({ folder, segmentBytes: 64 * 1024, log: silent });

/** A record in two parts, as a sender's stamp and body are, of a size that both of them know. */
export function recordOf(writer: number, operation: number): [Buffer, Buffer] {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(writer, 0);
  head.writeUInt32LE(operation, 4);
  return [head, Buffer.alloc(1 + ((operation * 7919 + writer * 104_729) % 5_000), operation & 255)];
}

/** Returns how many operations of each writer are there; each in order, complete, and once. */
export async function replayed(wal: Wal): Promise<Map<number, number>> {
  const counts = new Map(writers.map((writer) => [writer, 0]));
  await wal.replay((record) => {
    const writer = record.readUInt32LE(0);
    const operation = record.readUInt32LE(4);
    assert.equal(
      operation,
      counts.get(writer)! + 1,
      `writer ${writer} has operation ${operation} behind ${counts.get(writer)}`,
    );
    assert.ok(
      record.equals(Buffer.concat(recordOf(writer, operation))),
      `operation ${operation} of writer ${writer} is whole`,
    );
    counts.set(writer, operation);
  });
  assert.deepEqual(wal.damage, []);
  return counts;
}
