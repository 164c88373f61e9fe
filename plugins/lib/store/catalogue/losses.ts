import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

import type { Logger } from 'svc/sdk';

import { crc32 } from '../bytes/crc32.ts';
import { setAside } from '../bytes/set-aside.ts';

/** A part that is gone besides blocks, such as records of the log, and between which times it may have held something. */
export interface Loss {
  readonly part: string;
  readonly cause: string;
  readonly mint: number;
  readonly maxt: number;
}

/**
 * Losses of a store. In a file of their own, which there is only while there are losses: unlike the
 * catalogue it cannot be rebuilt.
 */
export interface LossTable {
  /** Adds a loss; a known one keeps its first description. */
  add(loss: Loss): void;
  list(): readonly Loss[];
  /** Drops losses that end before this time. */
  forget(before: number): void;
  /** Drops the loss of one part, which is back. */
  drop(part: string): void;
}

export function openLosses(path: string, log?: Logger): LossTable {
  let known = read(path, log);

  function keep(losses: readonly Loss[]): void {
    known = losses;
    write(path, losses);
  }

  return {
    add(loss) {
      if (!known.some(({ part }) => part === loss.part)) {
        keep([...known, loss].sort((a, b) => a.mint - b.mint || (a.part < b.part ? -1 : 1)));
      }
    },
    list: () => known,
    forget(before) {
      if (known.some(({ maxt }) => maxt < before)) {
        keep(known.filter(({ maxt }) => maxt >= before));
      }
    },
    drop(part) {
      if (known.some((loss) => loss.part === part)) {
        keep(known.filter((loss) => loss.part !== part));
      }
    },
  };
}

/** A damaged list is a loss itself: nobody knows which answers lack something. */
function read(path: string, log: Logger | undefined): readonly Loss[] {
  if (!existsSync(path)) {
    return [];
  }
  const text = readFileSync(path);
  const end = text.indexOf('\n');
  const bytes = text.subarray(end + 1);
  if (end > 0 && Number(text.toString('latin1', 0, end)) === crc32(bytes)) {
    // JSON has no infinity: null is the beginning of all times.
    return (JSON.parse(bytes.toString()) as (Loss & { mint: number | null })[]).map((loss) => ({
      ...loss,
      mint: loss.mint ?? -Infinity,
    }));
  }
  const { mtimeMs } = statSync(path);
  const kept = setAside(path);
  log?.error(
    { event: 'store.losses_damaged', kept },
    'list of lost data is damaged; all query results carry a warning until the loss is accepted',
  );
  const losses = [
    {
      part: 'the list of losses',
      cause: `it was damaged; kept as ${kept}`,
      mint: -Infinity,
      maxt: mtimeMs,
    },
  ];
  write(path, losses);
  return losses;
}

function write(path: string, losses: readonly Loss[]): void {
  if (losses.length === 0) {
    rmSync(path, { force: true });
  } else {
    const bytes = Buffer.from(JSON.stringify(losses));
    const draft = `${path}.tmp`;
    const descriptor = openSync(draft, 'w', 0o600);
    try {
      writeSync(descriptor, Buffer.concat([Buffer.from(`${crc32(bytes)}\n`), bytes]));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  }
  syncFolderNow(dirname(path));
}

/** Makes the names in a folder survive a power cut. */
export function syncFolderNow(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
