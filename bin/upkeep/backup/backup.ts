import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Product } from '../../../core/boot/index.ts';
import { startThread } from '../../../core/boot/product-thread.ts';
import { messageOf, timestamp } from '../../../core/sdk/index.ts';
import { databaseName, keyFile, syncPath, writeDurably } from '../../../core/storage/index.ts';
import type { BackupData } from './backup-worker.ts';
import { Base } from './base.ts';
import { isTelemetry, partOf, unitsOf } from './contents.ts';
import { errors } from './errors.ts';
import { type Inspection, inspect } from './inspection.ts';
import {
  type BackedUpFile,
  damaged,
  fingerprint,
  type Manifest,
  manifestName,
  readManifest,
} from './manifest.ts';
import { copyFromPostgres } from './postgres-data.ts';
import { openKeys, sealKeys } from './sealed-key.ts';
import { snapshotUnit } from './snapshot.ts';

export interface BackupOptions {
  readonly dataDir: string;
  /** Product being run: its version is stored in the manifest, and its SQLite makes the copy. */
  readonly product: Product;
  /** The Postgres that holds the database; default: the file in the data folder. */
  readonly databaseUrl?: string | undefined;
  /** Puts the key file in; such a backup opens every secret. */
  readonly withKey?: boolean;
  /** Seals the key file that is put in. */
  readonly passphrase?: string | undefined;
  /** Besides the database: everything that plugins keep in files, all of it or all but the telemetry. */
  readonly files?: 'all' | 'no telemetry';
  /** An earlier backup on the same disk, whose files are used again where they have not changed. */
  readonly base?: string | undefined;
  /**
   * Called with files that are missing or corrupt in `base`: the backup gets those of the live data
   * instead.
   */
  readonly onDamagedBase?: (names: readonly string[]) => void;
}

const keyName = 'secret.key';
const sealedKeyName = 'secret.key.sealed';

