import type { KeyObject } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';

import type { Kysely } from 'kysely';

import { type Clock, type HealthReport, type Logger, messageOf, type Secrets, SvcError, type Tables, timestamp } from '../sdk/index.ts';
import { createBackup, databaseName, type Manifest } from './backup.ts';
import { connectWriter } from './connection.ts';
import type { CoreTables } from './core-tables.ts';
import { kyselyOver, type Run } from './dialect.ts';
import { type DiskLimits, openDiskGuard } from './disk-guard.ts';
import { syncPath, writeDurably } from './durable.ts';
import { type GroupLimits, openGroups } from './groups.ts';
import { openKeyRing } from './keys.ts';
import { acquireLock } from './lock.ts';
import { loadMigrations, type Migration } from './migration-text.ts';
import { migrator } from './migrations.ts';
import { openOwnership } from './ownership.ts';
import { openReaders, type ReaderLimits } from './readers.ts';
import { sealsOf } from './seal.ts';
import { surroundings, type Unit } from './unit.ts';
import { openWriter } from './writer.ts';

/** The files of this room that run in threads of their own. */
export type WorkerEntry = 'writer-worker' | 'backup-worker';

export interface StorageOptions {
  readonly dataDir: string;
  readonly appVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly startWorker: (entry: WorkerEntry, workerData: unknown) => Worker;
  /** The SQLite addon as a file, for the single binary. */
  readonly nativeBinding?: string;
  /** The tables of the host; default: the folder beside this file. */
  readonly coreMigrations?: readonly Migration[];
  /** Keys that seal secrets, newest last, on top of those in the data folder. */
  readonly secretKeys?: readonly string[];
  /** Where this process listens, for a second one that is refused. */
  readonly address?: string;
  readonly forceNetworkFolder?: boolean;
  readonly writes?: GroupLimits & { readonly stallMs?: number };
  readonly reads?: ReaderLimits;
  readonly disk?: DiskLimits;
}

export interface Storage {
  /** The tables of one plugin; statements that touch others are refused. */
  tables<T>(pluginId: string): Tables<T>;
  core(): Tables<CoreTables>;
  migrate(pluginId: string, migrations: readonly Migration[]): Promise<void>;
  secrets(pluginId: string): Secrets;
  /** A key for one purpose of the host, the same after every restart. */
  derivedKey(purpose: string): KeyObject;
  /**
   * Every outermost write that starts inside `work` calls `beforeCommit` as its last statement, with a
   * transaction that may touch every table; when it throws, the write is undone.
   */
  witness<R>(beforeCommit: (tx: Kysely<any>) => Promise<void>, work: () => R): R;
  /** Writes that start inside `work` free space: they are let through while the disk is too full for others. */
  reclaim<R>(work: () => R): R;
  /** Why nothing can be written at this moment. */
  writable(): string | undefined;
  health(): HealthReport;
  backup(dir: string, options?: { readonly withKey?: boolean }): Promise<Manifest>;
  /** Tells a second process where this one listens. */
  announce(address: string): void;
  /** Finishes what waits, folds the log into the file, and notes that the stop was clean. */
  close(): Promise<void>;
}

const keptAutomaticBackups = 3;

