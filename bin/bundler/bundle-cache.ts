import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

import type { Bundle } from '../../core/host/index.ts';
import { mapAt, splitMap } from '../product/stack-maps.ts';
import type { BundleSources } from './esbuild.ts';

interface Input {
  readonly path: string;
  readonly stamp: string;
  readonly sha256: string;
}

/** First line of a kept bundle; its code is the rest. */
interface Head {
  readonly key: string;
  readonly code: string;
  readonly inputs: readonly Input[];
}

/** Maps of the bundle that is kept and of those before it: a process may still run their texts. */
const keptMaps = 3;

/** A file that changed this shortly before the bundle was begun may have changed again since it was read. */
const settledMs = 1_000;

/** Returns the bundle built from exactly these files; undefined if any of them has changed. */
export function cachedBundle(
  sources: BundleSources,
  key: string,
): Pick<Bundle, 'code' | 'inputs'> | undefined {
  for (const folder of sources.cacheDirs ?? []) {
    const found = readBundle(fileOf(folder, key), key);
    if (found) {
      return found;
    }
  }
  return undefined;
}

function readBundle(file: string, key: string): Pick<Bundle, 'code' | 'inputs'> | undefined {
  try {
    const kept = readFileSync(file);
    const end = kept.indexOf('\n');
    const head = JSON.parse(kept.toString('utf8', 0, end)) as Head;
    const code = kept.toString('utf8', end + 1);
    const same = head.key === key && head.code === sha256(code) && head.inputs.every(isUnchanged);
    return same
      ? {
          code,
          inputs: head.inputs.map(({ path }) => path).filter((path) => !path.endsWith(lockName)),
        }
      : undefined;
  } catch {
    // Missing or unreadable: it is built again.
    return undefined;
  }
}

export function keepBundle(
  sources: BundleSources,
  key: string,
  { code, filename, inputs }: Bundle,
  began: number,
): void {
  // Only within the installation: a folder that comes and goes would leave a bundle behind each
  // time.
  if (!inputs[0]?.startsWith(sources.root + sep)) {
    return;
  }
  const stamped = inputsOf(sources, inputs, began);
  if (stamped) {
    (sources.cacheDirs ?? []).some((folder) =>
      writeBundle(folder, key, { code, filename }, stamped),
    );
  }
}

/** Returns the inputs of a text; undefined if any may have changed since it was read. */
function inputsOf(
  { root }: BundleSources,
  inputs: readonly string[],
  began: number,
): readonly Input[] | undefined {
  try {
    // With the lockfile, because another version of the bundler writes another text.
    const stamped = [...inputs, join(root, lockName)].map((path) => ({
      path,
      stats: statSync(path),
      sha256: sha256(readFileSync(path)),
    }));
    const settled = stamped.every(({ stats }) => stats.ctimeMs <= began - settledMs);
    return settled
      ? stamped.map(({ path, stats, sha256: hash }) => ({
          path,
          stamp: stampOf(stats),
          sha256: hash,
        }))
      : undefined;
  } catch {
    // The file has disappeared meanwhile: the next start sees what there is.
    return undefined;
  }
}

/**
 * Writes a bundle; returns whether the folder accepted it. Its map is a separate file: it is more
 * than half of the size, and only stacks read it.
 */
function writeBundle(
  folder: string,
  key: string,
  { code, filename }: Pick<Bundle, 'code' | 'filename'>,
  inputs: readonly Input[],
): boolean {
  const file = fileOf(folder, key);
  const { text, map: inline } = splitMap(code);
  const map = inline && movable(inline, filename);
  const mapFile = map === undefined ? undefined : `${file}.${sha256(map).slice(0, 16)}.map`;
  const kept = mapFile === undefined ? code : text + mapAt(mapFile);
  const head: Head = { key, code: sha256(kept), inputs };
  const isWritten =
    (mapFile === undefined || write(folder, mapFile, map!)) &&
    write(folder, file, `${JSON.stringify(head)}\n${kept}`);
  if (isWritten) {
    dropOldMaps(folder, file);
  }
  return isWritten;
}

/** Returns the map with location-independent sources: in a text they are relative to it. */
function movable(map: Buffer | string, filename: string): string {
  const parsed = JSON.parse(map.toString()) as { sources?: readonly string[] };
  const sources = parsed.sources?.map((source) =>
    source.startsWith('file:') ? source : resolve(dirname(filename), source),
  );
  return JSON.stringify({ ...parsed, ...(sources && { sources }) });
}

function dropOldMaps(folder: string, file: string): void {
  const changedAt = (path: string): number =>
    statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => path.startsWith(`${file}.`) && path.endsWith('.map'))
    .sort((a, b) => changedAt(b) - changedAt(a))
    .slice(keptMaps)
    .forEach(discard);
}

/** Writes a file; returns whether the folder accepted it: it may be read-only, or full. */
function write(folder: string, file: string, text: string | Buffer): boolean {
  const draft = `${file}.${process.pid}`;
  try {
    // For every user who runs svc from this installation, including an agent's own, whatever the
    // current umask.
    if (mkdirSync(folder, { recursive: true }) !== undefined) {
      chmodSync(folder, 0o755);
    }
    writeFileSync(draft, text);
    chmodSync(draft, 0o644);
    renameSync(draft, file);
    return true;
  } catch {
    discard(draft);
    return false;
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // Where nothing could be written there is nothing to remove.
  }
}

const lockName = 'package-lock.json';

/** One file for each bundle: a new one takes the place of the old one. */
const fileOf = (folder: string, key: string): string =>
  join(folder, `${sha256(key).slice(0, 32)}.bundle`);

/**
 * Returns whether an input is unchanged: by its times, at a tenth of the cost of reading; by its
 * content if those differ, as after a fresh checkout.
 */
function isUnchanged({ path, stamp, sha256: hash }: Input): boolean {
  return stampOf(statSync(path)) === stamp || sha256(readFileSync(path)) === hash;
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string =>
  `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
