import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { messageOf } from 'svc/sdk';

export interface DropInRoot {
  readonly kind: 'persona' | 'skill';
  readonly path: string;
}

export interface FoundFile {
  readonly file: string;
  /** Name until its header is known: the file's name without `.md`, or the folder's. */
  readonly name: string;
  /** Differs whenever the content may. */
  readonly stamp: string;
}

export interface Scan {
  /** Files sorted by name; undefined if the folder cannot be read at the moment. */
  readonly found: readonly FoundFile[] | undefined;
  readonly problem: string | undefined;
  /** Names of entries that are neither a persona nor a skill, though they are where those are expected. */
  readonly ignored: readonly string[];
}

const maxFiles = 2_000;

/** Looks for `*.md` in a folder of personas, for folders with a `SKILL.md` in one of skills. Reads no file. */
export async function scan(root: DropInRoot): Promise<Scan> {
  let entries: Dirent[];
  try {
    entries = await readdir(root.path, { withFileTypes: true });
  } catch (error) {
    return isMissing(error)
      ? { found: [], problem: undefined, ignored: [] }
      : {
          found: undefined,
          problem: `${root.path}: cannot be read (${messageOf(error)})`,
          ignored: [],
        };
  }
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const expected = visible.filter(root.kind === 'skill' ? isFolder : isMarkdown);
  const files = expected
    .map((entry) =>
      root.kind === 'skill' ? join(root.path, entry.name, 'SKILL.md') : join(root.path, entry.name),
    )
    .sort();
  const listed = files.slice(0, maxFiles);
  const found = await Promise.all(listed.map((file) => stamped(root, file)));
  const missing = new Set(listed.filter((_, index) => found[index] === undefined));
  // A name in another encoding is listed with this sign, and cannot be opened under it.
  const unnamed = listed.find(
    (file, index) => found[index] === undefined && file.includes('\uFFFD'),
  );
  return {
    found: found.filter((file) => file !== undefined),
    problem:
      unnamed !== undefined
        ? `${root.path}: the name of ${unnamed} is not UTF-8, so the file cannot be read; rename it`
        : files.length > maxFiles
          ? `${root.path}: contains ${files.length} files; only the first ${maxFiles} by name are read, remove some`
          : undefined,
    ignored: [
      ...visible.filter((entry) => !expected.includes(entry) && !isUsual(root, entry)),
      ...(root.kind === 'skill'
        ? expected.filter(({ name }) => missing.has(join(root.path, name, 'SKILL.md')))
        : []),
    ].map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`),
  };
}

/** Returns whether nobody would take an entry for a persona or a skill. */
const isUsual = ({ kind }: DropInRoot, { name }: Dirent): boolean =>
  /[~#]$|\.(?:tmp|new|swp|partial)$|^node_modules$/.test(name) ||
  (kind === 'skill' && /^(?:readme|license)(?:\..+)?$/i.test(name));

const isMarkdown = (entry: Dirent): boolean => entry.name.endsWith('.md') && !entry.isDirectory();

/**
 * Returns whether an entry is a folder; a link counts, so that the listing can say why it is
 * refused.
 */
const isFolder = (entry: Dirent): boolean =>
  (entry.isDirectory() || entry.isSymbolicLink()) && entry.name !== 'node_modules';

async function stamped({ kind }: DropInRoot, file: string): Promise<FoundFile | undefined> {
  const name = kind === 'skill' ? basename(dirname(file)) : basename(file, '.md');
  try {
    const stats = await lstat(file, { bigint: true });
    return {
      file,
      name,
      stamp: [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':'),
    };
  } catch (error) {
    return isMissing(error) ? undefined : { file, name, stamp: messageOf(error) };
  }
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
