import { setTimeout as pause } from 'node:timers/promises';

import type Database from 'better-sqlite3';
import { storedIn } from './stored.ts';

const deadlineMs = 30_000;

/**
 * Writes in one transaction to the database of a house that serves. A write of the house may wait for this very
 * thread, so whoever finds the database locked lets go and tries again.
 */
export async function beside<R>(
  dataDir: string,
  work: (database: Database.Database) => R,
): Promise<R> {
  const database = storedIn(dataDir, { timeout: 0 });
  try {
    for (const deadline = Date.now() + deadlineMs; ; await pause(5)) {
      try {
        return database.transaction(() => work(database)).immediate();
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > deadline) {
          throw error;
        }
      }
    }
  } finally {
    database.close();
  }
}
