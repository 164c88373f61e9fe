import { docPath } from '../documents/doc-path.ts';
import { SyncTrouble } from './sync-trouble.ts';

/** A file that becomes a document. */
export interface TreeFile {
  /** Below the folder of the repository. */
  readonly path: string;
  readonly oid: string;
  readonly size: number;
}

export const skipReasons = [
  'submodule',
  'symlink',
  'bad_path',
  'other_type',
  'too_large',
  'lfs_pointer',
  'not_text',
  'path_taken',
  'missing',
  'other_host',
  'robots',
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Files that a sync leaves out: how many for each reason, and the first of them by name. */
export class Skips {
  readonly #counts = new Map<SkipReason, number>();
  readonly #samples: { path: string; reason: SkipReason }[] = [];

  add(reason: SkipReason, path: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    if (reason !== 'other_type' && this.#samples.length < maxSamples) {
      this.#samples.push({ path: JSON.stringify(path.slice(0, 200)).slice(1, -1), reason });
    }
  }

  get shown(): {
    readonly counts: Record<string, number>;
    readonly samples: { path: string; reason: string }[];
  } {
    return { counts: Object.fromEntries(this.#counts), samples: this.#samples };
  }
}

const maxSamples = 20;
const maxDocuments = 20_000;
export const largestFile = 1024 * 1024;
const documentName = /(?:\.(?:md|markdown|mdx|txt|rst|adoc|asciidoc|org)|(?:^|\/)README)$/i;

/** The documents in a listing of `ls-tree -z -l`; everything else is counted and never opened. */
export function documentsIn(listing: Uint8Array, mount: string, skips: Skips): readonly TreeFile[] {
  const bytes = Buffer.from(listing.buffer, listing.byteOffset, listing.byteLength);
  const files: TreeFile[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at);
    const entry = bytes.toString('utf8', at, end < 0 ? bytes.length : end);
    at = end < 0 ? bytes.length : end + 1;
    const tab = entry.indexOf('\t');
    const [mode = '', , oid = '', size = ''] = entry.slice(0, tab).split(/ +/);
    const path = entry.slice(tab + 1);
    const reason = reasonToSkip(mode, path, Number(size), mount);
    if (reason !== undefined) {
      skips.add(reason, path);
    } else if (files.push({ path, oid, size: Number(size) }) > maxDocuments) {
      throw new SyncTrouble('too_many_files', `more than ${maxDocuments}`);
    }
  }
  return files;
}

function reasonToSkip(
  mode: string,
  path: string,
  size: number,
  mount: string,
): SkipReason | undefined {
  if (mode === '160000') {
    return 'submodule';
  }
  if (mode === '120000') {
    return 'symlink';
  }
  if (!isPath(`${mount}/${path}`)) {
    return 'bad_path';
  }
  if (!documentName.test(path)) {
    return 'other_type';
  }
  return size > largestFile ? 'too_large' : undefined;
}

/** Returns whether a path is valid for a document, unchanged by normalization. */
function isPath(path: string): boolean {
  try {
    return docPath(path) === path && !path.includes('\ufffd');
  } catch {
    // The error says what is wrong; here the file is only skipped, and counted.
    return false;
  }
}
