import { type Ending, LeaseLost } from 'svc/jobs';
import type { Clock, Counter, Logger, Tables } from 'svc/sdk';

import { attempt, type AttemptParts, type AttemptResult } from './attempt.ts';
import { ChannelStore } from '../store/channel-store.ts';
import { claim } from './claim.ts';
import { severities } from '../message/message.ts';
import type { ChannelLease, DeliveryQueue } from '../store/delivery-queue.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import { HeldUp } from './held-up.ts';
import { isTriedAgain, soonTries, waitAfter } from './retries.ts';
import type { SendSchedule } from './send-schedule.ts';
import { StateStore } from '../store/state-store.ts';
import { storeEnd, type Tried } from './try-end.ts';
import type { ChannelRow, Delivery, Notify, NotifyTables } from '../store/tables.ts';

export interface ChannelSenderParts extends Omit<AttemptParts, 'now'> {
  readonly tables: Tables<NotifyTables>;
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly log: Logger;
  readonly uuid: () => string;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly tries?: Counter;
  /** Called after an attempt has ended a delivery. */
  readonly finished: (deliveryId: string) => void;
}

interface Claimed {
  readonly row: Delivery;
  readonly channel: ChannelRow;
}

/**
 * Max time that a message is held back beyond the wait of its group, and interval of checking it.
 */
const maxHeldMs = 5_000;
const lookMs = 400;
const maxHeld = 500;
/** Time until the next look: at what is due but cannot start yet, and at what becomes late while the platform blocks. */
const [unknownMs, blockedLookMs] = [200, 5_000];
/** Max wait of a job, which is on the wall clock: a clock that is set back a little delays nothing longer. */
const maxRestMs = 10_000;
const heldBack = { unclear: false, uncounted: true, isDelayed: false } as const;
const grave = severities.indexOf('critical');

/** Sends to one channel, one delivery at a time. */
export class ChannelSender {
  readonly id: number;
  readonly #parts: ChannelSenderParts;
  readonly #schedule: SendSchedule;
  readonly #heldUp: HeldUp;
  /**
   * Time since which the first message about an incident waits for its cause, by delivery number.
   */
  readonly #held = new Map<number, number>();
  #isDeleted = false;

  constructor(id: number, schedule: SendSchedule, parts: ChannelSenderParts) {
    this.id = id;
    this.#schedule = schedule;
    this.#parts = parts;
    this.#heldUp = new HeldUp(id, parts);
  }

  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Unblocks the channel: the platform blocked its previous address. */
  addressChanged(): void {
    this.#schedule.unblock();
  }

