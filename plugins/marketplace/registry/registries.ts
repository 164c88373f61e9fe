import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type Clock, type Logger, messageOf, type PluginContext } from 'svc/sdk';

import { isSecure, refuseUser } from './address.ts';
import { errors } from './errors.ts';
import { type Offer, readIndex, type RegistryContent } from './registry-index.ts';
import type { RegistryStore } from './registry-store.ts';
import { publicKeyOf } from './signature.ts';
import { knownAfter, signedList } from './signed-list.ts';
import type { RegistryRow } from './tables.ts';

export interface RegistriesParts {
  readonly store: RegistryStore;
  /** Folder of the packs that come with svc, where this build has one. */
  readonly shipped: string;
  readonly fetch: PluginContext['fetch'];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Found {
  readonly registry: string;
  readonly offer: Offer;
}

/** Name of the registry of packs that ship with svc. */
export const shippedName = 'shipped';
const maxBytes = 8 * 1024 * 1024;
const timeoutMs = 20_000;
/** Names of index files in a folder. */
const indexFiles = ['index.json', '.claude-plugin/marketplace.json', 'marketplace.json'];

/**
 * Registries of packs: addresses of indexes, local folders and files; read when added, and again in
 * the background.
 */
export class Registries {
  readonly #parts: RegistriesParts;
  /** Parsed indexes by content, so that a large one is parsed once. */
  readonly #parsed = new Map<
    string,
    { readonly text: string; readonly content: RegistryContent }
  >();

  #own: RegistryRow | undefined;

  constructor(parts: RegistriesParts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly RegistryRow[]> {
    const shipped = this.#shipped();
    return [...(shipped === undefined ? [] : [shipped]), ...(await this.#parts.store.all())];
  }

  async existing(name: string): Promise<RegistryRow> {
    const row = name === shippedName ? this.#shipped() : await this.#parts.store.find(name);
    if (row === undefined) {
      throw errors.no_registry({ name });
    }
    return row;
  }

  /** Adds a registry after reading it: an unreachable address is not stored. */
  async add({
    name,
    address,
    key,
    by,
  }: {
    name: string;
    address: string;
    key: string | undefined;
    by: string;
  }): Promise<RegistryRow> {
    if (!isSecure(address) && !address.startsWith('/')) {
      throw errors.registry_address();
    }
    refuseUser(address);
    if (key !== undefined) {
      publicKeyOf(key);
    }
    const { clock, store } = this.#parts;
    const now = clock.now();
    const empty: RegistryRow = {
      name,
      address,
      public_key: key ?? null,
      content: null,
      known: null,
      etag: null,
      error: null,
      refreshed_at: now,
      added_by: by,
      added_at: now,
    };
    const read = await this.#read(empty);
    const row = { ...empty, ...read };
    if (name === shippedName || !(await store.add(row))) {
      throw errors.registry_there({ name });
    }
    return row;
  }

  /** Ensures a registry, replacing one of the same name that differs. */
  async have(wanted: {
    name: string;
    address: string;
    key: string | undefined;
    by: string;
  }): Promise<RegistryRow> {
    const found =
      wanted.name === shippedName
        ? await this.existing(wanted.name)
        : await this.#parts.store.find(wanted.name);
    if (found?.address === wanted.address && found.public_key === (wanted.key ?? null)) {
      return found;
    }
    if (found !== undefined) {
      await this.remove(wanted.name);
    }
    try {
      return await this.add(wanted);
    } catch (error) {
      if (found !== undefined) {
        await this.#parts.store.add(found);
      }
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.existing(name);
    if (name === shippedName) {
      throw errors.registry_shipped({ name });
    }
    await this.#parts.store.remove(name);
    this.#parsed.delete(name);
  }

  /** Reads a registry again; keeps its earlier content if that fails. */
  async refresh(name: string): Promise<RegistryRow> {
    const row = await this.existing(name);
    if (name === shippedName) {
      return row;
    }
    const { clock, store } = this.#parts;
    try {
      const read = await this.#read(row);
      this.#refuseStale({ ...row, ...read });
      await store.update(name, { ...read, error: null, refreshed_at: clock.now() });
    } catch (error) {
      await store.update(name, { error: messageOf(error), refreshed_at: clock.now() });
    }
    return await this.existing(name);
  }

  async refreshAll(signal: AbortSignal): Promise<void> {
    for (const { name } of await this.#parts.store.all()) {
      if (signal.aborted) {
        return;
      }
      const { error } = await this.refresh(name);
      if (error !== null) {
        this.#parts.log.warn(
          { event: 'marketplace.registry_not_read', registry: name, cause: error },
          'failed to read a registry; keeping its previous list',
        );
      }
    }
  }

  content(row: RegistryRow): RegistryContent {
    const text = row.content ?? '{"packs":[],"version":1}';
    const known = this.#parsed.get(row.name);
    if (known?.text === text) {
      return known.content;
    }
    const content = readIndex(text, row.address);
    this.#parsed.set(row.name, { text, content });
    return content;
  }

  /** Offers whose words have all of those that were asked for; without any, all of them. */
  async search(query: string, registry: string | undefined): Promise<readonly Found[]> {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = registry === undefined ? await this.list() : [await this.existing(registry)];
    return rows.flatMap((row) =>
      this.content(row).offers.flatMap((offer) => {
        const text =
          `${offer.name} ${offer.title} ${offer.description} ${offer.publisher}`.toLowerCase();
        return words.every((word) => text.includes(word)) ? [{ registry: row.name, offer }] : [];
      }),
    );
  }

  async offer(
    registry: string,
    name: string,
  ): Promise<{ readonly row: RegistryRow; readonly offer: Offer }> {
    const row = await this.existing(registry);
    this.#refuseStale(row);
    const offer = this.content(row).offers.find((one) => one.name === name);
    if (offer === undefined) {
      throw errors.no_offer({ registry, name });
    }
    return { row, offer };
  }

  /** Throws once the signed validity of a list is over: somebody may hold back the next one. */
  #refuseStale({ name, content, public_key: key }: RegistryRow): void {
    const list = key === null || content === null ? undefined : signedList(name, content, key);
    if (list !== undefined && list.validUntil < this.#parts.clock.now()) {
      throw errors.list_stale({ name, until: new Date(list.validUntil).toISOString() });
    }
  }

  /** Returns the shipped registry, read once: it changes only with svc. */
  #shipped(): RegistryRow | undefined {
    const { shipped, clock } = this.#parts;
    if (this.#own === undefined && existsSync(join(shipped, indexFiles[1]!))) {
      const [content, at] = [readFileSync(indexOf(shipped), 'utf8'), clock.now()];
      this.#own = {
        name: shippedName,
        address: shipped,
        public_key: null,
        content,
        known: null,
        etag: null,
        error: null,
        refreshed_at: at,
        added_by: 'svc',
        added_at: at,
      };
    }
    return this.#own;
  }

