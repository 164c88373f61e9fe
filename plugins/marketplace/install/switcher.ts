import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { GonePack } from 'svc/contracts/marketplace';
import {
  isSvcError,
  type Logger,
  messageOf,
  type PluginDirectory,
  type PluginStatus,
} from 'svc/sdk';

import { errors } from './errors.ts';
import type { Leftovers } from './leftovers.ts';
import type { PackStore } from './pack-store.ts';
import type { ChangeRow } from './tables.ts';

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
  /** Hash of what is there now, if anything is. */
  readonly beforeHash: string | undefined;
}

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

  folderOf(packId: string): string {
    return join(this.#parts.packs, packId);
  }

  /**
   * Installs a staged folder; `settle` commits its record. If either fails, the previous one stays
   * in use.
   */
  async put({ packId, token, beforeHash }: Exchange, settle: () => Promise<void>): Promise<void> {
    const { store, packs } = this.#parts;
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
      await this.#bringUp(packId);
      await settle();
    } catch (error) {
      await this.#undo(change);
      throw error;
    }
  }

  /** Uninstalls a pack; `settle` commits that. Its leftovers are cleaned afterwards. */
  async take(
    { packId, token, beforeHash }: Exchange,
    { keepData, personas, tools }: Omit<GonePack, 'packId'>,
    settle: () => Promise<void>,
  ): Promise<void> {
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
      await this.#lookAgain(packId);
      await settle();
    } catch (error) {
      await this.#undo(change);
      throw error;
    }
    this.#parts.leftovers.cleanBehind(change);
  }

  /**
   * Repairs what a kill has left: a switch that was not committed is undone, a cleaning repeated.
   */
  async recover(installed: ReadonlyMap<string, readonly string[]>): Promise<void> {
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
    for (const change of switches) {
      await this.#undo(change);
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
      this.tidy(packId, installed.get(packId) ?? []);
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

  async #undo({ pack_id: packId, token, before_hash: hash }: ChangeRow): Promise<void> {
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
      await plugins.reload(packId);
    }
    const { state, cause, stage } = this.statusOf(packId) ?? {
      state: 'not found',
      cause: 'svc has another plugin of this id',
      stage: undefined,
    };
    if (!['active', 'disabled'].includes(state) || (state === 'active' && cause !== undefined)) {
      throw errors.not_up({
        packId,
        detail: stage === undefined ? '' : ` (${stage})`,
        cause: cause ?? `it is ${state}`,
      });
    }
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
