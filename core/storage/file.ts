import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';

import { type Clock, type Logger, timestamp } from '../sdk/index.ts';
import { markClean, recover } from './disk/clean-stop.ts';
import { lossReport } from './disk/damaged-log.ts';
import type { Engine, EngineLimits, Place } from './engine/engine.ts';
import { errors } from './errors.ts';
import { type Beginning, layFirstFile } from './first-file.ts';
import { ReadConnections } from './sqlite/readers.ts';
import { schemaOf } from './sqlite/schema.ts';
import { WriterThread } from './sqlite/writer-thread.ts';

export const databaseName = 'svc.db';

interface FileOptions {
  readonly dataDir: string;
  readonly appVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tables that a new file begins with. */
  readonly beginnings: () => readonly Beginning[];
  /** Runs `sqlite/writer-worker.ts`. */
  readonly startWriter: (workerData: unknown) => Worker;
  /** The SQLite addon as a file, for the single binary. */
  readonly nativeBinding?: string | undefined;
}

/** The file of a data folder. */
export function fileIn(options: FileOptions): Place {
  const file = join(options.dataDir, databaseName);
  return { existed: existsSync(file), open: (limits) => openFile(file, options, limits) };
}

async function openFile(
  file: string,
  options: FileOptions,
  { reads, stallMs, onFailure }: EngineLimits,
): Promise<Engine> {
  const { dataDir, clock, log, startWriter, nativeBinding } = options;
  refuseMoved(file);
  await layFirstFile(file, options);
  const lost = recover(dataDir, file, { nativeBinding });
  if (lost !== undefined) {
    log.error({ event: 'storage.log_damaged', file }, lost.sentence);
  }
  const readers = new ReadConnections(file, { nativeBinding }, { ...reads, onFailure });
  const writer = new WriterThread({
    log,
    onFailure,
    ...(stallMs !== undefined && { stallMs }),
    start: () => startWriter({ file, nativeBinding }),
  });
  return {
    writer,
    readers,
    schema: schemaOf(readers.connection),
    complaint: () => lossReport(file, lost),
    async close() {
      readers.close();
      await writer.close();
      markClean(dataDir, file, timestamp(clock.now()));
    },
  };
}

/** Mark that "svc storage move" leaves next to a file whose data is elsewhere. */
export const movedMark = (file: string): string => `${file}.moved`;

function refuseMoved(file: string): void {
  const mark = movedMark(file);
  if (existsSync(mark)) {
    throw errors.moved({ file, mark, to: readFileSync(mark, 'utf8').trim() });
  }
}
