import { lstat, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf, type Principal } from 'svc/sdk';

import { limits } from '../archive/entry-list.ts';
import { errors } from './errors.ts';
import type { PackService } from './pack-service.ts';

type Packs = Pick<PackService, 'list' | 'existing' | 'link' | 'troubled'>;

/** Packs whose authors work on them: a folder that has changed is installed again, with the rights that it has already. */
export class FollowedFolders {
  readonly #packs: Packs;
  readonly #log: Logger;
  /** Stamp of each folder as of its last install. */
  readonly #stamps = new Map<string, string>();

  constructor(packs: Packs, log: Logger) {
    this.#packs = packs;
    this.#log = log;
  }

  async look(signal: AbortSignal): Promise<void> {
    for (const { packId, linked } of this.#packs.list()) {
      if (linked === undefined) {
        continue;
      }
      const stamp = await stampOf(linked).catch(
        (error: unknown) => `not read: ${messageOf(error)}`,
      );
      if (stamp === this.#stamps.get(packId)) {
        continue;
      }
      this.#stamps.set(packId, stamp);
      // At the first look what is installed may be older, too; content that is the same costs nothing.
      try {
        this.#packs.troubled(packId, await this.#follow(packId, linked, signal));
      } catch (error) {
        this.#packs.troubled(
          packId,
          `its folder cannot be installed as it is: ${messageOf(error)}`,
        );
        this.#log.warn(
          {
            event: 'marketplace.link_not_installed',
            pack: packId,
            folder: linked,
            cause: messageOf(error),
          },
          'failed to install a linked folder; keeping the previous version',
        );
      }
    }
  }

  /**
   * Installs a changed folder; returns what prevents that: anything that an administrator has not
   * confirmed.
   */
  async #follow(packId: string, linked: string, signal: AbortSignal): Promise<string | undefined> {
    const real = await realpath(linked).catch(() => undefined);
    if (real !== linked) {
      throw errors.link_moved({
        detail: real === undefined ? 'the folder was removed' : 'a link leads to its path',
      });
    }
    const { lock, installedBy } = this.#packs.existing(packId);
    const by: Principal = { kind: 'system', id: installedBy, role: 'admin', grants: ['*'] };
    const asked = await this.#packs.link(linked, { by, onlyOf: packId }, signal);
    if (asked.pack !== undefined) {
      return undefined;
    }
    const { rights_hash: rights, verdict, content_hash: hash } = asked.preview.lock;
    if (hash === lock.content_hash) {
      return undefined;
    }
    if (rights === lock.rights_hash && verdict === 'pass') {
      await this.#packs.link(
        linked,
        { by, confirm: asked.preview.confirm, onlyOf: packId },
        signal,
      );
      return undefined;
    }
    this.#log.warn(
      { event: 'marketplace.link_waits', pack: packId, needs: asked.preview.needs },
      'linked folder needs confirmation; keeping the previous version until the folder is linked again',
    );
    return `its folder needs confirmation, by linking it again: ${asked.preview.needs.join('; ')}`;
  }
}

/** Changes whenever a file of the folder does; not read beyond what a pack may have. */
async function stampOf(root: string): Promise<string> {
  const parts: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(folder)) {
      if (
        entry.name === 'node_modules' ||
        entry.name === '.git' ||
        (folder === root && /^(?:dist|test)$/.test(entry.name))
      ) {
        continue;
      }
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        folders.push(path);
      }
      const { size, mtimeMs, ino } = await lstat(path);
      parts.push(entry.isDirectory() ? `${path}/` : `${path} ${size} ${mtimeMs} ${ino}`);
      if (parts.length > limits.entries) {
        return `more than ${limits.entries} entries`;
      }
    }
  }
  return parts.toSorted().join('\n');
}
