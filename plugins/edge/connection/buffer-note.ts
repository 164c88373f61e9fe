import type { EdgeTells } from '../contract.ts';
import type { EdgeRecord } from '../record.ts';
import { toldShape } from '../shape-check.ts';
import { BufferEvent } from '../wire.ts';

/** Keeps what an edge tells of its buffer; what is not right is left out. */
export function createBufferNote(): (record: EdgeRecord, event: unknown) => void {
  const fits = toldShape<EdgeTells['buffer']>(BufferEvent);
  return (record, event) => {
    if (fits(event)) {
      const { dropped, queued_bytes, oldest_at } = event;
      record.buffer = { dropped, queued_bytes, oldest_at };
    }
  };
}
