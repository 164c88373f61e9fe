import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { GonePack } from 'svc/contracts/marketplace';
import {
  isSvcError,
  type Logger,
  messageOf,
  type PluginDirectory,
  type PluginStatus,
  SvcError,
} from 'svc/sdk';

import { errors } from './errors.ts';
import type { Leftovers } from './leftovers.ts';
import type { Installed, Lock } from './lock.ts';
import type { PackStore } from './pack-store.ts';
import type { ChangeRow } from './tables.ts';

/** A pack under work of its author may change meanwhile. */
const maxPasses = 10;

export interface SwitcherParts {
  readonly store: PackStore;
  readonly plugins: PluginDirectory;
  /** Folder in which the host looks for packs. */
  readonly packs: string;
  /** Folder of this plugin: staged and kept folders. */
  readonly home: string;
  /** Id of this plugin, which asks the host to rescan. */
  readonly self: string;
  readonly leftovers: Leftovers;
  readonly log: Logger;
}

export interface Exchange {
  readonly packId: string;
  /** Token of the staged folder. */
  readonly token: string;
  /** Lock of what is there now, if anything is. */
  readonly before: Held | undefined;
}

/** Files of an installed version; the host serves no others. */
export type Held = Pick<Lock, 'content_hash' | 'files'>;

/**
 * Exchange of pack folders. The two names change within one turn of the event loop, so the host
 * sees the old or the new one; what a kill leaves in between is in a table that was written before,
 * and is undone at the next start.
 */
export class Switcher {
  readonly #parts: SwitcherParts;

  constructor(parts: SwitcherParts) {
    this.#parts = parts;
  }

