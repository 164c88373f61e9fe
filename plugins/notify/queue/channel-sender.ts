import type { Clock, Counter, Logger, Tables } from 'svc/sdk';

import { attempt, type AttemptParts, type AttemptResult } from './attempt.ts';
import { ChannelStore } from '../store/channel-store.ts';
import { claim } from './claim.ts';
import { severities } from '../message/message.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import { HeldUp } from './held-up.ts';
import { isTriedAgain, soonTries, waitAfter } from './retries.ts';
import type { SendSchedule } from './send-schedule.ts';
import { StateStore } from '../store/state-store.ts';
import { storeEnd, type Tried } from './try-end.ts';
import type { ChannelRow, Delivery, Notify, NotifyTables } from '../store/tables.ts';

export interface ChannelSenderParts extends Omit<AttemptParts, 'now'> {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly uuid: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly tries?: Counter;
  /** Process and generation that send, as they stand in the rows they send. */
  readonly owner: string;
  /** After what this channel was to be sent has been queued for the one that stands in. */
  readonly diverted: (channel: number) => void;
  /** After a delivery has ended by a try. */
  readonly finished: (deliveryId: string) => void;
}

interface Claimed {
  readonly row: Delivery;
  readonly channel: ChannelRow;
}

/** What comes by no write of this process, such as the deliveries of one before it, is found by then. */
const longestRestMs = 30_000;

/** Beyond the waiting of its group a message is held back for so long at most, and it is looked so often. */
const mostHeldMs = 5_000;
const lookMs = 400;
const mostHeld = 500;
const heldBack = { unclear: false, uncounted: true, isDelayed: false } as const;
const grave = severities.indexOf('critical');

/** Sends to one channel, one delivery at a time. */
export class ChannelSender {
  readonly id: number;
  readonly #parts: ChannelSenderParts;
  readonly #schedule: SendSchedule;
  readonly #heldUp: HeldUp;
  /** Since when the first words about an incident wait for its cause, by the number of the delivery. */
  readonly #held = new Map<number, number>();
  /** A try whose result could not be stored yet. */
  #unsaved: Tried | undefined;
  /** Nothing of what was queued when it was looked for will be due before. */
  #restUntil = -Infinity;
  #isDeleted = false;

  constructor(id: number, schedule: SendSchedule, parts: ChannelSenderParts) {
    this.id = id;
    this.#schedule = schedule;
    this.#parts = parts;
    this.#heldUp = new HeldUp(id, parts);
  }

