import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

import type { Bundle, BundleSources } from './bundle.ts';

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

/** A file that changed this shortly before the bundle was begun may have changed again since it was read. */
const settledMs = 1_000;

/** The bundle that was made of exactly these files before; undefined when any of them is not what it was. */
export function cachedBundle(sources: BundleSources, key: string): Pick<Bundle, 'code' | 'inputs'> | undefined {
  const file = fileOf(sources, key);
  if (file === undefined) {
    return undefined;
  }
  try {
    const text = readFileSync(file, 'utf8');
    const end = text.indexOf('\n');
    const head = JSON.parse(text.slice(0, end)) as Head;
    const code = text.slice(end + 1);
    const same = head.key === key && head.code === sha256(code) && head.inputs.every(isUnchanged);
    return same ? { code, inputs: head.inputs.map(({ path }) => path).filter((path) => !path.endsWith(lockName)) } : undefined;
  } catch {
    // Not there, or not readable as one: it is made anew.
    return undefined;
  }
}

export function keepBundle(sources: BundleSources, key: string, { code, inputs }: Bundle, began: number): void {
  const file = fileOf(sources, key);
  // Only what lies in the installation: a folder that comes and goes would leave a bundle behind each time.
  if (file === undefined || !inputs[0]?.startsWith(sources.root + sep)) {
    return;
  }
  const draft = `${file}.${process.pid}`;
  try {
    // With the lockfile, because another version of the bundler writes another text.
    const stamped = [...inputs, join(sources.root, lockName)].map((path) => ({ path, stats: statSync(path), sha256: sha256(readFileSync(path)) }));
    if (stamped.some(({ stats }) => stats.ctimeMs > began - settledMs)) {
      return;
    }
    const head: Head = { key, code: sha256(code), inputs: stamped.map(({ path, stats, sha256: hash }) => ({ path, stamp: stampOf(stats), sha256: hash })) };
    // For whoever runs svc from this installation, an agent with a user of its own among them, whatever the mask of this one.
    if (mkdirSync(sources.cacheDir!, { recursive: true }) !== undefined) {
      chmodSync(sources.cacheDir!, 0o755);
    }
    writeFileSync(draft, `${JSON.stringify(head)}\n${code}`);
    chmodSync(draft, 0o644);
    renameSync(draft, file);
  } catch {
    // An installation that is read-only or full: every start bundles, as it always could.
    discard(draft);
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
const fileOf = ({ cacheDir }: BundleSources, key: string): string | undefined =>
  cacheDir === undefined ? undefined : join(cacheDir, `${sha256(key).slice(0, 32)}.bundle`);

/** By its times, at a tenth of the cost of reading; by its content when those differ, as after a fresh checkout. */
function isUnchanged({ path, stamp, sha256: hash }: Input): boolean {
  return stampOf(statSync(path)) === stamp || sha256(readFileSync(path)) === hash;
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
