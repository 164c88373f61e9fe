import type { KnowledgeShelf, ShelvedDocument } from 'svc/contracts/knowledge';
import type { Clock, Tables } from 'svc/sdk';

import { docPath, titleOf } from './doc-path.ts';
import { DocStore } from './doc-store.ts';
import { errors } from './errors.ts';
import { sizeOf, tagsOf } from './library.ts';
import type { KnowledgeTables } from './tables.ts';

/** Origin of documents that nobody writes here: the vault, another plugin, or one repository. */
export interface Origin {
  readonly source: 'repo' | 'vault';
  /** Folder that contains all of them, if it has one. */
  readonly folder?: string;
  /** Id of the repository. */
  readonly repoId: number | null;
  /** Organization whose members may read them; null means everybody. */
  readonly orgId: number | null;
  /** True if they contain observations about devices. */
  readonly ofDevices: boolean;
  /** Author of versions: `the vault`, or the address of the repository. */
  readonly by: string;
  /** Number of versions kept of each. */
  readonly keepVersions: number;
}

/** Current file of an origin. */
export interface SourcedFile {
  /** Path of the document. */
  readonly path: string;
  readonly content: string;
  /** Another one means other content, title or tags. */
  readonly digest: string;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Path that an origin could not have, because a person's document is there. */
export interface KeptDoc {
  readonly path: string;
  readonly doc_id: number;
}

export interface Replaced {
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly kept: readonly KeptDoc[];
}

export interface KnownFile {
  readonly id: number;
  readonly digest: string;
}

interface SourcedDocsParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly clock: Clock;
  /** Called after the commit of every change. */
  readonly changed: () => void;
}

/**
 * Documents that an origin outside owns: read-only here, replaced file by file as they change there. Who reads thousands of files
 * puts them in parts; each part is one transaction, and what was not named stays as it is.
 */
export class SourcedDocs {
  readonly #parts: SourcedDocsParts;

  constructor(parts: SourcedDocsParts) {
    this.#parts = parts;
  }

  /**
   * Returns the known documents of an origin by path: one with the same digest need not be read
   * again.
   */
  async known({ source, repoId, folder }: Origin): Promise<ReadonlyMap<string, KnownFile>> {
    const rows = await new DocStore(this.#parts.tables.read).of(source, repoId);
    const own = rows.filter(({ path }) => folder === undefined || path.startsWith(`${folder}/`));
    return new Map(
      own.map(({ path, id, origin_digest: digest }) => [path, { id, digest: digest ?? '' }]),
    );
  }

  /**
   * Adds files and removes paths, all or none; a person's document at one of the paths stays, and
   * is reported.
   */
  async replace(
    origin: Origin,
    files: readonly SourcedFile[],
    removed: readonly string[] = [],
  ): Promise<Replaced> {
    const kept: KeptDoc[] = [];
    const counts = { added: 0, updated: 0, unchanged: 0, removed: 0 };
    await this.#parts.tables.write(async (tx) => {
      const store = new DocStore(tx);
      for (const path of removed) {
        const doc = await store.taken(path, origin.orgId);
        if (doc !== undefined && doc.source === origin.source && doc.repo_id === origin.repoId) {
          await store.remove(doc.id);
          counts.removed += 1;
        }
      }
      for (const file of files) {
        const outcome = await this.#put(store, origin, file);
        if (typeof outcome === 'string') {
          counts[outcome] += 1;
        } else {
          kept.push(outcome);
        }
      }
    });
    if (counts.added + counts.updated + counts.removed > 0) {
      this.#parts.changed();
    }
    return { ...counts, kept };
  }

  /** Every document of an origin leaves with it. */
  async drop(origin: Origin): Promise<number> {
    const { removed } = await this.replace(origin, [], [...(await this.known(origin)).keys()]);
    return removed;
  }

  async #put(
    store: DocStore,
    origin: Origin,
    file: SourcedFile,
  ): Promise<'added' | 'updated' | 'unchanged' | KeptDoc> {
    const { source, repoId, orgId, ofDevices, by, keepVersions } = origin;
    const path = docPath(file.path);
    const doc = {
      title: file.title ?? titleOf(file.content, path),
      tags: tagsOf(file.tags ?? []),
      content: file.content,
      size_bytes: sizeOf(file.content),
    };
    const before = await store.taken(path, orgId);
    if (before === undefined) {
      const place = {
        path,
        source,
        repo_id: repoId,
        org_id: orgId,
        of_devices: Number(ofDevices),
        origin_digest: file.digest,
        created_by: by,
      };
      await store.insert({ ...doc, ...place }, this.#parts.clock.now());
      return 'added';
    }
    if (before.source !== source || before.repo_id !== repoId) {
      return { path, doc_id: before.id };
    }
    if (before.origin_digest === file.digest) {
      return 'unchanged';
    }
    const { version } = await store.edit(
      before,
      { ...doc, source, origin_digest: file.digest },
      by,
      this.#parts.clock.now(),
    );
    await store.forgetVersions(before.id, version, keepVersions);
    return 'updated';
  }
}

/** Max changes of one transaction, so that none blocks others. */
const atOnce = 25;

/** Folders that other plugins fill; for people they are read-only like the vault, until copied. */
export class Shelf implements KnowledgeShelf {
  readonly #docs: SourcedDocs;

  constructor(docs: SourcedDocs) {
    this.#docs = docs;
  }

  async marks(folder: string): Promise<ReadonlyMap<string, string>> {
    const known = await this.#docs.known(originOf(folder));
    return new Map([...known].map(([path, { digest }]) => [path.slice(folder.length + 1), digest]));
  }

  async put(
    folder: string,
    documents: readonly ShelvedDocument[],
    removed: readonly string[] = [],
  ): Promise<void> {
    const origin = originOf(folder);
    const files = documents.map(({ name, mark, ...file }) => ({
      ...file,
      path: `${folder}/${name}`,
      digest: mark,
    }));
    for (let from = 0; from === 0 || from < files.length; from += atOnce) {
      const gone = from === 0 ? removed.map((name) => `${folder}/${name}`) : [];
      await this.#docs.replace(origin, files.slice(from, from + atOnce), gone);
    }
  }
}

function originOf(folder: string): Origin {
  if (folder === 'vault' || docPath(folder) !== folder || folder.includes('/')) {
    throw errors.plugin_folder({ folder });
  }
  return {
    source: 'vault',
    folder,
    repoId: null,
    orgId: null,
    ofDevices: true,
    by: folder,
    keepVersions: 3,
  };
}