  get hasUnsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /** `isQuiet`: nothing but the sender has written to the queue for a while. */
  mayGoOn(isQuiet: boolean): boolean {
    const isAtRest = isQuiet && this.#parts.clock.monotonic() < this.#restUntil;
    return this.hasUnsaved || (this.#schedule.waitMs <= 0 && !isAtRest);
  }

  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** The platform's wait was for the address before. */
  addressChanged(): void {
    this.#restUntil = -Infinity;
    this.#schedule.unblock();
    this.#schedule.forgetRetries();
  }

  /** There is more in its queue. */
  roused(): void {
    this.#restUntil = -Infinity;
  }

  /** What waits after a try that failed has been set to be tried now. */
  hurried(): void {
    this.#restUntil = -Infinity;
    this.#schedule.forgetRetries();
  }

  /** What is due while the platform lets nothing through. */
  tellHeldUp(): Promise<void> {
    return this.#heldUp.tell(this.#schedule.blockedMs);
  }

  /** Sends what is next, and stores what came of it; false when no delivery is due. */
  async sendNext(): Promise<boolean> {
    const { tables, clock, signal, tries } = this.#parts;
    if (this.#unsaved) {
      await this.#save(this.#unsaved);
    }
    const now = clock.monotonic();
    const claimed = await tables.write((tx) => this.#claim(tx));
    if ('waitMs' in claimed) {
      this.#restUntil = now + Math.min(claimed.waitMs, longestRestMs);
      return false;
    }
    this.#restUntil = -Infinity;
    const { row, channel } = claimed;
    if (await this.#waitsForCause(row)) {
      await tables.write((tx) =>
        new DeliveryStore(tx).requeue(
          row,
          { due_at: clock.now() + lookMs, wait_ms: lookMs, error: null, ...heldBack },
          clock.now(),
        ),
      );
      this.#schedule.retryAfter(row.seq, lookMs);
      return true;
    }
    this.#held.delete(row.seq);
    this.#schedule.retryAfter(row.seq, 0);
    this.#schedule.recordSend();
    const result = await attempt(
      { ...this.#parts, now: () => clock.now() },
      row,
      channel,
      () => signal.aborted,
    );
    tries?.add(1, { channel_type: channel.channel_type, result: result.result });
    this.#unsaved = { row, channel, result };
    await this.#save(this.#unsaved);
    return true;
  }

  /** What is grave goes when it is due; all else waits a moment for the cause, while that is being looked for. */
  async #waitsForCause({
    seq,
    kind,
    severity,
    attempts,
    incident_id: incident,
    accepted_at: at,
  }: Delivery): Promise<boolean> {
    const { knowledge, clock } = this.#parts;
    const now = clock.monotonic();
    const since = this.#held.get(seq) ?? now;
    if (
      kind !== 'firing' ||
      severity === grave ||
      attempts > 1 ||
      now - since >= mostHeldMs ||
      !(await knowledge.isSought(incident, at))
    ) {
      return false;
    }
    if (this.#held.size > mostHeld) {
      // Of those that were dropped meanwhile.
      this.#held.clear();
    }
    this.#held.set(seq, since);
    return true;
  }

  async #claim(tx: Notify): Promise<Claimed | { readonly waitMs: number }> {
    const { clock, types, owner, uuid } = this.#parts;
    const channel = await new ChannelStore(tx).find(this.id);
    const now = clock.now();
    this.#isDeleted = channel === undefined;
    if (channel === undefined || channel.enabled === 0) {
      await new DeliveryStore(tx).failQueued(
        this.id,
        `the channel was ${this.#isDeleted ? 'deleted' : 'disabled'} before this was sent`,
        now,
        this.#isDeleted,
      );
    }
    if (channel === undefined) {
      return { waitMs: 0 };
    }
    const { limits = [], tracks = false } = types.find(channel.channel_type) ?? {};
    this.#schedule.limits = limits;
    if (this.#schedule.waitMs > 0) {
      return { waitMs: this.#schedule.waitMs };
    }
    const found = await claim(tx, {
      channel,
      owner,
      now,
      uuid,
      folds: !tracks,
      waitOf: (candidate) => this.#schedule.retryWaitMs(candidate),
    });
    if ('row' in found) {
      // Before the request, so that a crash in between counts as one that was made.
      await new StateStore(tx).keepSendTimes(this.id, this.#schedule.sendTimesWith(now));
    }
    return 'row' in found ? { row: found.row, channel } : found;
  }

  /** Until it is stored, the channel gets nothing more: nothing is sent twice because the disk is full. */
  async #save({ row, channel, result }: Tried): Promise<void> {
    const { tables, clock, random, finished, diverted } = this.#parts;
    const now = clock.now();
    const askedMs = result.result === 'retry' ? result.afterMs : undefined;
    const again = isTriedAgain(row, result);
    const waitMs = again
      ? waitAfter(result.result === 'failed' ? soonTries : row.attempts, askedMs, random())
      : 0;
    await tables.write((tx) =>
      storeEnd(tx, { row, channel, result }, { now, askedMs, retryMs: again ? waitMs : undefined }),
    );
    this.#unsaved = undefined;
    if (again) {
      this.#schedule.retryAfter(row.seq, waitMs);
      if (channel.fallback_channel_id !== null) {
        diverted(channel.fallback_channel_id);
      }
    }
    if (askedMs !== undefined) {
      this.#schedule.block(askedMs);
    }
    this.#logFailure({ row, channel, result }, again);
    if (!again && result.result !== 'stopped') {
      finished(row.id);
    }
    if (result.result === 'sent' && result.enclose !== undefined) {
      await this.#enclose(row, result.enclose);
    }
  }

  /** What belongs to a message that was sent, such as its picture, once; that it did not go is a word beside the delivery. */
  async #enclose({ seq }: Delivery, enclose: () => Promise<AttemptResult>): Promise<void> {
    const { tables, clock } = this.#parts;
    let lost: string | undefined =
      'the platform takes few more messages in this minute, which are kept for alerts';
    if (this.#schedule.hasRoomToSpare) {
      await tables.write((tx) =>
        new StateStore(tx).keepSendTimes(this.id, this.#schedule.sendTimesWith(clock.now())),
      );
      this.#schedule.recordSend();
      const result = await enclose();
      lost =
        result.result === 'sent'
          ? undefined
          : result.result === 'stopped'
            ? 'svc stopped while it was sent'
            : result.reason;
      if (result.result === 'retry' && result.afterMs !== undefined) {
        this.#schedule.block(result.afterMs);
      }
    }
    if (lost !== undefined) {
      await tables.write((tx) =>
        new DeliveryStore(tx).note(seq, `sent without its picture: ${lost}`),
      );
    }
  }

  #logFailure({ row, channel, result }: Tried, again: boolean): void {
    if (result.result === 'failed' || result.result === 'retry') {
      this.#parts.log.warn(
        {
          event: 'notify.delivery_failed',
          channel: channel.id,
          channel_type: channel.channel_type,
          delivery: row.id,
          try: row.attempts,
          again,
          cause: result.reason,
        },
        again
          ? 'could not deliver a notification; tried again later'
          : 'could not deliver a notification; given up',
      );
    }
  }
}
