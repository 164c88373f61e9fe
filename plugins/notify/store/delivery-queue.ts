import type { Job, Jobs } from 'svc/jobs';

import { insertDeliveries, type NewDelivery } from './new-delivery.ts';
import { DeliveryStore } from './delivery-store.ts';
import type { Notify, NotifyTables } from './tables.ts';

/** What a job carries: whatever waits for this channel is to be sent. */
export interface ChannelJob {
  readonly channel: number;
}

/** The lease under which a channel is sent to: whatever is written of it, is written while that holds. */
export type ChannelLease = Pick<Job<ChannelJob, NotifyTables>, 'write' | 'signal'>;

/** Of the queue: one job a channel, as long as something waits for it. */
export const channelQueue = 'channel';

/** What waits for channels. Whoever changes that says so in the same transaction, so that the job of the channel looks at it. */
export class DeliveryQueue {
  readonly #jobs: Jobs<NotifyTables>;
  readonly #soonMs: number;

  /** By `soonMs` what waits for its time is seen, and waits on the clock that nobody sets; what comes until then is seen with it. */
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

  /** What waits for a channel has changed, or the channel itself. */
  look(tx: Notify, ...channels: readonly number[]): Promise<void> {
    return this.#look(tx, new Map(channels.map((channel) => [channel, 0])));
  }

  /** Takes over what waits without a job, as a version before this one has left it. */
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
