import { type Clock, type Ids, isSvcError, type Logger, type Tables } from 'svc/sdk';
import { closeCode, type Sweeper } from 'svc/tunnel';

import { edgeStore } from './edge-store.ts';
import type { EdgeRecord } from './record.ts';
import type { Roll } from './roll.ts';
import type { EdgeTables } from './tables.ts';

/** The way of an edge from one secret to the next, after the new one is in the table. */
export interface Rotations {
  /** Gives the new secret to an edge that is online; resolves when that is settled. The old one lives until then, or to the end of its grace. */
  offer(record: EdgeRecord, secretKey: string, generation: number, graceEndsAt: number): Promise<void>;
  /** A tunnel that serves was opened with this generation: older ones are not needed any more. */
  proved(record: EdgeRecord, generation: number): void;
  /** The same by a second connection, while the first one still serves with the older secret. */
  probed(record: EdgeRecord, generation: number): void;
  /** Closes the tunnel when its secret is dead, and makes the appointment for when it will be. */
  expire(record: EdgeRecord): void;
  expireAll(): void;
}

export interface RotationParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

export const offerMs = 30_000;
/** The edge has the new secret on disk and comes back at once. */
const comeBack = { retryMinMs: 0, retryMaxMs: 1_000 } as const;
const stayAway = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

export function createRotations({ roll, tables, sweeper, clock, ids, log }: RotationParts): Rotations {
  const probes = new Map<number, number>();

  /** Memory first: whether a secret is dead must not wait for the disk. */
  function bury(record: EdgeRecord, isDead: (generation: number) => boolean): void {
    const dead = record.keys.filter(({ generation }) => isDead(generation)).map(({ generation }) => generation);
    if (dead.length === 0) {
      return;
    }
    record.keys = record.keys.filter(({ generation }) => !dead.includes(generation));
    tables
      .write((tx) => edgeStore(tx).dropKeys(record.id, dead))
      .catch((error: unknown) => {
        log.warn(
          { edge: record.id, cause: isSvcError(error) ? error.message : String(error) },
          'a dead secret is still in the table; it is past its time there',
        );
      });
  }

  function expire(record: EdgeRecord): void {
    const now = clock.now();
    bury(record, (generation) => {
      const dies = record.keys.find((key) => key.generation === generation)?.diesAt ?? null;
      return dies !== null && dies <= now;
    });
    const { tunnel } = record;
    if (tunnel && !record.keys.some(({ generation }) => generation === tunnel.generation)) {
      tunnel.session.goAway({ code: closeCode.revoked, message: 'the secret of this connection is dead' }, stayAway);
    }
    for (const { diesAt } of record.keys) {
      if (diesAt !== null) {
        sweeper.after(diesAt - now, () => expire(record));
      }
    }
  }

  return {
    expire,
    expireAll() {
      for (const record of roll.all()) {
        if (record.keys.some(({ diesAt }) => diesAt !== null)) {
          expire(record);
        }
      }
    },

    async offer(record, secretKey, generation, graceEndsAt) {
      const { tunnel } = record;
      try {
        if (tunnel?.capabilities.methods.includes('rotate_secret')) {
          await tunnel.session.call('rotate_secret', { secret_key: secretKey, generation }, { timeoutMs: offerMs, idempotencyKey: ids.uuid() });
        }
      } catch (error) {
        log.warn({ edge: record.id, cause: isSvcError(error) ? error.message : String(error) }, 'an edge did not take its new secret');
      }
      const taken = probes.get(record.id) === generation;
      probes.delete(record.id);
      if (taken || clock.now() >= graceEndsAt) {
        bury(record, (older) => older < generation);
      }
      if (taken && tunnel) {
        tunnel.session.goAway({ code: closeCode.restart, message: 'the secret of this connection was replaced' }, comeBack);
      } else {
        expire(record);
      }
    },

    proved: (record, generation) => bury(record, (older) => older < generation),
    probed: (record, generation) => void probes.set(record.id, generation),
  };
}
