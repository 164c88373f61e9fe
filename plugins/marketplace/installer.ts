import { AsyncResource } from 'node:async_hooks';

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
  SvcError,
  type ThreadHandle,
} from 'svc/sdk';

import type { AskedRights, PackRights } from '../packs/contract.ts';
import type { InstalledPacks } from './installed-packs.ts';
import type { Leftovers } from './leftovers.ts';
import type { HistoryEntry, PackStore } from './pack-store.ts';
import { toolKeysOf } from './layout/svc-pack.ts';
import type { Pressed } from './press.ts';
import { type Preview, previewOf } from './preview.ts';
import type { Fetched } from './sources.ts';
import { type Declared, reservedIds } from './reserved-ids.ts';
import type { Switcher } from './switcher.ts';
import type { Installed, Lock } from './tables.ts';

export interface InstallerParts {
  readonly installed: InstalledPacks;
  readonly store: PackStore;
  readonly switcher: Switcher;
  readonly leftovers: Leftovers;
  readonly press: ThreadHandle;
  readonly plugins: PluginDirectory;
  readonly catalogue: Pick<DeclaredCatalogue, 'personas' | 'skills' | 'actions' | 'routes'>;
  readonly board: Declared['board'];
  readonly rights: Handle<PackRights>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}

/** What whoever asks has said about it. */
export interface Word {
  readonly by: Principal;
  readonly confirm?: string | undefined;
  /** For packs that the scan does not let pass. */
  readonly reason?: string | undefined;
  /** Without people at hand: what is installed of this pack is replaced, and nothing else. */
  readonly onlyOf?: string;
}

const pressMs = 60_000;
const shortestReason = 10;

/** Installed, or what has to be confirmed first. */
export type Outcome =
  | { readonly pack: Installed; readonly preview: Preview }
  | { readonly pack: undefined; readonly preview: Preview; readonly message: string };

