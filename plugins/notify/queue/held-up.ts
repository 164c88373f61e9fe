import { type RawBuilder, sql } from 'kysely';
import { type Clock, type Tables, timestamp } from 'svc/sdk';

import { ChannelStore } from '../store/channel-store.ts';
import { isQueued } from '../store/delivery-conditions.ts';
import { maxPatienceMs } from './retries.ts';
import type { ChannelLease, DeliveryQueue } from '../store/delivery-queue.ts';
import type { NotifyTables } from '../store/tables.ts';
import { divert } from './try-end.ts';

export interface HeldUpParts {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly queue: DeliveryQueue;
}

const lookEveryMs = 5_000;

/** Untried deliveries during a long back-off requested by a platform for one channel. */
export class HeldUp {
  readonly #channel: number;
  readonly #parts: HeldUpParts;
  #lookAt = -Infinity;

  constructor(channel: number, parts: HeldUpParts) {
    this.#channel = channel;
    this.#parts = parts;
  }

  /** Reports deliveries that will be late, and sends them to the substitute channel. */
  async tell(lease: ChannelLease, blockedMs: number): Promise<void> {
    const { tables, clock, queue } = this.#parts;
    const now = clock.now();
    if (blockedMs <= maxPatienceMs || clock.monotonic() < this.#lookAt) {
      return;
    }
    this.#lookAt = clock.monotonic() + lookEveryMs;
    const isLate = this.#isLate(now);
    if (
      (await tables.read
        .selectFrom('notify_deliveries')
        .select('seq')
        .where(isLate)
        .limit(1)
        .executeTakeFirst()) === undefined
    ) {
      return;
    }
    const error = `the platform accepts nothing before ${timestamp(now + Math.round(blockedMs))}`;
    await lease.write(async (tx) => {
      await tx
        .updateTable('notify_deliveries')
        .set({ delayed_at: now, error })
        .where(isLate)
        .execute();
      const fallback =
        (await new ChannelStore(tx).find(this.#channel))?.fallback_channel_id ?? null;
      if (fallback !== null) {
        await divert(
          tx,
          {
            queue,
            from: this.#channel,
            to: fallback,
            what: sql<boolean>`late.delayed_at is not null and late.state = 'queued'`,
          },
          now,
        );
      }
    });
  }

  #isLate(now: number): RawBuilder<boolean> {
    return sql<boolean>`channel_id = ${this.#channel} and ${isQueued} and delayed_at is null and due_at <= ${now} and kind not in ('digest', 'test')`;
  }
}
