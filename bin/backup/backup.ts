import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

import type { Product } from '../../core/boot/index.ts';
import { startWorker } from '../../core/isolate/index.ts';
import { messageOf, SvcError, timestamp } from '../../core/sdk/index.ts';
import { databaseName, keyFile, syncPath, writeDurably } from '../../core/storage/index.ts';
import type { BackupData } from './backup-worker.ts';
import { type Inspection, inspect } from './inspection.ts';

export interface Manifest {
  readonly created_at: string;
  readonly app_version: string;
  readonly sqlite: string;
  readonly files: readonly { readonly name: string; readonly sha256: string; readonly bytes: number }[];
  readonly tables: Readonly<Record<string, number>>;
}

export interface BackupOptions {
  readonly dataDir: string;
  /** What is being run: its version goes into the manifest, and its SQLite copies. */
  readonly product: Product;
  /** Puts the key file in; such a backup opens every secret. */
  readonly withKey?: boolean;
}

const keyName = 'secret.key';
const manifestName = 'manifest.json';
/** Names come from a file of unknown origin; no other ones are looked at. */
const known: ReadonlySet<string> = new Set([databaseName, keyName]);

/** Copies the data into `dir`, looks at every page of the copy, and only then gives the folder its name. */
export async function createBackup(dir: string, { dataDir, product, withKey = false }: BackupOptions): Promise<Manifest> {
  if (existsSync(dir)) {
    throw new SvcError('conflict', `${dir} exists already: a backup needs a folder of its own`);
  }
  const draft = join(dirname(dir), `.${basename(dir)}.partial`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const copy = join(draft, databaseName);
    const found = await copyDatabase(join(dataDir, databaseName), copy, product);
    assertSound(found, copy);
    if (withKey) {
      copyFileSync(keyFile(dataDir), join(draft, keyName));
    }
    const names = [databaseName, ...(withKey ? [keyName] : [])];
    const files = await Promise.all(names.map(async (name) => ({ name, ...(await fingerprint(join(draft, name))) })));
    const manifest: Manifest = { created_at: timestamp(Date.now()), app_version: product.version, sqlite: found.sqlite, files, tables: found.tables };
    for (const name of names) {
      // SQLite leaves its files readable to all, and a backup is carried out of the folder that protects it.
      chmodSync(join(draft, name), 0o600);
      syncPath(join(draft, name));
    }
    writeDurably(join(draft, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
    renameSync(draft, dir);
    syncPath(dirname(dir));
    return manifest;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Proves that a backup is what its manifest says: every byte, every page, every count. */
export async function verifyBackup(dir: string, { embedded }: Product): Promise<Manifest> {
  const manifest = readManifest(dir);
  for (const { name, sha256, bytes } of manifest.files) {
    const file = join(dir, name);
    if (!existsSync(file)) {
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

/** The key file inside a backup, when it was made with it. */
export function keyIn(dir: string, manifest: Manifest): string | undefined {
  return manifest.files.some(({ name }) => name === keyName) ? join(dir, keyName) : undefined;
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
  if (!names.includes(databaseName) || !names.every((name) => known.has(name)) || typeof manifest.tables !== 'object' || manifest.tables === null) {
    throw damaged(dir, `${manifestName} does not list the files of a backup`);
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
