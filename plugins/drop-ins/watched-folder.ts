import { basename, dirname, join, sep } from 'node:path';

import { readPlainFile } from 'svc/markdown-file';

import { DropIn, type DropInStatus } from './drop-in.ts';
import { type DropInRoot, scan } from './scan.ts';

const maxBytes = 64 * 1024;

/** State of one folder of personas or skills. */
export class WatchedFolder {
  readonly #root: DropInRoot;
  #files: ReadonlyMap<string, DropIn> = new Map();
  /** Entries that were found and are neither persona nor skill. */
  #ignored: ReadonlySet<string> = new Set();
  #problem: { readonly error: string; readonly since: number } | undefined;

  constructor(root: DropInRoot) {
    this.#root = root;
  }

  /** Files sorted by name. */
  get files(): Iterable<DropIn> {
    return this.#files.values();
  }

  /** Returns whether a hint refers to this folder, something below it, or one of its parents. */
  concerns(path: string): boolean {
    return `${path}${sep}`.startsWith(`${this.#root.path}${sep}`);
  }

  /** Reads what has changed, and `paths` in any case. */
  async visit(paths: ReadonlySet<string>, now: () => number): Promise<void> {
    const { found, problem, ignored } = await scan(this.#root);
    this.#ignored = new Set(ignored);
    if (this.#problem?.error !== problem) {
      this.#problem = problem === undefined ? undefined : { error: problem, since: now() };
    }
    // A folder that cannot be read at the moment keeps its content; a deleted one has none.
    if (found) {
      const files = new Map<string, DropIn>();
      for (const { file, name, stamp } of found) {
        const dropIn =
          this.#files.get(file) ??
          new DropIn({ kind: this.#root.kind, file, name, source: 'disk' });
        if (
          !dropIn.isAt(stamp) ||
          [file, dirname(file), this.#root.path].some((path) => paths.has(path))
        ) {
          await dropIn.read(stamp, () => readPlainFile(this.#root.path, file, maxBytes), now());
        }
        files.set(file, dropIn);
      }
      this.#files = files;
    }
  }

  /** Paths in this folder that are ignored. */
  get ignored(): readonly string[] {
    return [...this.#ignored].map((name) => join(this.#root.path, name));
  }

  list(): readonly DropInStatus[] {
    return [...this.#trouble(), ...[...this.#files.values()].map((file) => file.describe())];
  }

  /** The folder itself as an entry, while it has a problem. */
  #trouble(): readonly DropInStatus[] {
    const { kind, path } = this.#root;
    return this.#problem
      ? [
          {
            kind,
            name: basename(path),
            file: path,
            state: 'broken',
            error: this.#problem.error,
            loaded_at: undefined,
            changed_at: this.#problem.since,
          },
        ]
      : [];
  }
}
