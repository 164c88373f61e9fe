import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  createReadStream,
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
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

import type { Product } from '../../core/boot/index.ts';
import { startWorker } from '../../core/isolate/index.ts';
import { messageOf, SvcError, timestamp } from '../../core/sdk/index.ts';
import { databaseName, keyFile, syncPath, writeDurably } from '../../core/storage/index.ts';
import type { BackupData } from './backup-worker.ts';
import { isKnownName, isTelemetry, partOf, unitsOf } from './contents.ts';
import { type Inspection, inspect } from './inspection.ts';
import { openKeys, sealKeys } from './sealed-key.ts';
import { snapshotUnit } from './snapshot.ts';

export interface BackedUpFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly modified_ms?: number;
}

export interface Manifest {
  readonly created_at: string;
  readonly app_version: string;
  readonly sqlite: string;
  readonly files: readonly BackedUpFile[];
  readonly tables: Readonly<Record<string, number>>;
  /** What was there and is not in the backup; absent in backups of the database alone. */
  readonly left_out?: readonly string[];
}

export interface BackupOptions {
  readonly dataDir: string;
  /** What is being run: its version goes into the manifest, and its SQLite copies. */
  readonly product: Product;
  /** Puts the key file in; such a backup opens every secret. */
  readonly withKey?: boolean;
  /** Seals the key file that is put in. */
  readonly passphrase?: string | undefined;
  /** Besides the database: everything that plugins keep in files, all of it or all but the telemetry. */
  readonly files?: 'all' | 'no telemetry';
  /** An earlier backup on the same disk, whose files are used again where they have not changed. */
  readonly base?: string | undefined;
}

const keyName = 'secret.key';
const sealedKeyName = 'secret.key.sealed';
const manifestName = 'manifest.json';

