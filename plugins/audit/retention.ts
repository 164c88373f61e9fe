import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import type { Clock, Logger, SvcError } from 'svc/sdk';

import { anchorOf, endOf } from './anchors.ts';
import { flaw, type Link } from './rows/chain.ts';
import { errors } from './errors.ts';
import type { Keys } from './keys.ts';
import { shown } from './rows/record.ts';
import type { Store } from './rows/store.ts';

export interface RetentionParts {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dataDir: string;
  /** Days that rows stay. */
  readonly days: () => number;
  /** Number of the row up to which rows may be removed: a sink gets each before it leaves. */
  readonly released: () => Promise<number>;
}

const day = 24 * 60 * 60_000;
/** Max rows of one archive, one anchor and one write. */
const mostAtOnce = 10_000;
const rowsAtOnce = 500;

/**
 * Moves expired rows into archives, oldest first. It waits until a whole day of them has
 * accumulated, so that there is one archive a day. The last row always stays: the chain continues
 * from it.
 */
export function retention(parts: RetentionParts): (signal: AbortSignal) => Promise<void> {
  const { store, keys, clock, log, dataDir, days, released } = parts;
  const folder = join(dataDir, 'archive');

  /** Archives one prefix; returns false if there is none. */
  async function archiveOldest(cutoff: number): Promise<boolean> {
    const from = endOf(await store.anchors());
    const { last } = await store.span();
    const bound = Math.min(from.seq + mostAtOnce, last - 1, await released());
    const young = await store.firstSince(cutoff, { after: from.seq, upTo: bound });
    const upTo = young === undefined ? bound : young - 1;
    if (upTo <= from.seq) {
      return false;
    }
    const to = await archive(folder, from, upTo, parts);
    await store.cut(anchorOf(from, to, clock.now(), keys));
    log.info(
      { from: from.seq + 1, to: to.seq },
      'archived and removed entries older than audit.retention_days',
    );
    return true;
  }

  return async (signal) => {
    const cutoff = clock.now() - days() * day;
    const oldest = await store.oldest();
    if (oldest === undefined || oldest >= cutoff - day) {
      return;
    }
    let more = true;
    while (more && !signal.aborted) {
      more = await archiveOldest(cutoff);
    }
  };
}

/** Writes the rows behind `from` into a file that is whole and on disk when its name appears. */
async function archive(
  folder: string,
  from: Link,
  upTo: number,
  { store, keys }: RetentionParts,
): Promise<Link> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await forgetUnfinished(folder, from.seq + 1);
  let last = from;

  /**
   * Yields the rows as lines. An anchor vouches for what it replaces, so nothing is archived that
   * fails verification.
   */
  async function* lines(): AsyncGenerator<string> {
    while (last.seq < upTo) {
      const rows = await store.rows({
        after: last.seq,
        upTo: Math.min(last.seq + rowsAtOnce, upTo),
      });
      for (const row of rows) {
        const reason = flaw(last, row, (id) => keys.chain(id));
        if (reason !== undefined) {
          throw broken(last.seq + 1, reason);
        }
        last = row;
      }
      if (rows.length === 0) {
        throw broken(last.seq + 1, 'it is missing');
      }
      yield rows.map((row) => `${JSON.stringify(shown(row))}\n`).join('');
    }
  }

  const draft = join(folder, 'unfinished');
  const file = await open(draft, 'wx', 0o600);
  await pipeline(Readable.from(lines()), createGzip(), file.createWriteStream({ flush: true }));
  await rename(draft, join(folder, `${from.seq + 1}-${upTo}.jsonl.gz`));
  await syncFolder(folder);
  return last;
}

/**
 * Deletes what a crash left: a draft, or an archive whose rows were not removed yet and are
 * archived again.
 */
async function forgetUnfinished(folder: string, first: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === 'unfinished' || name.startsWith(`${first}-`)) {
      await rm(join(folder, name));
    }
  }
}

/** Makes the names in a folder survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const broken = (seq: number, reason: string): SvcError => errors.broken_row({ seq, reason });
