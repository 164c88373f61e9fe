import { type Call, type Clock, type Principal, type Tables, timestamp } from 'svc/sdk';

import { docPath, titleOf } from './doc-path.ts';
import { DocStore } from './doc-store.ts';
import { errors } from './errors.ts';
import { unlimited } from './reader.ts';
import type { DocRow, KnowledgeTables, Source, WholeDoc } from './tables.ts';

/** Context of a change: the caller, what they have read, and where it is audited. */
export type ChangeCall = Pick<Call, 'principal' | 'requireMatch' | 'note'>;

export interface Draft {
  readonly path: string;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly content: string;
  readonly org_id?: number | undefined;
}

export interface Edit {
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly content?: string | undefined;
  /** The version that was read. */
  readonly version?: number | undefined;
  /** Makes a document of the vault one's own. */
  readonly adopt?: boolean | undefined;
}

/** Outcome of an import. */
export interface ImportResult {
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Paths at which another document is; the first of them. */
  readonly kept: readonly string[];
}

export interface LibraryParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly clock: Clock;
  readonly keepVersions: () => number;
  /** Called after the commit of every change. */
  readonly changed: () => void;
}

/** Max size of one document in bytes. */
export const maxBytes = 4 * 1024 * 1024;
const maxMoved = 5_000;
const importedAtOnce = 25;
const maxKept = 20;

export const actorOf = ({ email, name, kind, id }: Principal): string =>
  email ?? name ?? `${kind} ${id}`;
export const tagsOf = (tags: readonly string[]): string => JSON.stringify([...new Set(tags)]);

/** Documents that people write and change. */
export class Library {
  readonly #parts: LibraryParts;

  constructor(parts: LibraryParts) {
    this.#parts = parts;
  }

