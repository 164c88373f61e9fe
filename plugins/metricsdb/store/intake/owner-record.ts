import { type Cursor, Scratch } from '../columns/scratch.ts';
import { recordKinds } from './batch.ts';

/**
 * Writes who sent series, as a record of the log. A version of svc that does not know it passes it
 * over: only whose the series are is forgotten then.
 */
export function ownerRecord(sender: string, refs: readonly number[]): Uint8Array {
  const out = new Scratch(64);
  const name = Buffer.from(sender);
  out.u8(recordKinds.owner);
  out.uvarint(name.length);
  out.put(name, 0, name.length);
  out.uvarint(refs.length);
  let last = 0;
  for (const ref of refs) {
    out.svarint(ref - last);
    last = ref;
  }
  return out.copied();
}

/** Reads what `ownerRecord` wrote, behind the byte that tells its kind. */
export function readOwners(cursor: Cursor, each: (sender: string, ref: number) => void): void {
  const sender = Buffer.from(cursor.take(cursor.uvarint())).toString();
  let ref = 0;
  for (let left = cursor.uvarint(); left > 0; left--) {
    ref += cursor.svarint();
    each(sender, ref);
  }
}
