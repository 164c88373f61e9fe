import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { messageOf } from '../../sdk/index.ts';
import {
  connect,
  type Connection,
  type ConnectOptions,
  connectWriter,
} from '../sqlite/connection.ts';
import { keepLost, type LostCommits } from './damaged-log.ts';
import { syncPath, writeDurably } from './durable.ts';
import { errors } from './errors.ts';
import { changedPages, pageSums, sumsAsText, sumsFromText } from './page-sums.ts';
import { asUnavailable, sqliteCode } from '../sqlite/trouble.ts';

const mark = (dataDir: string): string => join(dataDir, 'clean');
const mostNamed = 5;

/**
 * Notes that the last run ended cleanly, and with which checksums of the pages of `file`. It notes
 * none where somebody else reads the file: then its log goes into it later.
 */
export function markClean(dataDir: string, file: string, at: string): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    writeDurably(mark(dataDir), `${at}\n`);
    return;
  }
  const text = `${at}\n${sumsAsText(pageSums(file))}\n`;
  writeDurably(mark(dataDir), `${text}${crc32(text)}\n`);
}

/** The note of a clean stop; a version before this one noted no checksums. */
interface CleanStop {
  readonly sums: Uint32Array | undefined;
}

/**
 * Recovers the log of the last run. After a clean stop, every page has the checksum that it had
 * then; otherwise SQLite checks the structure of every page. Returns what is lost with a damaged
 * log.
 */
export function recover(
  dataDir: string,
  file: string,
  options: ConnectOptions,
): LostCommits | undefined {
  const isNew = !existsSync(file);
  const stop = readMark(dataDir);
  if (!isNew) {
    // Before the mark is gone: the next start must find the same.
    const where = changesSinceStop(dataDir, file, options);
    if (where !== undefined) {
      throw errors.file_changed({ file, where, mark: mark(dataDir) });
    }
  }
  forgetCleanStop(dataDir);
  const lost = keepLost(file);
  let problems: string[] = [];
  try {
    const connection = connectWriter(file, options);
    if (!isNew && stop === undefined) {
      problems = structureFaults(connection);
    }
    connection.close();
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')) {
      throw asUnavailable(error);
    }
    problems = [messageOf(error)];
  }
  if (problems.length > 0) {
    throw errors.file_damaged({
      file,
      problems: [...problems, ...(lost === undefined ? [] : [lost.sentence])].join('; '),
    });
  }
  return lost;
}

/**
 * Checks every page. A damaged value from which a column is computed ends the check of the whole
 * file: then each table is checked on its own, since whoever owns the value reports it better.
 */
function structureFaults(connection: Connection): string[] {
  const faultsOf = (part: string | number): string[] =>
    (connection.pragma(`quick_check(${part})`) as { readonly quick_check: string }[])
      .map((row) => row.quick_check)
      .filter((line) => line !== 'ok');
  try {
    return faultsOf(mostNamed);
  } catch (error) {
    if (sqliteCode(error) !== 'SQLITE_ERROR') {
      throw error;
    }
  }
  const tables = connection
    .prepare("select name from sqlite_schema where type = 'table'")
    .pluck()
    .all() as string[];
  return tables.flatMap((table) => {
    try {
      return faultsOf(`"${table.replaceAll('"', '""')}"`);
    } catch (error) {
      if (sqliteCode(error) !== 'SQLITE_ERROR') {
        throw error;
      }
      return [];
    }
  });
}

/**
 * Says which pages of the file, and of which tables, have other checksums than at the last stop;
 * undefined if none have, or if it was not a clean one.
 */
export function changesSinceStop(
  dataDir: string,
  file: string,
  options: ConnectOptions,
): string | undefined {
  const sums = readMark(dataDir)?.sums;
  const pages = sums === undefined ? [] : changedPages(sums, pageSums(file));
  if (pages.length === 0) {
    return undefined;
  }
  const named = pages.slice(0, mostNamed).join(', ');
  const where = `${pages.length === 1 ? 'page' : 'pages'} ${named}${pages.length > mostNamed ? ` and ${pages.length - mostNamed} more` : ''}`;
  const tables = tablesAt(file, pages.slice(0, mostNamed), options);
  return tables.length === 0 ? where : `${where} of ${tables.join(', ')}`;
}

/** The note of a clean stop, which a start asks for first: to be deleted where a change was meant. */
export const cleanStopFile = mark;

/** Names of the tables and indexes that have these pages; a file may be too damaged to tell. */
function tablesAt(
  file: string,
  pages: readonly number[],
  options: ConnectOptions,
): readonly string[] {
  try {
    const connection = connect(file, { ...options, readonly: true, mustExist: true });
    try {
      return connection
        .prepare(
          'select distinct name from dbstat where pageno in (select value from json_each(?)) order by name',
        )
        .pluck()
        .all(JSON.stringify(pages)) as string[];
    } finally {
      connection.close();
    }
  } catch (error) {
    if (sqliteCode(error) === undefined) {
      throw error;
    }
    return [];
  }
}

/** Reads the note of the last stop; undefined if it was not clean, or if the note itself is damaged. */
function readMark(dataDir: string): CleanStop | undefined {
  if (!existsSync(mark(dataDir))) {
    return undefined;
  }
  const text = readFileSync(mark(dataDir), 'latin1');
  const [at = '', sums, check] = text.split('\n');
  if (sums === undefined || sums === '') {
    return { sums: undefined };
  }
  return check === String(crc32(`${at}\n${sums}\n`)) ? { sums: sumsFromText(sums) } : undefined;
}

/** Takes the note away: from now on, the file may be another. */
export function forgetCleanStop(dataDir: string): void {
  rmSync(mark(dataDir), { force: true });
  syncPath(dataDir);
}
