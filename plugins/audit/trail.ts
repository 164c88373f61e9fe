import type { KeyObject } from 'node:crypto';

import type { AuditRecord, AuditTrailContract } from 'svc/sdk';

import { bind } from './rows/chain.ts';
import type { Keys } from './keys.ts';
import { canonical } from './rows/record.ts';
import type { Store } from './rows/store.ts';

/**
 * The provider of `audit.trail`. The transaction it is given only says that the caller is inside its write: a write
 * inside a write joins it, so any plugin's will do, and rows of one write that come at once take their turns.
 * `appended` is called for a row that may still be rolled back.
 */
export class Trail implements AuditTrailContract {
  readonly #store: Store;
  readonly #keys: Keys;
  readonly #key: KeyObject;
  readonly #appended: () => void;

  constructor(store: Store, keys: Keys, appended: () => void) {
    this.#store = store;
    this.#keys = keys;
    this.#key = keys.chain(keys.newest)!;
    this.#appended = appended;
  }

  async append(_tx: unknown, record: AuditRecord): Promise<void> {
    const text = canonical(record);
    await this.#store.append((last) => ({
      seq: last.seq + 1,
      key_id: this.#keys.newest,
      record: text,
      prev_hash: last.hash,
      hash: bind(this.#key, last.hash, last.seq + 1, text),
    }));
    this.#appended();
  }
}
