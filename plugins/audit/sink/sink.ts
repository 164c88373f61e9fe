import { type Row } from '../rows/tables.ts';
import { shown } from '../rows/record.ts';

/** Rows that follow each other in the chain, at least one. */
export type Batch = readonly [Row, ...Row[]];

/** A place outside of this machine that gets every row of the trail, in order. */
export interface Sink {
  /** Name of the place, without secrets; how far it has got is kept under it. */
  readonly place: string;
  /** Time for which rows may wait for others that go with them. */
  readonly lingerMs: number;
  /** Resolves once the sink has acknowledged all of them, as far as its protocol has that. */
  send(batch: Batch, signal: AbortSignal): Promise<void>;
}

/**
 * A row as sinks get it: what a reader of the trail sees, with its place in the chain first, so that a receiver which cuts
 * long lines keeps the evidence.
 */
export function shippedLine(row: Row): string {
  const { id, prev_hash, hash, ...entry } = shown(row);
  return JSON.stringify({ id, prev_hash, hash, ...entry });
}

/** The head of the chain as of the last row of a batch: `seq:hash`. */
export const headOf = (batch: Batch): string => {
  const { seq, hash } = batch.at(-1)!;
  return `${seq}:${hash}`;
};
