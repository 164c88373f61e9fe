import type { Ending, Job, Jobs } from 'svc/jobs';

import { ChannelSender, type ChannelSenderParts } from './channel-sender.ts';
import { type ChannelJob, channelQueue } from '../store/delivery-queue.ts';
import { SendSchedule } from './send-schedule.ts';
import { StateStore } from '../store/state-store.ts';
import type { NotifyTables } from '../store/tables.ts';

export interface SenderParts extends Omit<ChannelSenderParts, 'finished'> {
  readonly jobs: Pick<Jobs<NotifyTables>, 'queue'>;
}

/** Max channels that are sent to at the same time. */
const maxBusy = 32;
/** Deadline of one send; longer than any, with its enclosure. */
const tryMs = 180_000;
const maxBackoffMs = 30_000;

/** Sends queued deliveries by one job per channel: channels never wait for each other, and each gets one send at a time. */
export class Sender {
  readonly #parts: ChannelSenderParts;
  readonly #channels = new Map<number, ChannelSender>();
  readonly #listeners: ((id: string) => void)[] = [];

  constructor({ jobs, ...parts }: SenderParts) {
    this.#parts = {
      ...parts,
      finished: (id) => this.#listeners.forEach((listener) => listener(id)),
    };
    jobs.queue<ChannelJob>(channelQueue, {
      atOnce: maxBusy,
      tries: Infinity,
      timeoutMs: tryMs,
      maxBackoffMs,
      listed: false,
      title: ({ channel }) => `Send notifications to channel ${channel}`,
      work: (job) => this.#send(job),
    });
  }

  /** Calls `listener` with the id of each delivery that an attempt has ended. */
  onFinished(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  addressChanged(channel: number): void {
    this.#channels.get(channel)?.addressChanged();
  }

  async #send(job: Job<ChannelJob, NotifyTables>): Promise<Ending<NotifyTables>> {
    const { channel: id } = job.payload;
    const channel = this.#channels.get(id) ?? (await this.#open(id));
    this.#channels.set(id, channel);
    const ending = await channel.sendNext(job);
    if (channel.isDeleted) {
      this.#channels.delete(id);
    }
    return ending;
  }

  async #open(id: number): Promise<ChannelSender> {
    const { tables, clock } = this.#parts;
    const state = await new StateStore(tables.read).find(id);
    return new ChannelSender(id, new SendSchedule(state, clock), this.#parts);
  }
}