  async create(
    call: Pick<ChangeCall, 'principal' | 'note'>,
    { content, org_id, ...draft }: Draft,
    source: Source = 'manual',
  ): Promise<WholeDoc> {
    const org = org_id ?? null;
    const path = docPath(draft.path);
    const size = sizeOf(content);
    refuseForeignOrg(call.principal, org);
    assertOwn(call.principal, org);
    const by = actorOf(call.principal);
    const made = await this.#write(async (store) => {
      await assertFree(store, path, org, call.principal);
      const title = draft.title ?? titleOf(content, path);
      const place = {
        path,
        source,
        org_id: org,
        of_devices: 0,
        repo_id: null,
        origin_digest: null,
      };
      const doc = await store.insert(
        {
          ...place,
          title,
          tags: tagsOf(draft.tags ?? []),
          size_bytes: size,
          content,
          created_by: by,
        },
        this.#parts.clock.now(),
      );
      call.note({ resourceType: 'document', resourceId: doc.id, after: noted(doc) });
      return doc;
    });
    return made;
  }

  /**
   * Stores an uploaded file: a document, or with `replace` the next version of the existing upload.
   */
  async upload(call: ChangeCall, draft: Draft, replace: boolean): Promise<WholeDoc> {
    const store = new DocStore(this.#parts.tables.read);
    const before = replace
      ? await store.taken(docPath(draft.path), draft.org_id ?? null)
      : undefined;
    const own = before && (await store.find(before.id, call.principal));
    if (own?.source !== 'upload') {
      return await this.create(call, draft, 'upload');
    }
    const { content, title, tags = [] } = draft;
    // A form refers to a place and no version: it follows whatever is there now.
    const following = { principal: call.principal, note: call.note, requireMatch: () => undefined };
    return await this.edit(following, own.id, {
      content,
      title: title ?? titleOf(content, own.path),
      ...(tags.length > 0 && { tags }),
      version: own.version,
    });
  }

  /**
   * Stores the documents of an export below one folder, a few per transaction. A document that came
   * with an earlier import is updated; any other at one of the paths stays.
   */
  async importAll(
    call: ChangeCall,
    folder: string,
    drafts: readonly Draft[],
  ): Promise<ImportResult> {
    const org = drafts[0]?.org_id ?? null;
    const counts = { added: 0, updated: 0, unchanged: 0 };
    const kept: string[] = [];
    for (let at = 0; at < drafts.length; at += importedAtOnce) {
      await this.#write(async (store) => {
        for (const draft of drafts.slice(at, at + importedAtOnce)) {
          const outcome = await this.#take(call, store, draft, org);
          if (outcome === 'kept') {
            kept.push(draft.path);
          } else {
            counts[outcome] += 1;
          }
        }
      });
    }
    call.note({
      resourceType: 'folder',
      resourceId: folder,
      after: { imported: drafts.length, ...counts, kept: kept.length },
    });
    return { ...counts, kept: kept.slice(0, maxKept) };
  }

  async #take(
    { principal }: ChangeCall,
    store: DocStore,
    { path, content, title, tags = [] }: Draft,
    org: number | null,
  ): Promise<'added' | 'updated' | 'unchanged' | 'kept'> {
    const by = actorOf(principal);
    const now = this.#parts.clock.now();
    const after = {
      title: title ?? titleOf(content, path),
      tags: tagsOf(tags),
      content,
      source: 'upload' as const,
      size_bytes: sizeOf(content),
      origin_digest: null,
    };
    const holder = await store.taken(path, org);
    if (holder === undefined) {
      const place = { path, org_id: org, of_devices: 0, repo_id: null, created_by: by };
      await store.insert({ ...after, ...place }, now);
      return 'added';
    }
    const before = holder.source === 'upload' ? await store.whole(holder.id, principal) : undefined;
    if (before === undefined) {
      return 'kept';
    }
    if (before.content === content && before.title === after.title) {
      return 'unchanged';
    }
    const { version } = await store.edit(before, { ...after, tags: before.tags }, by, now);
    await store.forgetVersions(before.id, version, this.#parts.keepVersions());
    return 'updated';
  }

  async edit(call: ChangeCall, id: number, edit: Edit): Promise<WholeDoc> {
    const by = actorOf(call.principal);
    return await this.#write(async (store) => {
      const before = await changeable(store, id, call);
      if (edit.version !== undefined && edit.version !== before.version) {
        throw errors.stale_edit({ version: before.version, editVersion: edit.version });
      }
      const source = editable(before, edit.adopt === true);
      const content = edit.content ?? before.content;
      const after = {
        title:
          edit.title ??
          (edit.content !== undefined && before.title === titleOf(before.content, before.path)
            ? titleOf(content, before.path)
            : before.title),
        tags: edit.tags === undefined ? before.tags : tagsOf(edit.tags),
        content,
        source,
        size_bytes: sizeOf(content),
        origin_digest: null,
      };
      const isSame =
        after.title === before.title &&
        after.tags === before.tags &&
        content === before.content &&
        source === before.source;
      const doc = isSame ? before : await store.edit(before, after, by, this.#parts.clock.now());
      await store.forgetVersions(id, doc.version, this.#parts.keepVersions());
      call.note({
        resourceType: 'document',
        resourceId: id,
        before: noted(before),
        after: noted(doc),
      });
      return doc;
    });
  }

  async move(call: ChangeCall, id: number, to: string): Promise<DocRow> {
    const path = docPath(to);
    return await this.#write(async (store) => {
      const before = await changeable(store, id, call);
      editable(before, false);
      if (path === before.path) {
        return before;
      }
      await assertFree(store, path, before.org_id, call.principal);
      call.note({
        resourceType: 'document',
        resourceId: id,
        before: { path: before.path },
        after: { path },
      });
      return await store.place(before, { path }, this.#parts.clock.now());
    });
  }

  /** A folder with all below it, in one step; resolves with how many documents that were. */
  async moveFolder(call: ChangeCall, from: string, to: string): Promise<number> {
    const [source, target] = [docPath(from), docPath(to)];
    if (target === source || target.startsWith(`${source}/`)) {
      throw errors.move_into_itself({ source, target });
    }
    return await this.#write(async (store) => {
      const found = await store.beneath(source, call.principal);
      if (found.length === 0) {
        throw errors.no_folder({ source });
      }
      if (found.length > maxMoved) {
        throw errors.too_many_to_move({ source, count: found.length, maxMoved });
      }
      const moving = new Set(found.map(({ id }) => id));
      const there = new Set(
        (await store.beneath(target, unlimited)).filter(({ id }) => !moving.has(id)).map(placeOf),
      );
      for (const doc of found) {
        assertOwn(call.principal, doc.org_id);
        editable(doc, false);
        const path = docPath(target + doc.path.slice(source.length));
        if (there.has(placeOf({ ...doc, path }))) {
          await assertFree(store, path, doc.org_id, call.principal);
        }
      }
      await store.placeAll([...moving], source, target, this.#parts.clock.now());
      call.note({
        resourceType: 'folder',
        resourceId: source,
        before: { path: source },
        after: { path: target, documents: found.length },
      });
      return found.length;
    });
  }

  async remove(call: ChangeCall, id: number): Promise<void> {
    await this.#write(async (store) => {
      const before = await changeable(store, id, call);
      editable(before, false);
      call.note({ resourceType: 'document', resourceId: id, before: noted(before) });
      await store.remove(id);
    });
  }

  async #write<R>(work: (store: DocStore) => Promise<R>): Promise<R> {
    const result = await this.#parts.tables.write((tx) => work(new DocStore(tx)));
    this.#parts.changed();
    return result;
  }
}

