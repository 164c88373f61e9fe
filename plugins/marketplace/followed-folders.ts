import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf, type Principal } from 'svc/sdk';

import { limits } from './archive/entry-list.ts';
import type { PackBook } from './pack-book.ts';

/** Packs whose authors work on them: a folder that has changed is installed again, with the rights that it has already. */
export class FollowedFolders {
  readonly #book: Pick<PackBook, 'list' | 'link'>;
  readonly #log: Logger;
  /** Of each folder, as it was when it was installed last. */
  readonly #stamps = new Map<string, string>();

  constructor(book: Pick<PackBook, 'list' | 'link'>, log: Logger) {
    this.#book = book;
    this.#log = log;
  }

  async look(signal: AbortSignal): Promise<void> {
    for (const { packId, linked, lock, installedBy } of this.#book.list()) {
      const stamp = linked === undefined ? undefined : await stampOf(linked).catch((error: unknown) => `not read: ${messageOf(error)}`);
      const before = this.#stamps.get(packId);
      if (linked === undefined || stamp === undefined || stamp === before) {
        continue;
      }
      this.#stamps.set(packId, stamp);
      // At the first look what is installed may be older, too; content that is the same costs nothing.
      try {
        const by: Principal = { kind: 'system', id: installedBy, role: 'admin', grants: ['*'] };
        const reason = 'a folder that its author is at work on';
        const asked = await this.#book.link(linked, { by, reason }, signal);
        const { rights_hash: rights } = asked.preview.lock;
        if (asked.pack === undefined && rights === lock.rights_hash) {
          await this.#book.link(linked, { by, reason, confirm: asked.preview.confirm }, signal);
        } else if (asked.pack === undefined) {
          this.#log.warn(
            { event: 'marketplace.link_waits', pack: packId, needs: asked.preview.needs },
            'a linked folder asks for other rights than it has; link it again to grant them',
          );
        }
      } catch (error) {
        this.#log.warn(
          { event: 'marketplace.link_not_installed', pack: packId, folder: linked, cause: messageOf(error) },
          'a linked folder cannot be installed as it is; the version before serves',
        );
      }
    }
  }
}

/** Changes whenever a file of the folder does. */
async function stampOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const own = entries.filter((entry) => entry.isFile() && !/\/(?:node_modules|\.git|dist)(?:\/|$)/.test(`${entry.parentPath}/`));
  const parts = await Promise.all(
    own.slice(0, limits.entries).map(async ({ parentPath, name }) => {
      const { size, mtimeMs } = await stat(join(parentPath, name));
      return `${parentPath}/${name} ${size} ${mtimeMs}`;
    }),
  );
  return parts.toSorted().join('\n');
}