  staged(token: string): string {
    return join(this.#parts.home, 'staging', token);
  }

  kept(packId: string, hash: string): string {
    return join(this.#parts.home, 'kept', packId, hash);
  }

  /** Folder in which the host looks for packs. */
  get packs(): string {
    return this.#parts.packs;
  }

  folderOf(packId: string): string {
    return join(this.#parts.packs, packId);
  }

  /**
   * Installs a staged folder; `settle` commits its record. If either fails, the previous one stays
   * in use.
   */
  async put(
    { packId, token, before, next }: Exchange & { readonly next: Held },
    settle: () => Promise<void>,
  ): Promise<void> {
    const { store, packs, plugins } = this.#parts;
    const beforeHash = before?.content_hash;
    const change: ChangeRow = {
      pack_id: packId,
      step: 'switching',
      token,
      before_hash: beforeHash ?? null,
      keep_data: 0,
      personas: '[]',
      tools: '[]',
    };
    mkdirSync(packs, { recursive: true, mode: 0o700 });
    this.#makeRoom(change);
    await store.beginChange(change);
    try {
      if (beforeHash !== undefined) {
        renameSync(this.folderOf(packId), this.kept(packId, beforeHash));
      }
      renameSync(this.staged(token), this.folderOf(packId));
      plugins.hold(packId, next.files);
      await this.#bringUp(packId);
      await settle();
    } catch (error) {
      await this.#undo(change, before);
      throw error;
    }
  }

  /** Uninstalls a pack; `settle` commits that. Its leftovers are cleaned afterwards. */
  async take(
    { packId, token, before }: Exchange,
    { keepData, personas, tools }: Omit<GonePack, 'packId'>,
    settle: () => Promise<void>,
  ): Promise<void> {
    const beforeHash = before?.content_hash;
    const change: ChangeRow = {
      pack_id: packId,
      step: 'switching',
      token,
      before_hash: beforeHash ?? null,
      keep_data: keepData ? 1 : 0,
      personas: JSON.stringify(personas),
      tools: JSON.stringify(tools),
    };
    this.#makeRoom(change);
    await this.#parts.store.beginChange(change);
    try {
      if (beforeHash !== undefined && existsSync(this.folderOf(packId))) {
        renameSync(this.folderOf(packId), this.kept(packId, beforeHash));
      }
      this.#parts.plugins.hold(packId, undefined);
      await this.#lookAgain(packId);
      await settle();
    } catch (error) {
      await this.#undo(change, before);
      throw error;
    }
    this.#parts.leftovers.cleanBehind(change);
  }

  /**
   * Repairs what a kill has left: a switch that was not committed is undone, a cleaning repeated.
   */
  async recover(packs: readonly Installed[]): Promise<void> {
    const { store, home, log, plugins, self, leftovers } = this.#parts;
    const changes = await store.changes();
    const [cleanings, switches] = [
      changes.filter(({ step }) => step === 'cleaning'),
      changes.filter(({ step }) => step === 'switching'),
    ];
    changes.forEach(({ pack_id: pack, step }) =>
      log.warn(
        { event: 'marketplace.change_recovered', pack, step },
        'interrupted pack change rolled back',
      ),
    );
    // What an earlier svc has installed was held to nothing.
    packs.forEach(({ packId, lock }) => plugins.hold(packId, lock.files));
    const installed = new Map(packs.map((pack) => [pack.packId, pack]));
    for (const change of switches) {
      await this.#undo(change, installed.get(change.pack_id)?.lock);
    }
    if (cleanings.length > 0) {
      // When this resolves, everything that can start has started: all areas that keep something
      // about packs can be asked.
      await plugins.enable(self);
    }
    for (const change of cleanings) {
      await leftovers.tryToClean(change);
    }
    rmSync(join(home, 'staging'), { recursive: true, force: true });
    const kept = join(home, 'kept');
    for (const packId of existsSync(kept) ? readdirSync(kept) : []) {
      const before = installed.get(packId)?.before;
      this.tidy(packId, before === undefined ? [] : [before.content_hash]);
    }
  }

  /** Deletes kept folders of a pack, except those with these hashes. */
  tidy(packId: string, hashes: readonly string[]): void {
    const folder = join(this.#parts.home, 'kept', packId);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    names
      .filter((name) => !hashes.includes(name))
      .forEach((name) => rmSync(join(folder, name), { recursive: true, force: true }));
    if (hashes.length === 0) {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Clears the target of the previous folder, which an earlier change may have left filled. */
  #makeRoom({ pack_id: packId, before_hash: hash }: ChangeRow): void {
    if (hash !== null) {
      rmSync(this.kept(packId, hash), { recursive: true, force: true });
      mkdirSync(join(this.#parts.home, 'kept', packId), { recursive: true, mode: 0o700 });
    }
  }

  async #undo(
    { pack_id: packId, token, before_hash: hash }: ChangeRow,
    before: Held | undefined,
  ): Promise<void> {
    this.#parts.plugins.hold(packId, before?.files);
    const kept = hash === null ? undefined : this.kept(packId, hash);
    // Without the previous one, what is there is the previous one: the names were not exchanged
    // yet.
    if (kept === undefined || existsSync(kept)) {
      mkdirSync(join(this.#parts.home, 'staging'), { recursive: true, mode: 0o700 });
      if (existsSync(this.folderOf(packId))) {
        renameSync(this.folderOf(packId), this.staged(`${token}.undone`));
      }
      if (kept !== undefined) {
        renameSync(kept, this.folderOf(packId));
      }
      await this.#lookAgain(packId);
      rmSync(this.staged(`${token}.undone`), { recursive: true, force: true });
    }
    rmSync(this.staged(token), { recursive: true, force: true });
    if (hash === null) {
      this.tidy(packId, []);
    }
    await this.#parts.store.endChange(packId);
  }

  /** Serves in its new form when this resolves; throws why not. */
  async #bringUp(packId: string): Promise<void> {
    const { plugins, self } = this.#parts;
    if (this.statusOf(packId) === undefined || this.statusOf(packId)?.state === 'disabled') {
      await plugins.enable(self);
    } else {
      await plugins.reload(packId).catch((error: unknown) => {
        throw isSvcError(error)
          ? new SvcError(error.code, this.#withoutFolder(packId, error.message), {
              reason: error.reason,
            })
          : error;
      });
    }
    // The watcher has seen the folder as well, and the host may be at it again.
    for (let pass = 0; pass < maxPasses && this.statusOf(packId)?.state === 'loading'; pass += 1) {
      await plugins.enable(self);
    }
    const status = this.statusOf(packId);
    if (status === undefined) {
      throw errors.not_up({ packId, detail: '', cause: 'svc has another plugin of this id' });
    }
    const { state, lastAttempt } = status;
    const isUp = state === 'disabled' || (state === 'active' && status.cause === undefined);
    if (!isUp) {
      const stage = status.stage ?? lastAttempt?.stage;
      throw errors.not_up({
        packId,
        detail: stage === undefined ? '' : ` (${stage})`,
        cause: this.#withoutFolder(packId, status.cause ?? lastAttempt?.cause ?? `it is ${state}`),
      });
    }
  }

  /** Where svc keeps a pack says nothing to its author. */
  #withoutFolder(packId: string, cause: string): string {
    return cause.replaceAll(`${this.folderOf(packId)}/`, '');
  }

  /**
   * Makes the host compare its folders with what is running, and drops the disabled mark of a
   * deleted pack.
   */
  async #lookAgain(packId: string): Promise<void> {
    const { plugins, self, log } = this.#parts;
    try {
      await (this.statusOf(packId) === undefined
        ? plugins.enable(self)
        : existsSync(this.folderOf(packId))
          ? plugins.reload(packId)
          : plugins.enable(packId));
    } catch (error) {
      log.debug({ pack: packId, cause: messageOf(error) }, 'host rescanned plugins');
    }
  }

  statusOf(packId: string): PluginStatus | undefined {
    try {
      return this.#parts.plugins.explain(packId);
    } catch (error) {
      if (isSvcError(error) && error.code === 'not_found') {
        return undefined;
      }
      throw error;
    }
  }
}
