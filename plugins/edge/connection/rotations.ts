import { type Clock, type Ids, isSvcError, type Logger, type Secrets, type Tables } from 'svc/sdk';
import { closeCode, type Sweeper, type TunnelSession } from 'svc/tunnel';

import { edgeStore } from '../edge-store.ts';
import { type LiveKey, offerPlace } from './live-key.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';
import type { EdgeTables } from '../tables.ts';

/**
 * The way of an edge from one secret to the next, after the new one is in the table. What an edge is offered stays there, sealed, until
 * the edge has proved it, and the older one lives beside it: wherever the manager or the edge dies, the edge is let in and asked again.
 */
export interface Rotations {
  /** Gives an edge that is online the secret that it has not proved yet, if there is one; never throws. The older dies once that is proved. */
  offer(record: EdgeRecord): Promise<void>;
  /** The same for all that are online. */
  offerAll(): Promise<void>;
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
  readonly secrets: Pick<Secrets, 'open'>;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

const offerMs = 30_000;
/** The edge has the new secret on disk and comes back at once. */
const comeBack = { retryMinMs: 0, retryMaxMs: 1_000 } as const;
const stayAway = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

const causeOf = (error: unknown): string => (isSvcError(error) ? error.message : String(error));

/** Whether there is a tunnel through which this edge can be given another secret; one that is back in a moment will have one. */
export const canBeOffered = ({ conflict, tunnel, online }: EdgeRecord): boolean =>
  conflict === undefined && (tunnel ? tunnel.capabilities.methods.includes('rotate_secret') : online);

/** Two secrets live because the edge has not proved the newer one yet: which of them it has is not known for certain. */
export const isBeingOffered = ({ keys }: { readonly keys: readonly Pick<LiveKey, 'offer'>[] }): boolean => keys.length > 1 && keys[0]!.offer !== null;

export function createRotations({ roll, tables, secrets, sweeper, clock, ids, log }: RotationParts): Rotations {
  const probes = new Map<number, number>();
  const asked = new WeakSet<TunnelSession>();

  /** Memory first: whether a secret is dead must not wait for the disk. */
  function bury(record: EdgeRecord, isDead: (generation: number) => boolean): void {
    const dead = record.keys.filter(({ generation }) => isDead(generation)).map(({ generation }) => generation);
    const living = record.keys.filter(({ generation }) => !dead.includes(generation));
    const settled = living.length === 1 && living[0]!.offer !== null;
    if (dead.length === 0 && !settled) {
      return;
    }
    record.keys = living;
    if (settled) {
      living[0]!.offer = null;
      probes.delete(record.id);
    }
    tables
      .write(async (tx) => {
        await edgeStore(tx).dropKeys(record.id, dead);
        await (settled && edgeStore(tx).forgetOffer(record.id));
      })
      .catch((error: unknown) => {
        log.warn({ edge: record.id, cause: causeOf(error) }, 'a dead secret is still in the table; it goes when this edge connects again, or with its time');
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

  async function offer(record: EdgeRecord): Promise<void> {
    const { tunnel } = record;
    const [newest] = record.keys;
    const sealed = newest?.offer ?? null;
    if (!newest || sealed === null || !tunnel || tunnel.generation >= newest.generation || !canBeOffered(record) || asked.has(tunnel.session)) {
      return;
    }
    const { generation } = newest;
    const { session } = tunnel;
    asked.add(session);
    try {
      const secret = secrets.open(offerPlace(record.id, generation), sealed);
      await session.call('rotate_secret', { secret_key: secret, generation }, { timeoutMs: offerMs, idempotencyKey: ids.uuid() });
      // It says that it has it, and has shown it: only both together leave no way on which it comes back with the older one alone.
      if (probes.get(record.id) === generation) {
        bury(record, (older) => older < generation);
        session.goAway({ code: closeCode.restart, message: 'the secret of this connection was replaced' }, comeBack);
      }
    } catch (error) {
      log.warn({ edge: record.id, cause: causeOf(error) }, 'an edge did not take its new secret; both are good until it does, or the older one is over');
    } finally {
      asked.delete(session);
    }
  }

  return {
    expire,
    offer,
    expireAll() {
      for (const record of roll.all()) {
        if (record.keys.some(({ diesAt }) => diesAt !== null)) {
          expire(record);
        }
      }
    },
    offerAll: async () => void (await Promise.all([...roll.all()].filter(isBeingOffered).map(offer))),
    proved: (record, generation) => bury(record, (older) => older < generation),
    probed: (record, generation) => void probes.set(record.id, generation),
  };
}
