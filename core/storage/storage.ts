import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';

import {
  type Clock,
  type HealthReport,
  type Logger,
  type MasterKeys,
  messageOf,
  type SealedTable,
  type Secrets,
  SvcError,
  type Tables,
  timestamp,
} from '../sdk/index.ts';
import { markClean, recover } from './clean-stop.ts';
import type { CoreTables } from './core-tables.ts';
import { type DiskLimits, openDiskGuard } from './disk-guard.ts';
import { type GroupLimits, openGroups } from './groups.ts';
import { openKeyRing } from './keys.ts';
import { acquireLock } from './lock.ts';
import { StoredMasterKeys } from './master-keys.ts';
import { loadMigrations, type Migration } from './migration-text.ts';
import { migrator, type Safeguard } from './migrations.ts';
import { openOwnership } from './ownership.ts';
import { openReaders, type ReaderLimits } from './readers.ts';
import { sealsOf } from './seal.ts';
import { openSealedColumns } from './sealed-columns.ts';
import { tablesOver } from './tables.ts';
import { surroundings, type Witness } from './unit.ts';
import { openWriter } from './writer.ts';

export const databaseName = 'svc.db';

export interface StorageOptions {
  readonly dataDir: string;
  readonly appVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs `writer-worker.ts`, which stands beside this file. */
  readonly startWriter: (workerData: unknown) => Worker;
  readonly safeguard?: Safeguard | undefined;
  /** The SQLite addon as a file, for the single binary. */
  readonly nativeBinding?: string | undefined;
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
  /** Notes where a plugin seals, once its tables are there. */
  declareSealed(pluginId: string, tables: readonly SealedTable[]): Promise<void>;
  readonly keys: MasterKeys;
  /** A key for one purpose of the host, the same after every restart until there is a new master key. */
  derivedKey(purpose: string): KeyObject;
  /**
   * Every outermost write that starts inside `work` calls `beforeCommit` as its last statement, with a
   * transaction that may touch every table; when it throws, the write is undone.
   */
  witness<R>(witness: Witness, work: () => R): R;
  /** Writes that start inside `work` free space: they are let through while the disk is too full for others. */
  reclaim<R>(work: () => R): R;
  /** Why nothing can be written at this moment. */
  writable(): string | undefined;
  /** Whether commits get through. */
  health(): HealthReport;
  /** Whether there is room for them. */
  disk(): HealthReport;
  /** Tells a second process where this one listens. */
  announce(address: string): void;
  /** Finishes what waits, folds the log into the file, and notes that the stop was clean. */
  close(): Promise<void>;
}

/** Opens a data folder; when a step fails, everything opened before it is closed again. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const closers: (() => unknown)[] = [];
  try {
    return await opened(options, (close) => closers.push(close));
  } catch (error) {
    for (const close of closers.toReversed()) {
      await close();
    }
    throw error;
  }
}

async function opened(options: StorageOptions, onFailure: (close: () => unknown) => void): Promise<Storage> {
  const { dataDir, appVersion, clock, log, nativeBinding, startWriter, writes = {} } = options;
  const now = (): number => clock.now();
  const file = join(dataDir, databaseName);

  const lock = acquireLock(dataDir, { ...options, now });
  onFailure(() => lock.release());
  const ring = openKeyRing(dataDir, options.secretKeys);
  const existed = existsSync(file);
  recover(dataDir, file, { nativeBinding });

  const report = (code: string): void => guard.report(code);
  const readers = openReaders(file, { nativeBinding }, { ...options.reads, onFailure: report });
  onFailure(() => readers.close());
  const writer = openWriter({ ...writes, log, onFailure: report, start: () => startWriter({ file, nativeBinding }) });
  onFailure(() => writer.close());
  const groups = openGroups(writer, clock, writes);
  const guard = await openDiskGuard(dataDir, options.disk ?? {}, log, () => groups.between(() => writer.trim()));
  onFailure(() => guard.stop());

  const ownership = openOwnership(readers.connection);
  const tablesOf = tablesOver({ groups, readers, ownership, guard });
  const migrate = migrator({ groups, readers, ownership, clock, appVersion, safeguard: existed ? options.safeguard : undefined });

  await migrate('core', options.coreMigrations ?? loadMigrations(fileURLToPath(new URL('./migrations', import.meta.url))));
  const core = tablesOf<CoreTables>('core');
  const columns = openSealedColumns(core, readers.connection, ownership);
  const keys = new StoredMasterKeys({ ring, core, columns, tables: tablesOf, secrets: (pluginId) => sealsOf(pluginId, ring), log });
  await keys.retireUnused();
  const known = new Map<string, Tables<unknown>>();
  const trouble = (): string | undefined => guard.refusal() ?? writer.down();
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await guard.stop();
    await groups.drain();
    readers.close();
    try {
      await writer.close();
      markClean(dataDir, timestamp(now()));
    } catch (error) {
      log.warn({ cause: messageOf(error) }, 'storage was closed without tidying up; nothing is lost, the next start looks at every page');
    } finally {
      lock.release();
    }
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
    declareSealed: (pluginId, tables) => columns.declare(pluginId, tables),
    keys,
    derivedKey: (purpose) => ring.derive(`derived ${purpose}`),
    witness: (witness, work) => surroundings.run({ ...surroundings.getStore(), witness }, work),
    reclaim: (work) => surroundings.run({ ...surroundings.getStore(), reclaiming: true }, work),
    writable: trouble,
    health() {
      const detail = writer.down();
      return { ok: detail === undefined, ...(detail !== undefined && { detail }) };
    },
    disk() {
      const detail = guard.refusal() ?? guard.warning();
      return { ok: guard.refusal() === undefined, ...(detail !== undefined && { detail }) };
    },
    announce: (address) => lock.announce(address),
    close: () => (closing ??= close()),
  };
}

function refuseReserved(pluginId: string): void {
  if (pluginId === 'core' || pluginId === 'sqlite' || !/^[a-z][a-z0-9-]*$/.test(pluginId)) {
    throw new SvcError('invalid_argument', `"${pluginId}" cannot own tables: a plugin id is lower-case letters, digits and dashes, and not "core" or "sqlite"`);
  }
}
