import type { AuditTrailContract } from 'svc/sdk';

import { bind } from './chain.ts';
import type { Keys } from './keys.ts';
import { canonical } from './record.ts';
import type { Store } from './store.ts';

/**
 * The provider of `audit.trail`. The transaction it is given only says that the caller is inside its write: a write
 * inside a write joins it, so any plugin's will do, and rows of one write that come at once take their turns.
 * Who is told of `appended` knows of a row that may still be rolled back.
 */
export function trail(store: Store, keys: Keys, appended: () => void): AuditTrailContract {
  const key = keys.chain(keys.newest)!;
  return {
    async append(_tx, record) {
      const text = canonical(record);
      await store.append((last) => ({
        seq: last.seq + 1,
        key_id: keys.newest,
        record: text,
        prev_hash: last.hash,
        hash: bind(key, last.hash, last.seq + 1, text),
      }));
      appended();
    },
  };
}
