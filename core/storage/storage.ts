import type { KeyObject } from 'node:crypto';
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
  type Tables,
} from '../sdk/index.ts';
import type { CoreTables } from './core-tables.ts';
import { type DiskLimits, DiskGuard } from './disk/disk-guard.ts';
import type { Engine, Place, ReaderLimits, Tenure } from './engine/engine.ts';
import { errors } from './errors.ts';
import { type GroupLimits, Groups } from './groups.ts';
import { KeyRing } from './keys.ts';
import { DataLock } from './disk/lock.ts';
import { StoredMasterKeys } from './master-keys.ts';
import { loadMigrations, type Migration } from './migration-text.ts';
import { Migrator, type Safeguard } from './migrations.ts';
import { Ownership } from './ownership.ts';
import { Seals } from './seal.ts';
import { SealedColumns } from './sealed-columns.ts';
import { fileIn } from './file.ts';
import type { Beginning } from './first-file.ts';
import { TableAccess } from './tables.ts';
import { surroundings, type Witness } from './unit.ts';

export interface StorageOptions {
  readonly dataDir: string;
  readonly appVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** URL of the Postgres that holds the data; default: a file in the data folder. */
  readonly databaseUrl?: string | undefined;
  /** Right to write there, where it is kept. */
  readonly tenure?: Tenure | undefined;
  /** Runs `sqlite/writer-worker.ts`. */
  readonly startWriter: (workerData: unknown) => Worker;
  readonly safeguard?: Safeguard | undefined;
  /** The SQLite addon as a file, for the single binary. */
  readonly nativeBinding?: string | undefined;
  /** Migrations of the host's tables; default: the folder next to this file. */
  readonly coreMigrations?: readonly Migration[];
  /** Tables of plugins that a new file begins with. */
  readonly beginnings?: () => readonly Beginning[];
  /** Keys that seal secrets, newest last, on top of those in the data folder. */
  readonly secretKeys?: readonly string[];
  /** Address at which this process listens, for a second one that is refused. */
  readonly address?: string;
  readonly forceNetworkFolder?: boolean;
  readonly writes?: GroupLimits & { readonly stallMs?: number };
  readonly reads?: ReaderLimits;
  readonly disk?: DiskLimits;
}

/** The open parts of a data folder. */
interface Parts {
  readonly options: StorageOptions;
  readonly lock: DataLock;
  readonly ring: KeyRing;
  readonly engine: Engine;
  readonly groups: Groups;
  readonly guard: DiskGuard;
  readonly migrator: Migrator;
  readonly access: TableAccess;
  readonly core: Tables<CoreTables>;
  readonly columns: SealedColumns;
  readonly keys: StoredMasterKeys;
}

/** Opens a data folder; when a step fails, everything opened before it is closed again. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const closers: (() => unknown)[] = [];
  try {
    return new Storage(await openParts(options, (close) => closers.push(close)));
  } catch (error) {
    for (const close of closers.toReversed()) {
      await close();
    }
    throw error;
  }
}

async function openParts(
  options: StorageOptions,
  onFailure: (close: () => unknown) => void,
): Promise<Parts> {
  const { dataDir, appVersion, clock, log, writes = {} } = options;
  const now = (): number => clock.now();

  const lock = new DataLock(dataDir, { ...options, now });
  onFailure(() => lock.release());
  const coreMigrations =
    options.coreMigrations ??
    loadMigrations(fileURLToPath(new URL('./migrations', import.meta.url)));
  const place = await placeOf({
    ...options,
    beginnings: () => [
      { owner: 'core', migrations: coreMigrations },
      ...(options.beginnings?.() ?? []),
    ],
  });
  const ring = new KeyRing(dataDir, options.secretKeys, place.existed);
  const { stallMs } = writes;
  const engine = await place.open({
    ...(options.reads && { reads: options.reads }),
    ...(stallMs !== undefined && { stallMs }),
    onFailure: (code) => guard.report(code),
  });
  onFailure(() => engine.close());
  const { writer, readers, schema } = engine;
  const groups = new Groups(writer, clock, writes);
  const guard = await DiskGuard.open(dataDir, options.disk ?? {}, log, (checked) =>
    groups.between(() => writer.trim(checked)),
  );
  onFailure(() => guard.stop());

  const ownership = new Ownership(schema.connection);
  const access = new TableAccess({ groups, readers, ownership, guard });
  const migrator = new Migrator({
    groups,
    schema,
    ownership,
    clock,
    appVersion,
    safeguard: place.existed ? options.safeguard : undefined,
  });
  await migrator.migrate('core', coreMigrations);

  const core = access.of<CoreTables>('core');
  const columns = new SealedColumns(core, schema.connection, ownership);
  const keys = new StoredMasterKeys({
    ring,
    core,
    columns,
    tables: (pluginId) => access.of(pluginId),
    secrets: (pluginId) => new Seals(pluginId, ring),
    log,
  });
  await keys.tellMissing();
  await keys.retireUnused();
  return {
    options,
    lock,
    ring,
    engine,
    groups,
    guard,
    migrator,
    access,
    core,
    columns,
    keys,
  };
}

/** Postgres is loaded only where it is used. */
async function placeOf(
  options: StorageOptions & Required<Pick<StorageOptions, 'beginnings'>>,
): Promise<Place> {
  const { databaseUrl = '', nativeBinding, log, tenure } = options;
  if (databaseUrl === '') {
    return fileIn(options);
  }
  const { postgresAt } = await import('./postgres/database.ts');
  return postgresAt({ url: databaseUrl, log, tenure, sqlite: { nativeBinding } });
}

