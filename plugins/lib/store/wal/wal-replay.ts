import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf } from 'svc/sdk';
import type { ListedSegment } from './segment-list.ts';
import {
  frameBytes,
  readSegment,
  seal,
  type SegmentContent,
  type SegmentEnd,
  segmentName,
} from './wal-segment.ts';

/** Damage of a log of which some records could not be read. */
export interface WalDamage {
  /** The name of the segment's file. */
  readonly segment: string;
  readonly what: string;
  /** Milliseconds since 1970 when the segment was begun, if that is known. */
  readonly began?: number | undefined;
}

export interface ReplayedSegment {
  readonly tornBytes: number;
  /** Undefined if it gave back all that it held. */
  readonly what?: string;
  /** Content that it gives back from now on. */
  readonly content: SegmentContent;
}

/**
 * Reads one segment. One that had ended must hold what it held then; of another one, what a crash
 * left unfinished is cut away, and it is sealed: from now on a change of any byte shows.
 */
export async function replaySegment(
  folder: string,
  { number, content: held }: ListedSegment,
  each: (record: Buffer, segment: number) => void | Promise<void>,
  log: Logger,
): Promise<ReplayedSegment> {
  const path = join(folder, segmentName(number));
  const { how, goodBytes, fileBytes, records, sum, gaps } = await readSegment(
    path,
    number,
    (record) => each(record, number),
    held?.bytes,
  );
  const content = { bytes: fileBytes, records, sum };
  if (held !== undefined) {
    const what = lackOf(held, { goodBytes, records, sum, gaps });
    return what === undefined ? { tornBytes: 0, content: held } : { tornBytes: 0, what, content };
  }
  if (gaps.length > 0) {
    return { tornBytes: 0, what: damageOf(gaps, records), content };
  }
  if (how === 'sealed') {
    return { tornBytes: 0, content };
  }
  const rest = fileBytes - goodBytes;
  if (how === 'torn') {
    log.warn(
      { event: 'wal.torn_write_removed', folder, segment: number, bytes: rest },
      'removed an unfinished, unacknowledged write from the WAL segment after a crash',
    );
  }
  const bytes = records === 0 ? 0 : await finish(path, goodBytes, log);
  return { tornBytes: rest, content: { bytes, records, sum } };
}

function damageOf(gaps: SegmentEnd['gaps'], records: number): string {
  const lost = gaps.reduce((sum, { bytes }) => sum + bytes, 0);
  return `damaged at byte ${gaps[0]!.at}: ${records} records were read, ${lost} bytes in ${gaps.length} places were not`;
}

/** Says how what was read of a segment differs from what it held once; undefined if it does not. */
export function lackOf(
  held: SegmentContent,
  { goodBytes, records, sum, gaps }: Omit<SegmentEnd, 'how' | 'fileBytes'>,
): string | undefined {
  if (records === held.records && sum === held.sum) {
    return undefined;
  }
  if (gaps.length > 0) {
    return `${damageOf(gaps, records)}, and it held ${held.records} records`;
  }
  return records < held.records
    ? `cut off at byte ${goodBytes} of ${held.bytes}: ${records} of its ${held.records} records were read`
    : `not the one that was written: ${records} records were read, and it held ${held.records} others`;
}

/** Says what is missing with a segment. */
export const absenceOf = ({ content }: ListedSegment): string =>
  content === undefined
    ? 'missing: it was still being written'
    : `missing: it held ${content.records} records, ${content.bytes} bytes`;

/** A seal that finds no space is only missed: the records count without it, too. */
async function finish(path: string, goodBytes: number, log: Logger): Promise<number> {
  const handle = await open(path, 'r+');
  try {
    await handle.truncate(goodBytes);
    try {
      await handle.write(seal(), 0, frameBytes, goodBytes);
    } catch (error) {
      log.warn(
        { event: 'wal.replay_seal_failed', path, cause: messageOf(error) },
        'failed to seal the WAL segment after replay; using its records without the seal',
      );
      await handle.truncate(goodBytes);
    }
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
