import { type Settings, SvcError } from 'svc/sdk';

import type { Lock } from './lock.ts';

type Hashed = Pick<Lock, 'id' | 'sha256' | 'content_hash' | 'files'>;

/** Content that is known to be bad: by the hash of an archive, of all files together, or of one file, which no other packing changes. */
export class Quarantine {
  readonly #settings: Pick<Settings, 'get'>;

  constructor(settings: Pick<Settings, 'get'>) {
    this.#settings = settings;
  }

  /** Why a pack may not be there; undefined for all others. */
  against({ id, sha256, content_hash: content, files }: Hashed): string | undefined {
    const blocked = new Set(this.#settings.get<readonly string[]>('marketplace.blocked_hashes'));
    if (blocked.size === 0) {
      return undefined;
    }
    const file = files.find((one) => blocked.has(one.sha256));
    const isWhole = blocked.has(content) || (sha256 !== null && blocked.has(sha256));
    const what = isWhole ? id : file === undefined ? undefined : `${file.path} of ${id}`;
    return what === undefined
      ? undefined
      : `${what} is on the list of blocked hashes, the setting marketplace.blocked_hashes`;
  }

  refuse(lock: Hashed): void {
    const reason = this.against(lock);
    if (reason !== undefined) {
      throw new SvcError('forbidden', reason, { reason: 'marketplace.hash_blocked' });
    }
  }
}