/** Copies the data into `dir`, looks at every page of the copy, and only then gives the folder its name. */
export async function createBackup(
  dir: string,
  {
    dataDir,
    product,
    databaseUrl,
    withKey = false,
    passphrase,
    files,
    base: baseDir,
    onDamagedBase,
  }: BackupOptions,
): Promise<Manifest> {
  if (existsSync(dir)) {
    throw errors.folder_exists({ dir });
  }
  const draft = join(dirname(dir), `.${basename(dir)}.partial`);
  const shelter = join(dataDir, `.${basename(dir)}.copying`);
  const clear = (): void =>
    [draft, shelter].forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  clear();
  const base = baseDir === undefined ? undefined : new Base(baseDir);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const { copied, leftOut } =
      files === undefined
        ? { copied: [], leftOut: undefined }
        : await copyFiles({ dataDir, draft, shelter, product, files, base });
    // After the files: a trail that is signed in a file must not know rows that the database of the backup lacks.
    const copy = join(draft, databaseName);
    const found =
      databaseUrl === undefined
        ? await copyDatabase(join(dataDir, databaseName), copy, product)
        : await copyFromPostgres(databaseUrl, copy, product);
    assertSound(found, copy);
    const keys = withKey ? [putKey(dataDir, draft, passphrase)] : [];
    const names = [databaseName, ...keys, ...copied];
    const fingerprints: BackedUpFile[] = [];
    for (const name of names) {
      fingerprints.push({
        name,
        ...(base?.fingerprintOf(name) ?? (await fingerprint(join(draft, name)))),
        modified_ms: Math.round(statSync(join(draft, name)).mtimeMs),
      });
      // SQLite leaves its files readable to all, and a backup is carried out of the folder that protects it.
      chmodSync(join(draft, name), 0o600);
      syncPath(join(draft, name));
    }
    const manifest: Manifest = {
      created_at: timestamp(Date.now()),
      app_version: product.version,
      sqlite: found.sqlite,
      files: fingerprints,
      tables: found.tables,
      ...(leftOut !== undefined && { left_out: leftOut }),
    };
    new Set(copied.map((name) => dirname(join(draft, name)))).forEach(syncPath);
    writeDurably(join(draft, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
    renameSync(draft, dir);
    syncPath(dirname(dir));
    if (base !== undefined && base.damaged.length > 0) {
      onDamagedBase?.(base.damaged);
    }
    return manifest;
  } finally {
    clear();
  }
}

interface FilesToCopy extends Required<Pick<BackupOptions, 'dataDir' | 'product' | 'files'>> {
  readonly base: Base | undefined;
  readonly draft: string;
  readonly shelter: string;
}

/** The files of all plugins, each in one consistent state, and the names of the parts that were asked to stay behind. */
async function copyFiles({
  dataDir,
  draft,
  shelter,
  product,
  files,
  base,
}: FilesToCopy): Promise<{ copied: readonly string[]; leftOut: readonly string[] }> {
  const copied: string[] = [];
  const leftOut: string[] = [];
  const copyOne = async (from: string, to: string): Promise<void> =>
    assertSound(await copyDatabase(from, to, product), from);
  for (const unit of unitsOf(dataDir)) {
    const part = partOf(unit);
    if (files === 'no telemetry' && isTelemetry(part)) {
      leftOut.push(part);
    } else {
      copied.push(
        ...(await snapshotUnit(unit, { dataDir, shelter, draft, copyDatabase: copyOne, base })),
      );
    }
  }
  return { copied, leftOut };
}

function putKey(dataDir: string, draft: string, passphrase: string | undefined): string {
  if (passphrase === undefined) {
    copyFileSync(keyFile(dataDir), join(draft, keyName));
    return keyName;
  }
  writeFileSync(join(draft, sealedKeyName), sealKeys(readFileSync(keyFile(dataDir)), passphrase), {
    mode: 0o600,
  });
  return sealedKeyName;
}

/** Proves that a backup is what its manifest says: every byte, every page, every count. What is wrong is named all of it: some may do without that part. */
export async function verifyBackup(dir: string, { embedded }: Product): Promise<Manifest> {
  const manifest = readManifest(dir);
  const problems: string[] = [];
  for (const { name, sha256, bytes } of manifest.files) {
    const file = join(dir, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      problems.push(`${name} is missing`);
    } else if (statSync(file).size !== bytes || (await fingerprint(file)).sha256 !== sha256) {
      problems.push(`${name} differs from the file that was backed up`);
    }
  }
  // Pages of another file than was backed up say nothing more.
  if (!problems.some((problem) => problem.startsWith(`${databaseName} `))) {
    const found = inspect(join(dir, databaseName), embedded?.nativeBinding);
    const different = Object.keys({ ...found.tables, ...manifest.tables }).filter(
      (table) => found.tables[table] !== manifest.tables[table],
    );
    problems.push(...found.problems);
    problems.push(
      ...different.map(
        (table) =>
          `table ${table} has ${found.tables[table] ?? 'no'} rows instead of ${manifest.tables[table] ?? 'none'}`,
      ),
    );
  }
  if (problems.length > 0) {
    throw damaged(dir, problems.join('; '));
  }
  return manifest;
}

/** The keys inside a backup, when it was made with them; sealed ones need the passphrase. */
export function keysIn(
  dir: string,
  { files }: Manifest,
  passphrase: string | undefined,
): Buffer | undefined {
  const has = (key: string): boolean => files.some(({ name }) => name === key);
  if (has(keyName)) {
    return readFileSync(join(dir, keyName));
  }
  if (!has(sealedKeyName)) {
    return undefined;
  }
  if (passphrase === undefined) {
    throw errors.passphrase_needed();
  }
  return openKeys(readFileSync(join(dir, sealedKeyName)), passphrase);
}

function assertSound({ problems }: Inspection, where: string): void {
  if (problems.length > 0) {
    throw damaged(where, problems.join('; '));
  }
}

/** Copies the database in a thread: the copy blocks its thread, and svc may be serving. */
function copyDatabase(from: string, to: string, product: Product): Promise<Inspection> {
  const nativeBinding = product.embedded?.nativeBinding;
  const workerData: BackupData = { from, to, nativeBinding };
  const entry = fileURLToPath(new URL('./backup-worker.ts', import.meta.url));
  const worker = startThread(product, entry, workerData);
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) =>
      reject(errors.copy_failed({ cause: messageOf(error) }, { cause: error })),
    );
    worker.once('exit', () => reject(errors.thread_ended()));
  });
}
