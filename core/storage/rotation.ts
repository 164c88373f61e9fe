import { type KeyRotation, type Logger, type MasterKeys, messageOf, type Secrets, SvcError, type Tables } from '../sdk/index.ts';
import type { KeyRing } from './keys.ts';
import { keysIn, reseal } from './reseal.ts';
import type { SealedColumns } from './sealed-columns.ts';
import { surroundings } from './unit.ts';

export interface RotationParts {
  readonly ring: KeyRing;
  readonly columns: SealedColumns;
  readonly tables: (plugin: string) => Tables<unknown>;
  readonly secrets: (plugin: string) => Secrets;
  readonly log: Logger;
}

/** How the house comes from one master key to the next. */
export interface Rotation extends MasterKeys {
  /** Goes on where an earlier process was stopped; in the background. */
  resume(): void;
  /** Drops older keys that no value needs; only while nobody can hold a value that they have sealed but not yet written. */
  retireUnused(): Promise<void>;
  stop(): Promise<void>;
}

export function openRotation({ ring, columns, tables, secrets, log }: RotationParts): Rotation {
  let running: Promise<KeyRotation> | undefined;
  let stopping = false;

  /** On the house's own account: the request that asked for it may end before it does. */
  function sweep(): Promise<KeyRotation> {
    running = surroundings.run({}, sealAll).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function sealAll(): Promise<KeyRotation> {
    const kid = ring.newest;
    const unreadable: string[] = [];
    let resealed = 0;
    for (const column of await columns.all()) {
      if (stopping) {
        throw new SvcError('unavailable', 'svc is stopping; the secrets that are left are sealed with the newest key after the next start');
      }
      const found = await reseal(column, kid, tables(column.plugin), secrets(column.plugin));
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
      if (ring.isOwn) {
        ring.renew();
      } else if (ring.older.length === 0) {
        throw new SvcError(
          'conflict',
          'the key comes from SVC_SECRET_KEY, so a new one has to come from there, too: put it behind the old one, separated by a comma, and start svc again',
        );
      }
      return await sweep();
    },

    resume() {
      if (ring.older.length === 0 || running !== undefined) {
        return;
      }
      sweep().then(
        ({ kid, resealed, unreadable }) => log.info({ kid, resealed, unreadable }, 'secrets are sealed with the newest key'),
        (error: unknown) => log.warn({ cause: messageOf(error) }, 'not all secrets are sealed with the newest key yet; the next start goes on'),
      );
    },

    async retireUnused() {
      if (!ring.isOwn || ring.older.length === 0) {
        return;
      }
      const needed = new Set<string>();
      for (const column of await columns.all()) {
        (await keysIn(column, tables(column.plugin))).forEach((kid) => needed.add(kid));
      }
      const unused = ring.older.filter((kid) => !needed.has(kid));
      if (unused.length > 0) {
        ring.retire(unused);
        log.info({ kids: unused }, 'keys that no secret needs any more were retired');
      }
    },

    async stop() {
      stopping = true;
      await running?.catch(() => undefined);
    },
  };
}