  /** Sends the next delivery; its end is stored with the end of the lease, and until then the channel gets nothing more. */
  async sendNext(lease: ChannelLease): Promise<Ending<NotifyTables>> {
    const { clock, tries } = this.#parts;
    await this.#heldUp.tell(lease, this.#schedule.blockedMs);
    const claimed = await lease.write((tx) => this.#claim(tx));
    if ('waitMs' in claimed) {
      const { waitMs } = claimed;
      return waitMs === Infinity
        ? {}
        : { state: 'waiting', afterMs: Math.min(waitMs || unknownMs, maxRestMs) };
    }
    const { row, channel } = claimed;
    if (await this.#waitsForCause(row)) {
      return this.#holdBack(row);
    }
    this.#held.delete(row.seq);
    this.#schedule.tried(row.seq);
    this.#schedule.recordSend();
    const result = await attempt(
      { ...this.#parts, now: () => clock.now() },
      row,
      channel,
      () => lease.signal.aborted,
    );
    tries?.add(1, { channel_type: channel.channel_type, result: result.result });
    return await this.#end({ row, channel, result }, lease);
  }

  #holdBack(row: Delivery): Ending<NotifyTables> {
    const now = this.#parts.clock.now();
    const again = { due_at: now + lookMs, wait_ms: lookMs, error: null, ...heldBack };
    this.#schedule.retryAfter(row, lookMs, again.due_at);
    return {
      state: 'waiting',
      write: (tx) => new DeliveryStore(tx).requeue(row, again, now),
    };
  }

  /**
   * Returns whether a message waits for the cause under investigation; critical ones are sent when
   * due.
   */
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
      now - since >= maxHeldMs ||
      !(await knowledge.isSought(incident, at))
    ) {
      return false;
    }
    if (this.#held.size > maxHeld) {
      // Of those that were dropped meanwhile.
      this.#held.clear();
    }
    this.#held.set(seq, since);
    return true;
  }

  /** Claims the next delivery, or returns the milliseconds until there is one; Infinity: nothing waits. */
  async #claim(tx: Notify): Promise<Claimed | { readonly waitMs: number }> {
    const { clock, types, uuid } = this.#parts;
    const channel = await new ChannelStore(tx).find(this.id);
    const deliveries = new DeliveryStore(tx);
    const now = clock.now();
    await deliveries.requeueInterrupted(this.id);
    this.#isDeleted = channel === undefined;
    if (channel === undefined || channel.enabled === 0) {
      await deliveries.failQueued(
        this.id,
        `the channel was ${this.#isDeleted ? 'deleted' : 'disabled'} before this was sent`,
        now,
        this.#isDeleted,
      );
    }
    if (channel === undefined || !(await deliveries.hasQueued(this.id))) {
      return { waitMs: Infinity };
    }
    const { limits = [], tracks = false } = types.find(channel.channel_type) ?? {};
    this.#schedule.limits = limits;
    if (this.#schedule.waitMs > 0) {
      return { waitMs: this.#pauseMs };
    }
    const found = await claim(tx, {
      channel,
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

  /** Ends the attempt: stores its result, and sends what belongs to a sent message, such as its picture. */
  async #end(tried: Tried, lease: ChannelLease): Promise<Ending<NotifyTables>> {
    const { clock, random, queue, finished } = this.#parts;
    const { row, result } = tried;
    const now = clock.now();
    const askedMs = result.result === 'retry' ? result.afterMs : undefined;
    const again = isTriedAgain(row, result);
    const retryMs = again
      ? waitAfter(result.result === 'failed' ? soonTries : row.attempts, askedMs, random())
      : undefined;
    if (retryMs !== undefined) {
      this.#schedule.retryAfter(row, retryMs, now + retryMs);
    }
    if (askedMs !== undefined) {
      this.#schedule.block(askedMs);
    }
    this.#logFailure(tried, again);
    const store = (tx: Notify): Promise<void> =>
      storeEnd(tx, tried, { now, askedMs, retryMs, queue });
    const written = (): void => void (again || result.result === 'stopped' || finished(row.id));
    if (
      result.result !== 'sent' ||
      result.enclose === undefined ||
      !(await this.#isStored(lease, store))
    ) {
      return { state: 'waiting', afterMs: this.#pauseMs, write: store, written };
    }
    written();
    const lost = await this.#enclose(lease, result.enclose);
    return {
      state: 'waiting',
      afterMs: this.#pauseMs,
      write: async (tx) =>
        lost === undefined ||
        (await new DeliveryStore(tx).note(row.seq, `sent without its picture: ${lost}`)),
    };
  }

  /** Milliseconds for which the platform takes nothing, so that nothing need be looked for. */
  get #pauseMs(): number {
    return Math.min(Math.max(0, this.#schedule.waitMs), blockedLookMs);
  }

  /** Returns false if storage refuses writes now; the enclosure is left out then. */
  async #isStored(lease: ChannelLease, store: (tx: Notify) => Promise<void>): Promise<boolean> {
    try {
      await lease.write(store);
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) {
        throw error;
      }
      return false;
    }
  }

  /** Sends an enclosure once; returns why it was not sent. */
  async #enclose(
    lease: ChannelLease,
    enclose: () => Promise<AttemptResult>,
  ): Promise<string | undefined> {
    if (!this.#schedule.hasRoomToSpare) {
      return "the platform's rate limit is nearly reached, and the rest is reserved for alerts";
    }
    const sends = this.#schedule.sendTimesWith(this.#parts.clock.now());
    await lease.write((tx) => new StateStore(tx).keepSendTimes(this.id, sends));
    this.#schedule.recordSend();
    const result = await enclose();
    if (result.result === 'retry' && result.afterMs !== undefined) {
      this.#schedule.block(result.afterMs);
    }
    return result.result === 'sent'
      ? undefined
      : result.result === 'stopped'
        ? 'svc stopped while it was sent'
        : result.reason;
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
          ? 'failed to deliver a notification; will retry'
          : 'failed to deliver a notification; giving up',
      );
    }
  }
}
