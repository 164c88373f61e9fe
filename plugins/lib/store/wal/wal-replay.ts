import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf } from 'svc/sdk';
import { frameBytes, readSegment, seal, segmentName } from './wal-segment.ts';

/** Damage of a segment of which some records could not be read. */
export interface WalDamage {
  /** The name of its file. */
  readonly segment: string;
  readonly what: string;
}

export interface ReplayedSegment {
  readonly records: number;
  readonly tornBytes: number;
  readonly damage: readonly WalDamage[];
  /** Size of the file now; 0 if nothing was in it and it is gone. */
  readonly size: number;
}

/** Reads one segment, cuts away what a crash left unfinished, and seals it: from now on a change of any byte shows. */
export async function replaySegment(
  folder: string,
  segment: number,
  each: (record: Buffer, segment: number) => void | Promise<void>,
  log: Logger,
): Promise<ReplayedSegment> {
  const name = segmentName(segment);
  const path = join(folder, name);
  const { how, goodBytes, fileBytes, records, gaps } = await readSegment(path, segment, (record) =>
    each(record, segment),
  );
  const rest = fileBytes - goodBytes;
  if (gaps.length > 0) {
    const lost = gaps.reduce((sum, { bytes }) => sum + bytes, 0);
    const what = `damaged at byte ${gaps[0]!.at}: ${records} records were read, ${lost} bytes in ${gaps.length} places were not`;
    log.error({ event: 'wal.damaged', folder, segment }, `WAL segment ${name} is ${what}`);
    return { records, tornBytes: 0, damage: [{ segment: name, what }], size: fileBytes };
  }
  if (how === 'sealed') {
    return { records, tornBytes: 0, damage: [], size: fileBytes };
  }
  if (how === 'torn') {
    log.warn(
      { event: 'wal.torn_write_removed', folder, segment, bytes: rest },
      'removed an unfinished, unacknowledged write from the WAL segment after a crash',
    );
  }
  if (records === 0) {
    await rm(path);
    return { records, tornBytes: rest, damage: [], size: 0 };
  }
  return { records, tornBytes: rest, damage: [], size: await finish(path, goodBytes, log) };
}

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
        'sealing the WAL segment after replay failed; using its records without the seal',
      );
      await handle.truncate(goodBytes);
    }
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
