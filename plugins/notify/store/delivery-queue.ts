import type { Job, Jobs } from 'svc/jobs';

import { insertDeliveries, type NewDelivery } from './new-delivery.ts';
import { DeliveryStore } from './delivery-store.ts';
import type { Notify, NotifyTables } from './tables.ts';

/** Payload of a job: the channel whose waiting deliveries it sends. */
export interface ChannelJob {
  readonly channel: number;
}

/** Lease under which a channel is sent to; every write about it is fenced by that. */
export type ChannelLease = Pick<Job<ChannelJob, NotifyTables>, 'write' | 'signal'>;

/** Name of the queue: one job per channel, as long as something waits for it. */
export const channelQueue = 'channel';

/** Deliveries that wait for channels. Whoever changes them enqueues the job of the channel in the same transaction. */
export class DeliveryQueue {
  readonly #jobs: Jobs<NotifyTables>;
  readonly #soonMs: number;

  /** `soonMs`: how soon new deliveries are first seen, which starts their wait on the monotonic clock; a burst is seen at once. */
  constructor(jobs: Jobs<NotifyTables>, soonMs = 200) {
    this.#jobs = jobs;
    this.#soonMs = soonMs;
  }

  async add(tx: Notify, deliveries: readonly NewDelivery[]): Promise<void> {
    await insertDeliveries(tx, deliveries);
    const waits = new Map<number, number>();
    for (const { channel_id: channel, wait_ms: wait = 0 } of deliveries) {
      waits.set(channel, Math.min(wait, waits.get(channel) ?? this.#soonMs));
    }
    await this.#look(tx, waits);
  }

  /** Enqueues the jobs of channels whose deliveries, or which themselves, have changed. */
  look(tx: Notify, ...channels: readonly number[]): Promise<void> {
    return this.#look(tx, new Map(channels.map((channel) => [channel, 0])));
  }

  /** Enqueues jobs for deliveries without one, as a version without jobs leaves them. */
  async takeOver(tx: Notify): Promise<void> {
    await this.look(tx, ...(await new DeliveryStore(tx).openChannels()));
  }

  async #look(tx: Notify, waits: ReadonlyMap<number, number>): Promise<void> {
    await this.#jobs.add<ChannelJob>(
      tx,
      channelQueue,
      [...waits].map(([channel, delayMs]) => ({
        payload: { channel },
        key: String(channel),
        again: true,
        delayMs,
      })),
    );
  }
}
