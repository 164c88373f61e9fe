import { createHmac, type KeyObject } from 'node:crypto';

import type { Row } from './tables.ts';

/** Position in the chain: a row, or the start before the first one. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

export const genesis: Link = { seq: 0, hash: '0'.repeat(64) };

/** HMAC-SHA256 over the previous hash, the number and the record. The first has a fixed length and the last begins with `{`, so no two rows read the same. */
export function bind(key: KeyObject, previous: string, seq: number, record: string): string {
  return createHmac('sha256', key).update(`${previous}${seq}${record}`).digest('hex');
}

/** Why `row` cannot be the one that was written after `last`; undefined when it is. */
export function flaw(
  last: Link,
  row: Row,
  keyOf: (id: number) => KeyObject | undefined,
): string | undefined {
  if (row.seq !== last.seq + 1) {
    return row.seq > last.seq
      ? `it is missing; row ${row.seq} follows row ${last.seq}`
      : `row ${row.seq} stands behind row ${last.seq}`;
  }
  if (row.prev_hash !== last.hash) {
    return 'it does not follow the previous row: one of them was replaced, or rows were reordered';
  }
  const key = keyOf(row.key_id);
  if (key === undefined) {
    return `it is signed with key ${row.key_id}, which cannot be decrypted: restore the master key that svc ran with at that time`;
  }
  return bind(key, row.prev_hash, row.seq, row.record) === row.hash
    ? undefined
    : 'it was altered after it was written';
}
