import { type Cursor, Scratch } from '../columns/scratch.ts';
import type { Selection } from '../columns/selection.ts';
import { recordKinds } from './batch.ts';

/** Writes a selection as a record of the log: what earlier records hold of it is gone. */
export function dropRecord(selection: Selection): Uint8Array {
  const out = new Scratch(128);
  const text = Buffer.from(JSON.stringify(selection));
  out.u8(recordKinds.drop);
  out.uvarint(text.length);
  out.put(text, 0, text.length);
  return out.copied();
}

/** Reads what `dropRecord` wrote, behind the byte that tells its kind. */
export const readDrop = (cursor: Cursor): Selection =>
  JSON.parse(Buffer.from(cursor.take(cursor.uvarint())).toString()) as Selection;
