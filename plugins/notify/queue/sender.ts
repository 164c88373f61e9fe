import { messageOf } from 'svc/sdk';

import { ChannelSender, type ChannelSenderParts } from './channel-sender.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import { SendSchedule } from './send-schedule.ts';
import { StateStore } from '../store/state-store.ts';

export interface SenderParts extends Omit<ChannelSenderParts, 'owner' | 'finished' | 'diverted'> {
  /** Tells this process and this generation of the plugin from all others. */
  readonly process: string;
  readonly generation: string;
}

/** Channels that are sent to at the same time. */
const mostBusy = 32;
/** Longer than any try: whatever another generation of this process was sending then is not being sent. */
const leaseMs = 90_000;

/** Sends what is queued; channels never wait for each other. */
export class Sender {
  readonly #parts: ChannelSenderParts & Pick<SenderParts, 'process'>;
  readonly #channels = new Map<number, ChannelSender>();
  readonly #busy = new Map<number, Promise<void>>();
  readonly #listeners: ((id: string) => void)[] = [];
  #recoverAt = -Infinity;
  /** Whether the deliveries of the process before this one have been put back. */
  #hasRecovered = false;
  #lastError: string | undefined;

  constructor(parts: SenderParts) {
    const owner = `${parts.process}/${parts.generation}`;
    const diverted = (channel: number): void => this.#channels.get(channel)?.roused();
    this.#parts = {
      ...parts,
      owner,
      diverted,
      finished: (id) => this.#listeners.forEach((listener) => listener(id)),
    };
  }

  /** Called with the id of each delivery that has ended by a try. */
  onFinished(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  addressChanged(channel: number): void {
    this.#channels.get(channel)?.addressChanged();
  }

  hurried(channel: number): void {
    this.#channels.get(channel)?.hurried();
  }

  /** Begins to send whatever is due; whether anything is queued or being sent. `isQuiet`: nothing else has written to the queue for a while. */
  async sendDue(isQuiet = false): Promise<boolean> {
    const { tables, signal } = this.#parts;
    if (signal.aborted) {
      return false;
    }
    await this.#recover();
    const unsaved = [...this.#channels.values()]
      .filter(({ hasUnsaved }) => hasUnsaved)
      .map(({ id }) => id);
    const waiting = new Set([
      ...(await new DeliveryStore(tables.read).waitingChannels()),
      ...unsaved,
    ]);
    for (const id of waiting) {
      const channel = await this.#channel(id);
      if (!this.#busy.has(id)) {
        await channel.tellHeldUp();
      }
      if (!this.#busy.has(id) && this.#busy.size < mostBusy && channel.mayGoOn(isQuiet)) {
        this.#busy.set(
          id,
          this.#drain(channel).finally(() => this.#busy.delete(id)),
        );
      }
    }
    return waiting.size > 0 || this.#busy.size > 0;
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    while (this.#busy.size > 0) {
      await Promise.all(this.#busy.values());
    }
  }

  async #channel(id: number): Promise<ChannelSender> {
    const channel =
      this.#channels.get(id) ?? new ChannelSender(id, await this.#scheduleOf(id), this.#parts);
    this.#channels.set(id, channel);
    return channel;
  }

  async #scheduleOf(id: number): Promise<SendSchedule> {
    const { tables, clock } = this.#parts;
    return new SendSchedule(await new StateStore(tables.read).find(id), clock);
  }

  /** At first what a process before this one was sending; later what another generation has left. */
  async #recover(): Promise<void> {
    const { clock, tables, owner, process } = this.#parts;
    if (clock.monotonic() < this.#recoverAt) {
      return;
    }
    if (await new DeliveryStore(tables.read).hasInterrupted(owner, process, this.#hasRecovered)) {
      await tables.write((tx) =>
        new DeliveryStore(tx).requeueInterrupted(owner, process, this.#hasRecovered),
      );
    }
    this.#hasRecovered = true;
    this.#recoverAt = clock.monotonic() + leaseMs;
  }

  /** One delivery after the other, until none is due. */
  async #drain(channel: ChannelSender): Promise<void> {
    const { signal, log } = this.#parts;
    try {
      while (!signal.aborted && (await channel.sendNext())) {
        this.#lastError = undefined;
      }
      if (channel.isDeleted) {
        this.#channels.delete(channel.id);
      }
    } catch (error) {
      // What storage cannot take now is done at a later look; once in the log is enough for that.
      if (this.#lastError !== messageOf(error)) {
        this.#lastError = messageOf(error);
        log.error(
          { event: 'notify.deliveries_not_stored', channel: channel.id, error },
          'could not read or store the deliveries of a channel; retried at the next look',
        );
      }
    }
  }
}
