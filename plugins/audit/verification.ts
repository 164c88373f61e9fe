import { timestamp } from 'svc/sdk';

import { anchorFlaw } from './anchors.ts';
import { flaw, genesis, type Link } from './rows/chain.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Keys } from './keys.ts';
import type { Memory } from './memory.ts';
import type { Pause } from './pace.ts';
import { beforeAll, type Store } from './rows/store.ts';
import type { Anchor, Checkpoint } from './rows/tables.ts';

/** Result of verifying the chain from its first row to its last. */
export interface Verdict {
  readonly ok: boolean;
  /** Rows that are as they were written. */
  readonly rows: number;
  readonly first_bad_seq?: number;
  readonly reason?: string;
  readonly checkpoints: number;
  readonly anchors: number;
}

export interface VerificationParts {
  readonly store: Store;
  readonly keys: Keys;
  readonly checkpoints: Checkpoints;
  readonly memory: Memory;
  readonly pause: Pause;
}

export interface Break {
  /** Absent where no row is to blame. */
  readonly seq?: number;
  readonly reason: string;
}

/** A slice takes a few milliseconds; between two of them others run. */
const rowsAtOnce = 3_000;
const signaturesAtOnce = 100;
const mostTries = 5;

/** Follows the chain from its first row to its last. */
export class Verification {
  readonly #parts: VerificationParts;
  #running: Promise<Verdict> | undefined;

  constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /** A request that comes while the chain is followed already gets the same answer. */
  run(): Promise<Verdict> {
    this.#running ??= settled(this.#parts).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}

/** Retention may remove rows from under a walk, which then looks broken: it counts only when no anchor was added meanwhile. */
async function settled(parts: VerificationParts): Promise<Verdict> {
  for (let tries = 1; ; tries++) {
    const anchors = await parts.store.anchors();
    const verdict = await walk(parts, anchors);
    if (
      verdict.ok ||
      tries === mostTries ||
      (await parts.store.anchors()).length === anchors.length
    ) {
      return verdict;
    }
  }
}

async function walk(
  { store, keys, checkpoints, memory, pause }: VerificationParts,
  anchors: readonly Anchor[],
): Promise<Verdict> {
  let last: Link = genesis;
  let rows = 0;
  let found = 0;
  const verdict = (broken?: Break): Verdict => ({
    ok: broken === undefined,
    rows,
    ...(broken?.seq !== undefined && { first_bad_seq: broken.seq }),
    ...(broken && { reason: broken.reason }),
    checkpoints: found,
    anchors: anchors.length,
  });

  for (const anchor of anchors) {
    const reason = anchorFlaw(last, anchor, keys);
    if (reason !== undefined) {
      return verdict({ seq: last.seq + 1, reason });
    }
    last = { seq: anchor.to_seq, hash: anchor.last_hash };
  }

  // Read before the rows: each of them refers to a row that exists by now.
  const seen = await memory.look();
  const known = await checkpoints.all();
  const { signed, broken } = await signedOnes(known, checkpoints, pause);
  found = [...signed.keys()].filter((seq) => seq > 0).length;

  for (let after = beforeAll; ; after = last.seq) {
    const slice = await store.next(after, rowsAtOnce);
    for (const row of slice) {
      const reason =
        flaw(last, row, (id) => keys.chain(id)) ?? contradiction(row, signed.get(row.seq), seen);
      if (reason !== undefined) {
        return verdict({ seq: last.seq + 1, reason });
      }
      last = row;
      rows += 1;
    }
    if (slice.length < rowsAtOnce) {
      break;
    }
    await pause();
  }
  const unsigned = checkpoints.isOverdue(known, anchors) ? { reason: nothingSigned } : undefined;
  return verdict(
    missingTail(last, anchors, [...signed.values()], seen) ??
      broken ??
      unsigned ??
      unguarded(await store.unguarded()),
  );
}

/** Returns the valid checkpoints by row, and what is wrong with others. */
async function signedOnes(
  known: readonly Checkpoint[],
  checkpoints: Checkpoints,
  pause: Pause,
): Promise<{ signed: ReadonlyMap<number, Checkpoint>; broken: Break | undefined }> {
  const signed = new Map<number, Checkpoint>();
  let broken: Break | undefined;
  for (const [index, checkpoint] of known.entries()) {
    if (checkpoints.isSigned(checkpoint)) {
      signed.set(checkpoint.seq, checkpoint);
    } else {
      broken ??= {
        reason: `the checkpoint of row ${checkpoint.seq} is not signed by a key of this trail: it was forged or altered`,
      };
    }
    if (index % signaturesAtOnce === signaturesAtOnce - 1) {
      await pause();
    }
  }
  return { signed, broken };
}

function contradiction(
  row: Link,
  checkpoint: Checkpoint | undefined,
  seen: Link,
): string | undefined {
  if (checkpoint !== undefined && checkpoint.hash !== row.hash) {
    return `it is not the row that was signed on ${timestamp(checkpoint.at)}`;
  }
  return row.seq === seen.seq && row.hash !== seen.hash
    ? 'it is not the row that svc has seen in its place'
    : undefined;
}

const nothingSigned =
  'the log is older than an hour but has neither a checkpoint nor an anchor: they were removed, and rows may have been, too. Compare it with a backup';

/** Returns the break if triggers are missing; undefined if none is. */
export const unguarded = (missing: readonly string[]): Break | undefined =>
  missing.length === 0
    ? undefined
    : {
        reason: `the database no longer prevents changes of the log: ${missing.join(', ')} is missing. Create it again as in migration 001-init.sql`,
      };

/**
 * Returns whether rows are missing at the end. A truncated chain is valid; only what was signed or
 * seen of them, and that retention keeps a last row, reveals it.
 */
function missingTail(
  last: Link,
  anchors: readonly Anchor[],
  signed: readonly Checkpoint[],
  seen: Link,
): Break | undefined {
  const beyond = signed.findLast(({ seq }) => seq > last.seq);
  if (beyond !== undefined) {
    const cause = `a checkpoint of ${timestamp(beyond.at)} knows row ${beyond.seq}`;
    return {
      seq: last.seq + 1,
      reason: `this row and all later ones are missing: ${cause}. The log was truncated, or an older backup was restored`,
    };
  }
  if (seen.seq > last.seq) {
    return {
      seq: last.seq + 1,
      reason: `this row and all later ones are missing: svc has seen row ${seen.seq}. The log was truncated`,
    };
  }
  return anchors.at(-1)?.to_seq === last.seq
    ? {
        seq: last.seq + 1,
        reason:
          'this row and all later ones are missing: only the anchor of the earlier rows is left',
      }
    : undefined;
}
