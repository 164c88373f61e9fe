import type { ChangePort, IdempotencyStore } from '../http/index.ts';
import type { Storage } from '../storage/index.ts';

/**
 * Returns the port by which the HTTP pipeline's audit rows and idempotency keys join the change's
 * own transaction.
 */
export function changePort(storage: Storage): ChangePort {
  return {
    witness: (witness, work) => storage.witness(witness, work),
    // A write with nothing of its own: its witness may touch every table, which a plugin's own write may not.
    write: (work) =>
      storage.witness({ beforeCommit: work }, () => storage.core().write(async () => undefined)),
    writable: () => storage.writable(),
    idempotency: idempotencyStore(storage),
  };
}

/** Deletes keys that nobody can replay any more. */
export async function forgetOldKeys(storage: Storage, before: number): Promise<void> {
  await storage
    .core()
    .write((tx) => tx.deleteFrom('core_idempotency').where('created_at', '<', before).execute());
}

function idempotencyStore(storage: Storage): IdempotencyStore {
  const core = storage.core();
  return {
    async find({ principal, route, key }, notBefore) {
      const row = await core.read
        .selectFrom('core_idempotency')
        .selectAll()
        .where('principal', '=', principal)
        .where('route', '=', route)
        .where('key', '=', key)
        .where('created_at', '>=', notBefore)
        .executeTakeFirst();
      return (
        row && {
          principal,
          route,
          key,
          requestHash: row.request_hash,
          createdAt: row.created_at,
          answer: row.status === null ? undefined : { status: row.status, body: row.body ?? '' },
        }
      );
    },
    async insert(tx, { principal, route, key, requestHash, createdAt }) {
      const fresh = {
        request_hash: requestHash,
        status: null,
        headers: null,
        body: null,
        created_at: createdAt,
      };
      await tx
        .insertInto('core_idempotency')
        .values({ principal, route, key, ...fresh })
        .onConflict((conflict) =>
          conflict.columns(['principal', 'route', 'key']).doUpdateSet(fresh),
        )
        .execute();
    },
    async complete({ principal, route, key }, { status, body }) {
      await core.write((tx) =>
        tx
          .updateTable('core_idempotency')
          .set({ status, body })
          .where('principal', '=', principal)
          .where('route', '=', route)
          .where('key', '=', key)
          .execute(),
      );
    },
  };
}