  async #read({
    name,
    address,
    etag,
    content,
    known,
    public_key: key,
  }: RegistryRow): Promise<Pick<RegistryRow, 'content' | 'known' | 'etag'>> {
    const lists = { name, address, key, before: content, known };
    if (address.startsWith('/')) {
      const text = readFileSync(indexOf(address), 'utf8');
      readIndex(text, address);
      return { content: text, known: knownAfter({ ...lists, after: text }), etag: null };
    }
    const reply = await this.#parts.fetch(address, {
      headers: { accept: 'application/json', ...(etag !== null && { 'if-none-match': etag }) },
      maxBytes,
      timeoutMs,
      redirects: 3,
    });
    if (!isSecure(reply.url)) {
      throw errors.registry_insecure();
    }
    if (reply.status === 304 && etag !== null) {
      return { content, known, etag };
    }
    if (reply.status !== 200) {
      throw errors.registry_answer({ status: reply.status });
    }
    const text = Buffer.from(reply.body).toString('utf8');
    readIndex(text, address);
    return {
      content: text,
      known: knownAfter({ ...lists, after: text }),
      etag: reply.headers['etag'] ?? null,
    };
  }
}

/** The file of the index: a path may name it, or a folder that has it. */
function indexOf(path: string): string {
  const file = [path, ...indexFiles.map((name) => join(path, name))].find(
    (one) => existsSync(one) && statSync(one).isFile(),
  );
  const size = file === undefined ? 0 : statSync(file).size;
  // Files of the kernel say that they are empty, and reading one may wait for ever.
  if (file === undefined || size === 0 || size > maxBytes) {
    throw errors.no_index({
      path,
      indexFiles: indexFiles.join(' or '),
      maxBytes: maxBytes / 1024 / 1024,
    });
  }
  return file;
}