/** Brings packs in, back and out; one change at a time. */
export class Installer {
  readonly #parts: InstallerParts;
  /** A change that has begun is finished or undone, also when whoever asked for it has gone. */
  readonly #apart = new AsyncResource('svc.marketplace');
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: InstallerParts) {
    this.#parts = parts;
  }

  /** After all changes that were asked for before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#apart.runInAsyncScope(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async preview(fetched: Fetched): Promise<Preview> {
    return await this.#weigh(await this.#press(fetched, undefined), fetched);
  }

  /** One call where the pack wants nothing but its text; else the preview, until its hash is confirmed. */
  install(fetched: Fetched, word: Word, linked?: string): Promise<Outcome> {
    return this.inTurn(async () => {
      const token = this.#parts.ids.token(9);
      const { switcher, press } = this.#parts;
      try {
        const pressed = await this.#press(fetched, switcher.staged(token));
        if (word.onlyOf !== undefined && pressed.id !== word.onlyOf) {
          throw new SvcError('conflict', `it is the pack ${pressed.id} now, and was ${word.onlyOf}`, { reason: 'marketplace.other_pack' });
        }
        const preview = await this.#weigh(pressed, fetched);
        const ask = this.#objection(preview, word);
        return ask === undefined ? await this.#put(preview, token, word, linked) : { pack: undefined, preview, message: ask };
      } finally {
        await press.call('remove', switcher.staged(token));
      }
    });
  }

  /** The version before in place of this one. */
  rollback(packId: string, by: Principal): Promise<Installed> {
    return this.inTurn(async () => {
      const { installed, switcher, press, ids } = this.#parts;
      const pack = installed.existing(packId);
      const { before } = pack;
      if (before === undefined) {
        throw new SvcError('conflict', `${packId} has no version before this one to go back to`, { reason: 'marketplace.no_version_before' });
      }
      const token = ids.token(9);
      const hash = await press.call<string>('copy', { from: switcher.kept(packId, before.content_hash), to: switcher.staged(token) }, { timeoutMs: pressMs });
      if (hash !== before.content_hash) {
        throw new SvcError('conflict', `the kept version ${before.version} of ${packId} was changed on the disk; install it anew`, {
          reason: 'marketplace.kept_changed',
        });
      }
      return await this.#switch(
        { ...pack, lock: before, before: pack.lock, updatedAt: this.#parts.clock.now() },
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
      const exchange = { packId, token: ids.token(9), beforeHash: lock.content_hash };
      const both = [lock, ...(before === undefined ? [] : [before])];
      const personas = [...new Set(both.flatMap((one) => one.personas))];
      const tools = [...new Set(both.flatMap(({ manifest }) => toolKeysOf(manifest)))];
      await switcher.take(exchange, { keepData, personas, tools }, async () => {
        await store.leave(packId, this.#entry(lock, 'uninstall', by));
        installed.forget(packId);
      });
    });
  }

  async #press({ content, path, name, version, entry }: Fetched, staging: string | undefined): Promise<Pressed> {
    const { press, plugins, catalogue, board, installed, switcher } = this.#parts;
    const ofPacks = Object.fromEntries(installed.list().map(({ packId, lock }) => [packId, [...lock.personas, ...lock.skills]]));
    const own = new Set(Object.values(ofPacks).flat());
    const served = [...catalogue.personas(), ...catalogue.skills()].map(({ value }) => ('key' in value ? value.key : value.name));
    const packs = new Set(plugins.list().flatMap(({ id, path: at }) => (at === switcher.folderOf(id) ? [id] : [])));
    const reserved = reservedIds({ plugins, catalogue, board }, (id) => packs.has(id));
    const naming = { ...{ name, version, entry, reserved, ofPacks }, taken: served.filter((one) => !own.has(one)) };
    return await press.call<Pressed>('press', { content, path, naming, staging }, { timeoutMs: pressMs });
  }

  async #weigh(pressed: Pressed, fetched: Fetched): Promise<Preview> {
    const { rights, installed } = this.#parts;
    const asked = this.#rightsOf(pressed);
    const held = pressed.manifest['entry'] === undefined ? [] : [await rights.get().confinement()];
    return previewOf(pressed, fetched, { ...asked, held }, installed.find(pressed.id));
  }

  #rightsOf({ manifest, id }: Pressed): AskedRights {
    const { rights } = this.#parts;
    if (rights.available) {
      return rights.get().asked(manifest);
    }
    const asks = ['entry', 'routes', 'mounts', 'settings', 'contributes', 'actions'].find((field) => manifest[field] !== undefined);
    if (asks !== undefined) {
      throw new SvcError('conflict', `${id} asks for rights ("${asks}"), and what grants rights is not there; bring the plugin packs up`, {
        reason: 'marketplace.no_rights',
      });
    }
    return { sentences: [], hash: '', refused: undefined };
  }

  /** What still has to be said before it is installed; throws where nobody can. */
  #objection({ lock, needs, confirm }: Preview, { by, confirm: said, reason = '' }: Word): string | undefined {
    const { settings } = this.#parts;
    const rights = this.#rightsOf(lock);
    if (rights.refused !== undefined) {
      throw new SvcError('invalid_argument', `${lock.id} cannot be installed, since it ${rights.refused}`, { reason: 'marketplace.refused_rights' });
    }
    if (settings.get<readonly string[]>('marketplace.blocked_hashes').some((hash) => hash === lock.sha256 || hash === lock.content_hash)) {
      throw new SvcError('forbidden', `${lock.id} is on the list of blocked hashes, the setting marketplace.blocked_hashes`, {
        reason: 'marketplace.hash_blocked',
      });
    }
    if (lock.verdict === 'block' && !settings.get<boolean>('marketplace.allow_blocked')) {
      const { file, line, message } = lock.findings[0]!;
      throw new SvcError(
        'forbidden',
        `the scan blocks ${lock.id}: ${file}${line > 0 ? ` line ${line}` : ''} ${message}; the setting marketplace.allow_blocked lets such packs in`,
        {
          reason: 'marketplace.scan_blocks',
          details: lock.findings.slice(0, 20).map((one) => ({ path: `/${one.file}`, message: `${one.severity}: ${one.message}` })),
        },
      );
    }
    if (said !== confirm && (said !== undefined || needs.length > 0)) {
      const why = [...(said === undefined ? [] : ['the content differs from what was confirmed']), ...needs];
      return `${lock.id} ${lock.version} is not installed yet: ${why.join('; ')}. Send the same again with "confirm" once you agree: ${confirm}`;
    }
    if ((rights.sentences.length > 0 || lock.verdict !== 'pass') && !by.grants.includes('*')) {
      throw new SvcError('forbidden', `${lock.id} asks for rights, or the scan did not let it pass: an administrator has to install it`, {
        reason: 'marketplace.for_administrators',
      });
    }
    return lock.verdict !== 'pass' && reason.trim().length < shortestReason
      ? `the scan says ${lock.verdict}: say in "reason", in ${shortestReason} letters or more, why ${lock.id} is installed all the same`
      : undefined;
  }

  async #put(preview: Preview, token: string, word: Word, linked: string | undefined): Promise<Outcome> {
    const { installed, leftovers, rights, clock, settings } = this.#parts;
    const { lock } = preview;
    const old = installed.find(lock.id);
    const now = clock.now();
    const fresh = {
      ceiling: { classes: settings.get<Installed['ceiling']['classes']>('marketplace.default_classes'), tools: [], hosts: [], labels: [] },
      admitted: { personas: [], servers: [] },
    };
    const same = old?.lock.content_hash === lock.content_hash;
    const pack: Installed = {
      ...(old ?? fresh),
      packId: lock.id,
      ...{ lock, linked, before: same ? old.before : old?.lock, installedBy: word.by.id, installedAt: old?.installedAt ?? now, updatedAt: now },
    };
    if (same) {
      await this.#parts.store.settle(pack, this.#entry(lock, 'update', word.by, word.reason));
      installed.put(pack);
      return { pack, preview };
    }
    // Before anything is given to it: what a pack of this id has left takes everything with it.
    await leftovers.cleaned(lock.id);
    const granted = lock.rights_hash === null || rights.get().isGranted(lock.id, lock.rights_hash);
    if (!granted) {
      await rights.get().grant(lock.id, this.#rightsOf(lock), word.by.id);
    }
    try {
      return { pack: await this.#switch(pack, old, token, this.#entry(lock, old === undefined ? 'install' : 'update', word.by, word.reason)), preview };
    } catch (error) {
      if (!granted) {
        await rights.get().withdraw(lock.id, lock.rights_hash);
      }
      throw error;
    }
  }

  async #switch(pack: Installed, old: Installed | undefined, token: string, entry: HistoryEntry): Promise<Installed> {
    const { installed, store, switcher, log } = this.#parts;
    // Before it is seen, so that its personas are held back from their first moment.
    installed.put(pack);
    try {
      await switcher.put({ packId: pack.packId, token, beforeHash: old?.lock.content_hash }, () => store.settle(pack, entry));
    } catch (error) {
      log.warn(
        { event: 'marketplace.change_undone', pack: pack.packId, action: entry.action, cause: messageOf(error) },
        'a change of a pack failed and was undone',
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

  #entry(lock: Lock, action: string, by: Principal, reason?: string): HistoryEntry {
    return {
      ...{ pack_id: lock.id, action, version: lock.version, content_hash: lock.content_hash, sha256: lock.sha256, verdict: lock.verdict },
      ...{ reason: reason ?? null, done_by: by.id, done_at: this.#parts.clock.now() },
    };
  }
}