/** Throws not_found as for one that never was when the reader may not see it. */
export async function existing(store: DocStore, id: number, reader: Principal): Promise<WholeDoc> {
  const doc = await store.whole(id, reader);
  if (!doc) {
    throw errors.unknown_document({ id });
  }
  return doc;
}

/** Returns the version that its caller has read; throws for one that they may not change. */
async function changeable(
  store: DocStore,
  id: number,
  { principal, requireMatch }: ChangeCall,
): Promise<WholeDoc> {
  const doc = await existing(store, id, principal);
  requireMatch({ updated_at: timestamp(doc.updated_at) });
  assertOwn(principal, doc.org_id);
  return doc;
}

/**
 * Throws if a user with access to some devices writes a document for everybody: it would reveal
 * these to all others.
 */
export function assertOwn({ selectors }: Principal, org: number | null): void {
  if (org === null && selectors !== undefined) {
    throw errors.house_wide();
  }
}

/** The source that a document has after a person changed it; throws for what only its origin changes. */
function editable({ source, id }: DocRow, adopt: boolean): Source {
  if (source === 'repo') {
    throw errors.of_repository({ id });
  }
  if (source === 'vault' && !adopt) {
    throw errors.of_vault({ id });
  }
  return source === 'vault' ? 'manual' : source;
}

/** Each organization has a tree of its own. */
const placeOf = ({ org_id, path }: Pick<DocRow, 'org_id' | 'path'>): string =>
  `${org_id ?? 0} ${path}`;

/**
 * Throws if the path is taken in the same organization; the name of a document that the caller may
 * not see is not revealed.
 */
async function assertFree(
  store: DocStore,
  path: string,
  org: number | null,
  principal: Principal,
): Promise<void> {
  const holder = await store.taken(path, org);
  if (holder) {
    const seen = await store.find(holder.id, principal);
    throw errors.path_taken({ path, detail: seen ? `, number ${holder.id}` : '' });
  }
}

export function refuseForeignOrg({ orgs }: Principal, org: number | null): void {
  if (org !== null && orgs !== undefined && !orgs.includes(org)) {
    throw errors.no_organization({ org });
  }
}

/** Returns the size of a text; throws if it cannot be stored unchanged. */
export function sizeOf(content: string): number {
  const size = Buffer.byteLength(content);
  if (size > maxBytes) {
    throw errors.document_too_large({ size, maxBytes });
  }
  if (/\p{Surrogate}/u.test(content)) {
    throw errors.lone_surrogate();
  }
  return size;
}

const noted = ({ path, title, tags, version, org_id, source }: DocRow) => ({
  path,
  title,
  tags: JSON.parse(tags) as string[],
  version,
  org_id,
  source,
});
