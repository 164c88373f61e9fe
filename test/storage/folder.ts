import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Logger } from 'svc/sdk';

import { databaseOf } from '../kit/database.ts';
import { startWorker } from '../../core/isolate/worker.ts';
import { openStorage, type Storage, type StorageOptions } from '../../core/storage/index.ts';

const entry = fileURLToPath(new URL('../../core/storage/sqlite/writer-worker.ts', import.meta.url));

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The thread port as the composition root wires it. */
export const startWriter: StorageOptions['startWriter'] = (workerData) =>
  startWorker({ entry, workerData });

/** Storage on a real file; no ballast and no floor unless a test is about them. */
export async function openIn(
  dataDir: string,
  options: Partial<StorageOptions> = {},
): Promise<Storage> {
  return openStorage({
    dataDir,
    databaseUrl: (await databaseOf(dataDir))['SVC_DATABASE_URL'],
    appVersion: '1.0.0',
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    log: silent,
    startWriter,
    ...options,
    disk: { readOnlyBelowBytes: 0, ballastBytes: 0, startReserveBytes: 0, ...options.disk },
  });
}

/** Runs `work` in a folder that is gone afterwards. */
export async function inFolder(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-storage-'));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function withStorage(
  work: (storage: Storage, dir: string) => Promise<void>,
  options: Partial<StorageOptions> = {},
): Promise<void> {
  await inFolder(async (dir) => {
    const storage = await openIn(dir, options);
    try {
      await work(storage, dir);
    } finally {
      await storage.close();
    }
  });
}

export interface Notes {
  notes_note: { id: number; text: string };
}

export const notesMigration = {
  name: '001-init.sql',
  sql: 'CREATE TABLE notes_note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT',
};
