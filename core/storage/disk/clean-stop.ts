import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../sdk/index.ts';
import { type ConnectOptions, connectWriter } from '../sqlite/connection.ts';
import { syncPath, writeDurably } from './durable.ts';
import { errors } from './errors.ts';
import { asUnavailable, sqliteCode } from '../sqlite/trouble.ts';

const mark = (dataDir: string): string => join(dataDir, 'clean');

export function markClean(dataDir: string, at: string): void {
  writeDurably(mark(dataDir), `${at}\n`);
}

/** Recovers the log of the last run, and checks every page if that run did not end cleanly. */
export function recover(dataDir: string, file: string, options: ConnectOptions): void {
  const clean = takeMark(dataDir) || !existsSync(file);
  let problems: string[] = [];
  try {
    const connection = connectWriter(file, options);
    if (!clean) {
      problems = (connection.prepare('PRAGMA quick_check(5)').pluck().all() as string[]).filter(
        (line) => line !== 'ok',
      );
    }
    connection.close();
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')) {
      throw asUnavailable(error);
    }
    problems = [messageOf(error)];
  }
  if (problems.length > 0) {
    throw errors.file_damaged({ file, problems: problems.join('; ') });
  }
}

/** Returns whether the last run ended cleanly, and clears the mark until this one does. */
function takeMark(dataDir: string): boolean {
  const clean = existsSync(mark(dataDir));
  rmSync(mark(dataDir), { force: true });
  syncPath(dataDir);
  return clean;
}