/** The one database of the service, shared by the host and every plugin. */
export class Storage {
  readonly #parts: Parts;
  readonly #known = new Map<string, Tables<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The tables of one plugin; statements that touch others are refused. */
  tables<T>(pluginId: string): Tables<T> {
    refuseReserved(pluginId);
    const tables = this.#known.get(pluginId) ?? this.#parts.access.of<unknown>(pluginId);
    this.#known.set(pluginId, tables);
    return tables as Tables<T>;
  }

  core(): Tables<CoreTables> {
    return this.#parts.core;
  }

  async migrate(pluginId: string, migrations: readonly Migration[]): Promise<void> {
    refuseReserved(pluginId);
    await this.#parts.migrator.migrate(pluginId, migrations);
  }

  secrets(pluginId: string): Secrets {
    return new Seals(pluginId, this.#parts.ring);
  }

  /** Records where a plugin seals, once its tables exist. */
  declareSealed(pluginId: string, tables: readonly SealedTable[]): Promise<void> {
    return this.#parts.columns.declare(pluginId, tables);
  }

  get keys(): MasterKeys {
    return this.#parts.keys;
  }

  /** A key for one purpose of the host, the same after every restart until there is a new master key. */
  derivedKey(purpose: string): KeyObject {
    return this.#parts.ring.derive(`derived ${purpose}`);
  }

  /**
   * Every outermost write that starts inside `work` calls `beforeCommit` as its last statement, with a
   * transaction that may touch every table; when it throws, the write is undone.
   */
  witness<R>(witness: Witness, work: () => R): R {
    return surroundings.run({ ...surroundings.getStore(), witness }, work);
  }

  /** Writes that start inside `work` free space: they are let through while the disk is too full for others. */
  reclaim<R>(work: () => R): R {
    return surroundings.run({ ...surroundings.getStore(), reclaiming: true }, work);
  }

  /** Why nothing can be written at this moment. */
  writable(): string | undefined {
    return this.#parts.guard.refusal ?? this.#parts.engine.writer.down;
  }

  /** Reports whether commits succeed, and whether some were lost, as long as the damaged log is kept. */
  health(): HealthReport {
    const { writer, complaint } = this.#parts.engine;
    if (writer.down !== undefined) {
      return { ok: false, detail: writer.down };
    }
    const detail = complaint();
    return { ok: true, ...(detail !== undefined && { degraded: true, detail }) };
  }

  /** Reports whether there is space for them. */
  disk(): HealthReport {
    const { refusal, warning } = this.#parts.guard;
    const detail = refusal ?? warning;
    return { ok: refusal === undefined, ...(detail !== undefined && { detail }) };
  }

  /** Tells a second process where this one listens. */
  announce(address: string): void {
    this.#parts.lock.announce(address);
  }

  /** Finishes what waits, folds the log into the file, and notes that the stop was clean. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const { guard, groups, engine, lock, options } = this.#parts;
    await guard.stop();
    await groups.drain();
    try {
      await engine.close();
    } catch (error) {
      options.log.warn(
        { event: 'storage.close_incomplete', cause: messageOf(error) },
        'failed to close the database cleanly; no data was lost, and the next start will check every page',
      );
    } finally {
      lock.release();
    }
  }
}

function refuseReserved(pluginId: string): void {
  if (pluginId === 'core' || pluginId === 'sqlite' || !/^[a-z][a-z0-9-]*$/.test(pluginId)) {
    throw errors.plugin_id({ id: pluginId });
  }
}
