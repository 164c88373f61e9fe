import { AsyncResource } from 'node:async_hooks';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { PackRights } from 'svc/contracts/packs';
import {
  type Clock,
  type DeclaredCatalogue,
  type Handle,
  type Ids,
  type Logger,
  messageOf,
  type PluginDirectory,
  type Principal,
  type Settings,
  type ThreadHandle,
} from 'svc/sdk';

import { toolKeysOf } from '../layout/svc-pack.ts';
import type { NormalizeResult } from '../normalize/normalize-pack.ts';
import type { Consent, Word } from './consent.ts';
import { errors } from './errors.ts';
import type { InstalledPacks } from './installed-packs.ts';
import type { Leftovers } from './leftovers.ts';
import type { Admitted, Installed, Lock } from './lock.ts';
import type { HistoryEntry, PackStore } from './pack-store.ts';
import { type Preview, previewOf } from './preview.ts';
import type { Quarantine } from './quarantine.ts';
import { type Declared, reservedIds } from './reserved-ids.ts';
import type { Fetched } from './sources.ts';
import type { Switcher } from './switcher.ts';

export interface InstallerParts {
  readonly installed: InstalledPacks;
  readonly store: PackStore;
  readonly switcher: Switcher;
  readonly leftovers: Leftovers;
  readonly normalizer: ThreadHandle;
  readonly plugins: PluginDirectory;
  readonly catalogue: Pick<DeclaredCatalogue, 'personas' | 'skills' | 'actions' | 'routes'>;
  readonly board: Declared['board'];
  readonly rights: Handle<PackRights>;
  readonly consent: Consent;
  readonly quarantine: Quarantine;
  /** Data folders of plugins, by id. */
  readonly data: string;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}

const normalizeMs = 60_000;
/** Note in the history of an uninstall. */
const dataKept = 'its tables and settings are kept';

/** Installed, or what has to be confirmed first. */
export type Outcome =
  | { readonly pack: Installed; readonly preview: Preview }
  | { readonly pack: undefined; readonly preview: Preview; readonly message: string };

