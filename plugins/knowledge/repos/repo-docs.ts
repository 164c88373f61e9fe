import type { Clock, Tables } from 'svc/sdk';

import { titleOf } from '../documents/doc-path.ts';
import { DocStore } from '../documents/doc-store.ts';
import { tagsOf } from '../documents/library.ts';
import { textOf } from '../documents/plain-text.ts';
import type { DocRow, KnowledgeTables, RepoRow } from '../documents/tables.ts';
import type { Skips, TreeFile } from './tree-listing.ts';

/** Changes needed to make the documents match the branch. */
export interface DocPlan {
  readonly added: readonly TreeFile[];
  readonly changed: readonly { readonly doc: DocRow; readonly file: TreeFile }[];
  readonly moved: readonly { readonly doc: DocRow; readonly file: TreeFile }[];
  readonly removed: readonly DocRow[];
  readonly unchanged: number;
}

export interface RepoDocsParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly clock: Clock;
  readonly keepVersions: () => number;
  /** Called after each commit. */
  readonly changed: () => void;
}

/** Documents of one transaction: it must end within its deadline on a machine that is busy, too. */
const writtenAtOnce = 25;
const lfs = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\r?\n/;

/** Documents of repositories: what a sync makes of them. */
export class RepoDocs {
  readonly #parts: RepoDocsParts;

  constructor(parts: RepoDocsParts) {
    this.#parts = parts;
  }

  /** Returns the documents of a repository by path. */
  async of({ id }: RepoRow): Promise<Map<string, DocRow>> {
    const docs = await new DocStore(this.#parts.tables.read).of('repo', id);
    return new Map(docs.map((doc) => [doc.path, doc]));
  }

  /**
   * Plans by git's content hashes, so that unchanged files are not read again; a moved file stays
   * the same document.
   */
  async plan(repo: RepoRow, files: readonly TreeFile[]): Promise<DocPlan> {
    const { mount } = repo;
    const before = await this.of(repo);
    const fresh: TreeFile[] = [];
    const changed: { doc: DocRow; file: TreeFile }[] = [];
    let unchanged = 0;
    for (const file of files) {
      const path = `${mount}/${file.path}`;
      const doc = before.get(path);
      before.delete(path);
      if (doc === undefined) {
        fresh.push(file);
      } else if (doc.origin_digest === file.oid) {
        unchanged++;
      } else {
        changed.push({ doc, file });
      }
    }
    const gone = new Map([...before.values()].map((doc) => [doc.origin_digest, doc]));
    const moved = fresh.flatMap((file) => {
      const doc = gone.get(file.oid);
      gone.delete(file.oid);
      return doc === undefined ? [] : [{ doc, file }];
    });
    const kept = new Set(moved.map(({ doc }) => doc.id));
    const places = new Set(moved.map(({ file }) => file));
    return {
      added: fresh.filter((file) => !places.has(file)),
      changed,
      moved,
      removed: [...before.values()].filter(({ id: doc }) => !kept.has(doc)),
      unchanged,
    };
  }

  async move(repo: RepoRow, moved: DocPlan['moved'], skips: Skips): Promise<void> {
    await this.#writeAll(moved, async (store, part) => {
      for (const { doc, file } of part) {
        const path = `${repo.mount}/${file.path}`;
        if ((await store.taken(path, repo.org_id)) === undefined) {
          await store.place(doc, { path }, this.#parts.clock.now());
        } else {
          skips.add('path_taken', file.path);
          await store.remove(doc.id);
        }
      }
    });
  }

  /** Stores files with their content, several per step; returns how many became new documents. */
  async put(
    repo: RepoRow,
    files: readonly {
      readonly file: TreeFile;
      readonly doc?: DocRow | undefined;
      readonly bytes: Uint8Array | undefined;
    }[],
    by: string,
    skips: Skips,
  ): Promise<number> {
    let added = 0;
    await this.#writeAll(files, async (store, part) => {
      for (const { file, doc, bytes } of part) {
        const content = contentOf(file, bytes, skips);
        const path = `${repo.mount}/${file.path}`;
        if (content === undefined) {
          await (doc && store.remove(doc.id));
        } else if (doc !== undefined) {
          const size = Buffer.byteLength(content);
          const next = {
            title: titleOf(content, path),
            tags: doc.tags,
            content,
            size_bytes: size,
            source: 'repo',
            origin_digest: file.oid,
          } as const;
          const { version } = await store.edit(doc, next, by, this.#parts.clock.now());
          await store.forgetVersions(doc.id, version, this.#parts.keepVersions());
        } else if ((await store.taken(path, repo.org_id)) === undefined) {
          const place = {
            path,
            source: 'repo',
            repo_id: repo.id,
            org_id: repo.org_id,
            of_devices: 0,
          } as const;
          const text = {
            title: titleOf(content, path),
            tags: tagsOf([]),
            content,
            size_bytes: Buffer.byteLength(content),
          };
          await store.insert(
            { ...place, ...text, origin_digest: file.oid, created_by: by },
            Math.ceil(this.#parts.clock.now()),
          );
          added++;
        } else {
          skips.add('path_taken', file.path);
        }
      }
    });
    return added;
  }

  async remove(docs: readonly Pick<DocRow, 'id'>[]): Promise<void> {
    await this.#writeAll(docs, async (store, part) => {
      for (const { id } of part) {
        await store.remove(id);
      }
    });
  }

  async removeAll(repo: number): Promise<number> {
    const docs = await new DocStore(this.#parts.tables.read).of('repo', repo);
    await this.remove(docs);
    return docs.length;
  }

  async #writeAll<T>(
    all: readonly T[],
    work: (store: DocStore, part: readonly T[]) => Promise<void>,
  ): Promise<void> {
    for (let at = 0; at < all.length; at += writtenAtOnce) {
      await this.#parts.tables.write((tx) =>
        work(new DocStore(tx), all.slice(at, at + writtenAtOnce)),
      );
      this.#parts.changed();
    }
  }
}

/** Returns the content if it is text. */
function contentOf(
  { path }: TreeFile,
  bytes: Uint8Array | undefined,
  skips: Skips,
): string | undefined {
  if (bytes === undefined) {
    skips.add('missing', path);
    return undefined;
  }
  const text = textOf(bytes)?.replace(/^\uFEFF/, '');
  if (text === undefined || text.includes('\0')) {
    skips.add('not_text', path);
    return undefined;
  }
  if (lfs.test(text)) {
    skips.add('lfs_pointer', path);
    return undefined;
  }
  return text;
}