/** Opens a data folder; everything that was opened is closed again when a step fails. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { dataDir, appVersion, clock, log, nativeBinding, startWorker } = options;
  const now = (): number => clock.now();
  const undo: (() => unknown)[] = [];
  try {
    const lock = acquireLock(dataDir, {
      now,
      nativeBinding,
      forceNetworkFolder: options.forceNetworkFolder ?? false,
      ...(options.address !== undefined && { address: options.address }),
    });
    undo.push(() => lock.release());

    const file = join(dataDir, databaseName);
    const existed = existsSync(file);
    const ring = openKeyRing(dataDir, options.secretKeys);
    settle(file, { existed, clean: takeCleanMark(dataDir), nativeBinding });

    const report = (code: string): void => guard.report(code);
    const readers = openReaders(file, { nativeBinding }, { ...options.reads, onFailure: report });
    undo.push(() => readers.close());
    const writer = openWriter({
      start: () => startWorker('writer-worker', { file, nativeBinding }),
      log,
      onFailure: report,
      ...(options.writes?.stallMs !== undefined && { stallMs: options.writes.stallMs }),
    });
    undo.push(() => writer.close());
    const guard = await openDiskGuard(dataDir, options.disk ?? {}, log, () => writer.checkpoint());
    undo.push(() => guard.stop());

    const groups = openGroups(writer, clock, options.writes);
    const ownership = openOwnership(readers.connection);
    const backup = (dir: string, withKey = false): Promise<Manifest> =>
      createBackup(dir, { dataDir, appVersion, now, nativeBinding, withKey, startWorker: (data) => startWorker('backup-worker', data) });
    const automatic = automaticBackups(dataDir, (dir) => backup(dir), { existed, appVersion, now });
    const migrate = migrator({ groups, readers, ownership, clock, appVersion, ...automatic });

    function write<R>(work: (unit: Unit) => Promise<R>): Promise<R> {
      const { unit: outer, witness, reclaiming = false } = surroundings.getStore() ?? {};
      if (outer?.open === true) {
        return outer.nest(work);
      }
      const refusal = reclaiming ? undefined : guard.refusal();
      if (refusal !== undefined) {
        return Promise.reject(new SvcError('unavailable', refusal));
      }
      return groups.run(async (unit) => {
        const result = await work(unit);
        await witness?.(kyselyOver({ run: (sql, parameters) => unit.query(sql, parameters) }));
        return result;
      });
    }

    function tablesOf<T>(owner: string): Tables<T> {
      const check = ownership.guard(owner);
      const guarded = (run: Run): { run: Run } => ({
        run: (sql, parameters) => {
          check(sql, parameters);
          return run(sql, parameters);
        },
      });
      return {
        read: kyselyOver<T>({
          ...guarded(readers.run),
          view() {
            const view = readers.view();
            return { ...guarded(view.run), end: view.end };
          },
        }),
        write: (work) => write((unit) => work(kyselyOver<T>(guarded((sql, parameters) => unit.query(sql, parameters))))),
      };
    }

    await migrate('core', options.coreMigrations ?? loadMigrations(fileURLToPath(new URL('./migrations', import.meta.url))));

    const known = new Map<string, Tables<unknown>>();
    const core = tablesOf<CoreTables>('core');
    let closed: Promise<void> | undefined;

    async function close(): Promise<void> {
      await guard.stop();
      await groups.drain();
      readers.close();
      await writer.close();
      writeDurably(cleanMark(dataDir), `${timestamp(now())}\n`);
      lock.release();
    }

    return {
      tables<T>(pluginId: string) {
        refuseReserved(pluginId);
        const tables = known.get(pluginId) ?? tablesOf<unknown>(pluginId);
        known.set(pluginId, tables);
        return tables as Tables<T>;
      },
      core: () => core,
      async migrate(pluginId, migrations) {
        refuseReserved(pluginId);
        await migrate(pluginId, migrations);
      },
      secrets: (pluginId) => sealsOf(pluginId, ring),
      derivedKey: (purpose) => ring.derive(`derived ${purpose}`),
      witness: (beforeCommit, work) => surroundings.run({ ...surroundings.getStore(), witness: beforeCommit }, work),
      reclaim: (work) => surroundings.run({ ...surroundings.getStore(), reclaiming: true }, work),
      writable: () => guard.refusal() ?? writer.down(),
      health() {
        const trouble = guard.refusal() ?? writer.down();
        const detail = trouble ?? guard.warning();
        return { ok: trouble === undefined, ...(detail !== undefined && { detail }) };
      },
      backup: (dir, { withKey = false } = {}) => backup(dir, withKey),
      announce: (address) => lock.announce(address),
      close: () => (closed ??= close()),
    };
  } catch (error) {
    for (const step of undo.toReversed()) {
      await step();
    }
    throw error;
  }
}

/** Recovers the log of the last run, and looks at every page when that run did not end by itself. */
function settle(file: string, { existed, clean, nativeBinding }: { existed: boolean; clean: boolean; nativeBinding: string | undefined }): void {
  let problems: string[];
  try {
    const connection = connectWriter(file, { nativeBinding });
    problems = existed && !clean ? (connection.prepare('PRAGMA quick_check(5)').pluck().all() as string[]).filter((line) => line !== 'ok') : [];
    connection.close();
  } catch (error) {
    problems = [messageOf(error)];
  }
  if (problems.length > 0) {
    throw new SvcError('unavailable', `${file} is damaged (${problems.join('; ')}): restore a backup with "svc backup restore"; the damaged file is kept aside`);
  }
}

const cleanMark = (dataDir: string): string => join(dataDir, 'clean');

/** Tells whether the last run ended by itself; from now on this one has not. */
function takeCleanMark(dataDir: string): boolean {
  const clean = existsSync(cleanMark(dataDir));
  rmSync(cleanMark(dataDir), { force: true });
  syncPath(dataDir);
  return clean;
}

/** One backup a boot, before the first migration of data that was there; the last few are kept. */
function automaticBackups(
  dataDir: string,
  backup: (dir: string) => Promise<Manifest>,
  { existed, appVersion, now }: { existed: boolean; appVersion: string; now: () => number },
): { backUp: () => Promise<void>; lastBackup: () => string | undefined } {
  const folder = join(dataDir, 'backups');
  let done = !existed;
  const made = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^\d{4}-.*-before-/.test(name))
          .toSorted()
      : [];
  return {
    async backUp() {
      if (done) {
        return;
      }
      await backup(join(folder, `${timestamp(now()).replaceAll(':', '')}-before-${appVersion}`));
      done = true;
      for (const name of made().slice(0, -keptAutomaticBackups)) {
        rmSync(join(folder, name), { recursive: true });
      }
    },
    lastBackup: () => made().map((name) => join(folder, name)).at(-1),
  };
}

function refuseReserved(pluginId: string): void {
  if (pluginId === 'core' || pluginId === 'sqlite' || !/^[a-z][a-z0-9-]*$/.test(pluginId)) {
    throw new SvcError('invalid_argument', `"${pluginId}" cannot own tables: a plugin id is lower-case letters, digits and dashes, and not "core" or "sqlite"`);
  }
}
