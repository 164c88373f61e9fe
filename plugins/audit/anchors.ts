import type { Link } from './rows/chain.ts';
import { genesis } from './rows/chain.ts';
import type { Keys, Statement } from './keys.ts';
import type { Anchor } from './rows/tables.ts';

/** An anchor for the rows behind `from` up to and with `to`. */
export function anchorOf(from: Link, to: Link, at: number, keys: Keys): Anchor {
  const fact = {
    from_seq: from.seq + 1,
    to_seq: to.seq,
    count: to.seq - from.seq,
    last_hash: to.hash,
    at,
  };
  return { ...fact, key_id: keys.newest, signature: keys.sign(statement(fact)) };
}

/** The place where the rows that are still there must go on. */
export const endOf = (anchors: readonly Anchor[]): Link => {
  const last = anchors.at(-1);
  return last === undefined ? genesis : { seq: last.to_seq, hash: last.last_hash };
};

/** Returns why an anchor cannot follow `last`; undefined if it can. */
export function anchorFlaw(last: Link, anchor: Anchor, keys: Keys): string | undefined {
  if (!keys.isSigned(anchor.key_id, statement(anchor), anchor.signature)) {
    return `the anchor for rows ${anchor.from_seq} to ${anchor.to_seq} is not signed by a key of this trail`;
  }
  return anchor.from_seq === last.seq + 1 && anchor.count === anchor.to_seq - last.seq
    ? undefined
    : `it has no anchor; the next one is for rows ${anchor.from_seq} to ${anchor.to_seq}`;
}

const statement = ({
  from_seq,
  to_seq,
  count,
  last_hash,
  at,
}: Omit<Anchor, 'key_id' | 'signature'>): Statement => [
  'svc audit anchor',
  from_seq,
  to_seq,
  count,
  last_hash,
  at,
];
