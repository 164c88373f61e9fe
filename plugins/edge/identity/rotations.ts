import { type Clock, type Ids, type Logger, messageOf, type Secrets, type Tables } from 'svc/sdk';
import { closeCode, type Sweeper, type TunnelSession } from 'svc/tunnel';

import type { EdgeTable } from '../record/edge-table.ts';
import { keyStore } from '../record/key-store.ts';
import { type LiveKey, offerPlace } from '../record/live-key.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { EdgeTables } from '../record/tables.ts';

export interface RotationParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

const offerMs = 30_000;
/** Retry times of an edge that has the new secret on disk. */
const comeBack = { retryMinMs: 0, retryMaxMs: 1_000 } as const;
const stayAway = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

/**
 * Returns whether there is a tunnel through which this edge can be given another secret; one that
 * reconnects shortly will have one.
 */
export const canBeOffered = ({ conflict, tunnel, online }: EdgeRecord): boolean =>
  conflict === undefined &&
  (tunnel ? tunnel.capabilities.methods.includes('rotate_secret') : online);

/** Two secrets live because the edge has not proved the newer one yet: which of them it has is not known for certain. */
export const isBeingOffered = ({
  keys,
}: {
  readonly keys: readonly Pick<LiveKey, 'offer'>[];
}): boolean => keys.length > 1 && keys[0]!.offer !== null;

/**
 * Rotations of edges from one secret to the next, after the new one is in the table. The offered
 * secret stays there, sealed, until the edge has proved it, and the older one stays valid
 * meanwhile: wherever the manager or the edge crashes, the edge is admitted and asked again.
 */
export class Rotations {
  readonly #parts: RotationParts;
  /** Generation that each edge has proved on a second connection. */
  readonly #probed = new Map<number, number>();
  readonly #asked = new WeakSet<TunnelSession>();

  constructor(parts: RotationParts) {
    this.#parts = parts;
  }

  /** Gives an edge that is online the secret that it has not proved yet, if there is one; never throws. The older dies once that is proved. */
  async offer(record: EdgeRecord): Promise<void> {
    const { secrets, ids, log } = this.#parts;
    const { tunnel } = record;
    const [newest] = record.keys;
    const sealed = newest?.offer ?? null;
    if (
      !newest ||
      sealed === null ||
      !tunnel ||
      tunnel.generation >= newest.generation ||
      !canBeOffered(record) ||
      this.#asked.has(tunnel.session)
    ) {
      return;
    }
    const { generation } = newest;
    const { session } = tunnel;
    this.#asked.add(session);
    try {
      const secret = secrets.open(offerPlace(record.id, generation), sealed);
      await session.call(
        'rotate_secret',
        { secret_key: secret, generation },
        { timeoutMs: offerMs, idempotencyKey: ids.uuid() },
      );
      // It reports that it has the secret, and has proved it: only both together exclude that it
      // returns with the older one alone.
      if (this.#probed.get(record.id) === generation) {
        this.#revoke(record, (older) => older < generation);
        session.goAway(
          { code: closeCode.restart, message: 'the secret of this connection was replaced' },
          comeBack,
        );
      }
    } catch (error) {
      log.warn(
        { event: 'edge.rotation_not_offered', edge: record.id, cause: messageOf(error) },
        'failed to offer the new secret to an edge; both secrets stay valid until it accepts the new one or the old one expires',
      );
    } finally {
      this.#asked.delete(session);
    }
  }

  /** The same for all that are online. */
  async offerAll(): Promise<void> {
    await Promise.all(
      [...this.#parts.edgeTable.all()].filter(isBeingOffered).map((record) => this.offer(record)),
    );
  }

  /** A tunnel that serves was opened with this generation: older ones are not needed any more. */
  proved(record: EdgeRecord, generation: number): void {
    this.#revoke(record, (older) => older < generation);
  }

  /** The same by a second connection, while the first one still serves with the older secret. */
  probed(record: EdgeRecord, generation: number): void {
    this.#probed.set(record.id, generation);
  }

  /** Closes the tunnel if its secret has expired, and schedules a check for when one will. */
  expire(record: EdgeRecord): void {
    const { clock, sweeper } = this.#parts;
    const now = clock.now();
    this.#revoke(record, (generation) => {
      const dies = record.keys.find((key) => key.generation === generation)?.diesAt ?? null;
      return dies !== null && dies <= now;
    });
    const { tunnel } = record;
    if (tunnel && !record.keys.some(({ generation }) => generation === tunnel.generation)) {
      tunnel.session.goAway(
        { code: closeCode.revoked, message: 'the secret of this connection was revoked' },
        stayAway,
      );
    }
    for (const { diesAt } of record.keys) {
      if (diesAt !== null) {
        sweeper.after(diesAt - now, () => this.expire(record));
      }
    }
  }

  expireAll(): void {
    for (const record of this.#parts.edgeTable.all()) {
      if (record.keys.some(({ diesAt }) => diesAt !== null)) {
        this.expire(record);
      }
    }
  }

  /** Memory first: whether a secret is dead must not wait for the disk. */
  #revoke(record: EdgeRecord, isDead: (generation: number) => boolean): void {
    const dead = record.keys
      .filter(({ generation }) => isDead(generation))
      .map(({ generation }) => generation);
    const living = record.keys.filter(({ generation }) => !dead.includes(generation));
    const settled = living.length === 1 && living[0]!.offer !== null;
    if (dead.length === 0 && !settled) {
      return;
    }
    record.keys = living;
    if (settled) {
      living[0]!.offer = null;
      this.#probed.delete(record.id);
    }
    this.#parts.tables
      .write(async (tx) => {
        await keyStore(tx).drop(record.id, dead);
        await (settled && keyStore(tx).forgetOffer(record.id));
      })
      .catch((error: unknown) => {
        this.#parts.log.warn(
          { event: 'edge.secret_not_deleted', edge: record.id, cause: messageOf(error) },
          'failed to delete a revoked secret; retrying when the edge reconnects or the secret expires',
        );
      });
  }
}