/** Copies the data into `dir`, looks at every page of the copy, and only then gives the folder its name. */
export async function createBackup(dir: string, { dataDir, product, withKey = false, passphrase, files, base }: BackupOptions): Promise<Manifest> {
  if (existsSync(dir)) {
    throw new SvcError('conflict', `${dir} exists already: a backup needs a folder of its own`);
  }
  const draft = join(dirname(dir), `.${basename(dir)}.partial`);
  const shelter = join(dataDir, `.${basename(dir)}.copying`);
  const clear = (): void => [draft, shelter].forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  clear();
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const { copied, leftOut } = files === undefined ? { copied: [], leftOut: undefined } : await copyFiles({ dataDir, draft, shelter, product, files, base });
    // After the files: a trail that is signed in a file must not know rows that the database of the backup lacks.
    const copy = join(draft, databaseName);
    const found = await copyDatabase(join(dataDir, databaseName), copy, product);
    assertSound(found, copy);
    const keys = withKey ? [putKey(dataDir, draft, passphrase)] : [];
    const names = [databaseName, ...keys, ...copied];
    const fingerprints: BackedUpFile[] = [];
    for (const name of names) {
      fingerprints.push({ name, ...(await fingerprint(join(draft, name))), modified_ms: Math.round(statSync(join(draft, name)).mtimeMs) });
      // SQLite leaves its files readable to all, and a backup is carried out of the folder that protects it.
      chmodSync(join(draft, name), 0o600);
      syncPath(join(draft, name));
    }
    const manifest: Manifest = {
      ...{ created_at: timestamp(Date.now()), app_version: product.version, sqlite: found.sqlite, files: fingerprints, tables: found.tables },
      ...(leftOut !== undefined && { left_out: leftOut }),
    };
    new Set(copied.map((name) => dirname(join(draft, name)))).forEach(syncPath);
    writeDurably(join(draft, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
    renameSync(draft, dir);
    syncPath(dirname(dir));
    return manifest;
  } finally {
    clear();
  }
}

interface FilesToCopy extends Required<Pick<BackupOptions, 'dataDir' | 'product' | 'files'>>, Pick<BackupOptions, 'base'> {
  readonly draft: string;
  readonly shelter: string;
}

/** The files of all plugins, each in one consistent state, and the names of the parts that were asked to stay behind. */
async function copyFiles({ dataDir, draft, shelter, product, files, base }: FilesToCopy): Promise<{ copied: readonly string[]; leftOut: readonly string[] }> {
  const copied: string[] = [];
  const leftOut: string[] = [];
  const earlier = base === undefined ? () => undefined : unchangedIn(base);
  const copyOne = async (from: string, to: string): Promise<void> => assertSound(await copyDatabase(from, to, product), from);
  for (const unit of unitsOf(dataDir)) {
    const part = partOf(unit);
    if (files === 'no telemetry' && isTelemetry(part)) {
      leftOut.push(part);
    } else {
      copied.push(...(await snapshotUnit(unit, { dataDir, shelter, draft, copyDatabase: copyOne, earlier })));
    }
  }
  return { copied, leftOut };
}

/** Finds a file in an earlier backup that has the size and the time of one that is to be copied. */
function unchangedIn(base: string): (name: string, file: string) => string | undefined {
  const before = new Map(readManifest(base).files.map((file) => [file.name, file]));
  return (name, file) => {
    const { size, mtimeMs } = statSync(file);
    const old = before.get(name);
    return old?.bytes === size && old.modified_ms === Math.round(mtimeMs) ? join(base, name) : undefined;
  };
}

function putKey(dataDir: string, draft: string, passphrase: string | undefined): string {
  if (passphrase === undefined) {
    copyFileSync(keyFile(dataDir), join(draft, keyName));
    return keyName;
  }
  writeFileSync(join(draft, sealedKeyName), sealKeys(readFileSync(keyFile(dataDir)), passphrase), { mode: 0o600 });
  return sealedKeyName;
}

/** Proves that a backup is what its manifest says: every byte, every page, every count. */
export async function verifyBackup(dir: string, { embedded }: Product): Promise<Manifest> {
  const manifest = readManifest(dir);
  for (const { name, sha256, bytes } of manifest.files) {
    const file = join(dir, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      throw damaged(dir, `${name} is missing`);
    }
    if (statSync(file).size !== bytes || (await fingerprint(file)).sha256 !== sha256) {
      throw damaged(dir, `${name} is not the file that was backed up`);
    }
  }
  const found = inspect(join(dir, databaseName), embedded?.nativeBinding);
  assertSound(found, dir);
  const different = Object.keys({ ...found.tables, ...manifest.tables }).find((table) => found.tables[table] !== manifest.tables[table]);
  if (different !== undefined) {
    throw damaged(dir, `table ${different} has ${found.tables[different] ?? 'no'} rows instead of ${manifest.tables[different] ?? 'none'}`);
  }
  return manifest;
}

/** What is in a backup, as a person calls it, the largest first. */
export function partsOf({ files }: Manifest): readonly { readonly part: string; readonly files: number; readonly bytes: number }[] {
  const parts = new Map<string, { part: string; files: number; bytes: number }>();
  for (const { name, bytes } of files) {
    const part = parts.get(partOf(name)) ?? { part: partOf(name), files: 0, bytes: 0 };
    parts.set(part.part, { part: part.part, files: part.files + 1, bytes: part.bytes + bytes });
  }
  return [...parts.values()].toSorted((a, b) => b.bytes - a.bytes);
}

/** The keys inside a backup, when it was made with them; sealed ones need the passphrase. */
export function keysIn(dir: string, { files }: Manifest, passphrase: string | undefined): Buffer | undefined {
  const has = (key: string): boolean => files.some(({ name }) => name === key);
  if (has(keyName)) {
    return readFileSync(join(dir, keyName));
  }
  if (!has(sealedKeyName)) {
    return undefined;
  }
  if (passphrase === undefined) {
    throw new SvcError('invalid_argument', 'the key in this backup is sealed: give its passphrase with --passphrase-file, or restore with --without-key');
  }
  return openKeys(readFileSync(join(dir, sealedKeyName)), passphrase);
}

export async function fingerprint(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { sha256: hash.digest('hex'), bytes: statSync(file).size };
}

/** What a backup says of itself; not yet proof that it is so. */
export function readManifest(dir: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(dir, manifestName), 'utf8')) as Manifest;
  } catch (error) {
    throw new SvcError('invalid_argument', `${dir} is not a backup: its ${manifestName} cannot be read (${messageOf(error)})`, { cause: error });
  }
  const names = Array.isArray(manifest?.files) ? manifest.files.map((file) => file?.name) : [];
  if (!names.includes(databaseName) || !names.every(isKnownName) || typeof manifest.tables !== 'object' || manifest.tables === null) {
    throw damaged(dir, `${manifestName} does not list the files of a backup`);
  }
  const { left_out: leftOut = [] } = manifest;
  if (!Array.isArray(leftOut) || !leftOut.every((part) => typeof part === 'string')) {
    throw damaged(dir, `${manifestName} does not say what was left out`);
  }
  return manifest;
}

function assertSound({ problems }: Inspection, where: string): void {
  if (problems.length > 0) {
    throw damaged(where, problems.join('; '));
  }
}

function damaged(dir: string, what: string): SvcError {
  return new SvcError('conflict', `the backup ${dir} is damaged (${what}): nothing was changed; take another one`);
}

/** In a thread: the copy blocks whoever makes it, and svc may serve meanwhile. */
function copyDatabase(from: string, to: string, { thread, embedded }: Product): Promise<Inspection> {
  const workerData: BackupData = { from, to, nativeBinding: embedded?.nativeBinding };
  const text = thread?.('backup-worker');
  const worker = startWorker({ entry: fileURLToPath(new URL('./backup-worker.ts', import.meta.url)), workerData, ...(text !== undefined && { text }) });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) => reject(new SvcError('unavailable', `the backup could not be made: ${messageOf(error)}`, { cause: error })));
    worker.once('exit', () => reject(new SvcError('unavailable', 'the backup could not be made: its thread ended early')));
  });
}