/** Brings packs in, back and out; one change at a time. */
export class Installer {
  readonly #parts: InstallerParts;
  /**
   * Context for running changes: a change that has begun is finished or undone, even if its
   * requester has gone.
   */
  readonly #apart = new AsyncResource('svc.marketplace');
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: InstallerParts) {
    this.#parts = parts;
  }

  /** Runs work after all changes that were requested before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#apart.runInAsyncScope(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async preview(fetched: Fetched): Promise<Preview> {
    return await this.#weigh(await this.#normalize(fetched, undefined), fetched);
  }

  /** One call where the pack wants nothing but its text; else the preview, until its hash is confirmed. */
  install(fetched: Fetched, word: Word, linked?: string): Promise<Outcome> {
    return this.inTurn(async () => {
      const token = this.#parts.ids.token(9);
      const { switcher, normalizer } = this.#parts;
      try {
        const result = await this.#normalize(fetched, switcher.staged(token));
        const { id } = result.normalized;
        if (word.onlyOf !== undefined && id !== word.onlyOf) {
          throw errors.link_renamed({ id, onlyOf: word.onlyOf });
        }
        const preview = await this.#weigh(result, fetched);
        const ask = this.#parts.consent.objection(preview, word);
        return ask === undefined
          ? await this.#put(preview, token, word, linked)
          : { pack: undefined, preview, message: ask };
      } finally {
        await normalizer.call('remove', switcher.staged(token));
      }
    });
  }

  /** The version before in place of this one. */
  rollback(packId: string, by: Principal): Promise<Installed> {
    return this.inTurn(async () => {
      const { installed, switcher, normalizer, ids, quarantine } = this.#parts;
      const pack = installed.existing(packId);
      const { before } = pack;
      if (before === undefined) {
        throw errors.no_version_before({ packId });
      }
      quarantine.refuse(before);
      const token = ids.token(9);
      const hash = await normalizer.call<string>(
        'copy',
        { from: switcher.kept(packId, before.content_hash), to: switcher.staged(token) },
        { timeoutMs: normalizeMs },
      );
      if (hash !== before.content_hash) {
        throw errors.kept_changed({ version: before.version, packId });
      }
      return await this.#switch(
        {
          ...pack,
          lock: before,
          before: pack.lock,
          admitted: stillAdmitted(pack, before),
          updatedAt: this.#parts.clock.now(),
        },
        pack,
        token,
        this.#entry(before, 'rollback', by),
      );
    });
  }

  uninstall(packId: string, keepData: boolean, by: Principal): Promise<void> {
    return this.inTurn(async () => {
      const { installed, switcher, store, ids } = this.#parts;
      const { lock, before } = installed.existing(packId);
      const exchange = { packId, token: ids.token(9), before: lock };
      const both = [lock, ...(before === undefined ? [] : [before])];
      // A name that its version before had may be that of another pack now.
      const others = installed.list().filter((other) => other.packId !== packId);
      const [theirs, theirTools] = [
        new Set(others.flatMap((other) => other.lock.personas)),
        new Set(others.flatMap((other) => toolKeysOf(other.lock.manifest))),
      ];
      const personas = [...new Set(both.flatMap((one) => one.personas))].filter(
        (name) => !theirs.has(name),
      );
      const tools = [...new Set(both.flatMap(({ manifest }) => toolKeysOf(manifest)))].filter(
        (key) => !theirTools.has(key),
      );
      await switcher.take(exchange, { keepData, personas, tools }, async () => {
        await store.leave(
          packId,
          this.#entry(lock, 'uninstall', by, keepData ? dataKept : undefined),
        );
        installed.forget(packId);
      });
    });
  }

  async #normalize(
    { content, path, name, version, entry }: Fetched,
    staging: string | undefined,
  ): Promise<NormalizeResult> {
    const { normalizer, plugins, catalogue, board, installed, switcher } = this.#parts;
    const ofPacks = Object.fromEntries(
      installed.list().map(({ packId, lock }) => [packId, [...lock.personas, ...lock.skills]]),
    );
    const own = new Set(Object.values(ofPacks).flat());
    const served = [...catalogue.personas(), ...catalogue.skills()].map(({ value }) =>
      'key' in value ? value.key : value.name,
    );
    const packs = new Set(
      plugins.list().flatMap(({ id, path: at }) => (at === switcher.folderOf(id) ? [id] : [])),
    );
    const reserved = reservedIds({ plugins, catalogue, board }, (id) => packs.has(id));
    const naming = {
      name,
      version,
      entry,
      reserved,
      ofPacks,
      taken: served.filter((one) => !own.has(one)),
    };
    return await normalizer.call<NormalizeResult>(
      'normalize',
      { content, path, naming, staging, installed: switcher.packs },
      { timeoutMs: normalizeMs },
    );
  }

  async #weigh({ normalized, changes }: NormalizeResult, fetched: Fetched): Promise<Preview> {
    const { rights, installed, store } = this.#parts;
    const asked = this.#parts.consent.rightsOf(normalized);
    const refused =
      asked.refused ??
      (rights.available ? await rights.get().fault(normalized.manifest) : undefined);
    const held =
      normalized.manifest['entry'] === undefined ? [] : [await rights.get().confinement()];
    const before = installed.find(normalized.id);
    const last = before === undefined ? await store.lastOf(normalized.id) : undefined;
    return previewOf(
      normalized,
      fetched,
      { ...asked, refused, held },
      { before, changes, inherits: last?.reason === dataKept ? last.version : undefined },
    );
  }

  async #put(
    preview: Preview,
    token: string,
    word: Word,
    linked: string | undefined,
  ): Promise<Outcome> {
    const { installed, leftovers, rights, clock, settings, data, store } = this.#parts;
    const { lock } = preview;
    const old = installed.find(lock.id);
    const now = clock.now();
    const fresh = {
      ceiling: {
        classes: settings.get<Installed['ceiling']['classes']>('marketplace.default_classes'),
        tools: [],
        hosts: [],
        labels: [],
      },
      admitted: { personas: [], servers: [] },
    };
    const same = old?.lock.content_hash === lock.content_hash && (await this.#isIntact(old.lock));
    const pack: Installed = {
      ...(old === undefined ? fresh : { ...old, admitted: stillAdmitted(old, lock) }),
      packId: lock.id,
      lock,
      linked,
      before: old?.lock.content_hash === lock.content_hash ? old.before : old?.lock,
      installedBy: word.by.id,
      installedAt: old?.installedAt ?? now,
      updatedAt: now,
    };
    if (same) {
      await this.#parts.store.settle(pack, this.#entry(lock, 'update', word.by, word.reason));
      installed.put(pack);
      return { pack, preview };
    }
    // Before anything is given to it: what a pack of this id has left takes everything with it.
    await leftovers.cleaned(lock.id);
    const isNew = old === undefined && !existsSync(join(data, lock.id));
    if (old === undefined && !isNew && (await store.lastOf(lock.id))?.reason !== dataKept) {
      throw errors.id_away({ id: lock.id });
    }
    const granted = lock.rights_hash === null || rights.get().isGranted(lock.id, lock.rights_hash);
    if (!granted) {
      await rights.get().grant(lock.id, this.#parts.consent.rightsOf(lock), word.by.id);
    }
    try {
      return {
        pack: await this.#switch(
          pack,
          old,
          token,
          this.#entry(lock, old === undefined ? 'install' : 'update', word.by, word.reason),
        ),
        preview,
      };
    } catch (error) {
      if (!granted) {
        await rights.get().withdraw(lock.id, lock.rights_hash);
      }
      if (isNew) {
        // What it wrote before it failed.
        rmSync(join(data, lock.id), { recursive: true, force: true });
      }
      throw error;
    }
  }

  async #switch(
    pack: Installed,
    old: Installed | undefined,
    token: string,
    entry: HistoryEntry,
  ): Promise<Installed> {
    const { installed, store, switcher, log } = this.#parts;
    // Before it is seen, so that its personas are held back from their first moment.
    installed.put(pack);
    try {
      await switcher.put({ packId: pack.packId, token, before: old?.lock, next: pack.lock }, () =>
        store.settle(pack, entry),
      );
    } catch (error) {
      log.warn(
        {
          event: 'marketplace.change_undone',
          pack: pack.packId,
          action: entry.action,
          cause: messageOf(error),
        },
        'pack change failed and was rolled back',
      );
      if (old === undefined) {
        installed.forget(pack.packId);
      } else {
        installed.put(old);
      }
      throw error;
    }
    switcher.tidy(pack.packId, pack.before === undefined ? [] : [pack.before.content_hash]);
    return pack;
  }

  /** Returns whether the folder of a pack still has what was installed. */
  async #isIntact(lock: Lock): Promise<boolean> {
    const { normalizer, switcher } = this.#parts;
    const folder = switcher.folderOf(lock.id);
    return (
      existsSync(folder) &&
      (await normalizer.call<string>('hash', folder, { timeoutMs: normalizeMs })) ===
        lock.content_hash
    );
  }

  #entry(lock: Lock, action: string, by: Principal, reason?: string): HistoryEntry {
    return {
      pack_id: lock.id,
      action,
      version: lock.version,
      content_hash: lock.content_hash,
      sha256: lock.sha256,
      verdict: lock.verdict,
      reason: reason ?? null,
      done_by: by.id,
      done_at: this.#parts.clock.now(),
    };
  }
}

/**
 * Returns what remains admitted: an administrator admits what they saw, so a server that moved has
 * to be admitted again.
 */
function stillAdmitted({ admitted, lock: from }: Installed, to: Lock): Admitted {
  const urlIn = (lock: Lock, server: string): string | undefined =>
    lock.servers.find(({ name }) => name === server)?.url;
  return {
    personas: admitted.personas.filter((name) => to.personas.includes(name)),
    servers: admitted.servers.filter(
      (name) => urlIn(to, name) !== undefined && urlIn(to, name) === urlIn(from, name),
    ),
  };
}
