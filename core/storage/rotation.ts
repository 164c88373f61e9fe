import { type KeyRotation, type Logger, type MasterKeys, messageOf, type Secrets, SvcError, type Tables } from '../sdk/index.ts';
import type { CoreTables } from './core-tables.ts';
import type { KeyRing } from './keys.ts';
import { keysIn, reseal } from './reseal.ts';
import type { SealedColumns } from './sealed-columns.ts';
import { surroundings } from './unit.ts';

export interface RotationParts {
  readonly ring: KeyRing;
  readonly core: Tables<CoreTables>;
  readonly columns: SealedColumns;
  readonly tables: (plugin: string) => Tables<unknown>;
  readonly secrets: (plugin: string) => Secrets;
  readonly log: Logger;
}

/** How the house comes from one master key to the next. */
export interface Rotation extends MasterKeys {
  /** Goes on where an earlier process was stopped; in the background. */
  resume(): void;
  /** Drops superseded keys that no value needs; only while nobody can hold a value that was sealed but is not yet written. */
  retireUnused(): Promise<void>;
  stop(): Promise<void>;
}

export function openRotation({ ring, core, columns, tables, secrets, log }: RotationParts): Rotation {
  let running: Promise<unknown> | undefined;
  const end = new AbortController();

  function once<T>(work: () => Promise<T>): Promise<T> {
    const result = work().finally(() => {
      running = undefined;
    });
    running = result;
    return result;
  }

  /** A key of somebody else's backup may be in the ring, too; only those that a rotation has replaced are on their way out. */
  async function superseded(): Promise<readonly string[]> {
    const rows = await core.read.selectFrom('core_superseded_keys').select('kid').execute();
    return ring.older.filter((kid) => rows.some((row) => row.kid === kid));
  }

  async function renew(): Promise<void> {
    const replaced = [...ring.older, ...(ring.isOwn ? [ring.newest] : [])].map((kid) => ({ kid }));
    // First, because it takes the audit row along: a new key is not made when that cannot be written.
    await core.write((tx) => tx.replaceInto('core_superseded_keys').values(replaced).execute());
    try {
      if (ring.isOwn) {
        ring.renew();
      }
    } catch (cause) {
      throw new SvcError('unavailable', `the key file cannot be written (${messageOf(cause)}); the old key seals on`, { cause });
    }
  }

  async function retire(): Promise<void> {
    const leaving = new Set(ring.isOwn ? await superseded() : []);
    for (const column of leaving.size === 0 ? [] : await columns.all()) {
      (await keysIn(column, tables(column.plugin))).forEach((kid) => leaving.delete(kid));
    }
    if (leaving.size > 0) {
      ring.retire([...leaving]);
      await core.write((tx) =>
        tx
          .deleteFrom('core_superseded_keys')
          .where('kid', 'in', [...leaving])
          .execute(),
      );
      log.info({ kids: [...leaving] }, 'keys that no secret needs any more were retired');
    }
  }

  async function sealAll(): Promise<KeyRotation> {
    const kid = ring.newest;
    const unreadable: string[] = [];
    let resealed = 0;
    for (const column of await columns.all()) {
      const found = await reseal(column, kid, tables(column.plugin), secrets(column.plugin), end.signal);
      resealed += found.resealed;
      unreadable.push(...found.unreadable);
    }
    return { kid, resealed, unreadable: unreadable.length, unused: ring.older.filter((older) => !unreadable.includes(older)) };
  }

  return {
    async rotate() {
      if (running !== undefined) {
        throw new SvcError('conflict', 'secrets are being sealed with the newest key at the moment; try again when that is done');
      }
      if (!ring.isOwn && ring.older.length === 0) {
        throw new SvcError(
          'conflict',
          'the key comes from SVC_SECRET_KEY, so a new one has to come from there, too: put it behind the old one, separated by a comma, and start svc again',
        );
      }
      return await once(async () => {
        await renew();
        // On the house's own account: the request that asked for it may end before it does.
        return await surroundings.run({}, sealAll);
      });
    },

    resume() {
      const work = once(async () => ((await superseded()).length === 0 ? undefined : await sealAll()));
      work.then(
        (done) => done && log.info({ ...done }, 'secrets are sealed with the newest key'),
        (error: unknown) => log.warn({ cause: messageOf(error) }, 'not all secrets are sealed with the newest key yet; the next start goes on'),
      );
    },

    async retireUnused() {
      await retire().catch((error: unknown) =>
        log.warn({ cause: messageOf(error) }, 'a key that was rotated out could not be retired; the next start tries again'),
      );
    },

    async stop() {
      end.abort(new SvcError('unavailable', 'svc is stopping; the secrets that are left are sealed with the newest key after the next start'));
      // Whoever asked for it hears how it ended.
      await running?.catch(() => undefined);
    },
  };
}
