import { sql } from 'kysely';
import type { Clock, Counter, Logger, Tables } from 'svc/sdk';

import { attempt, type AttemptParts, type AttemptResult } from './attempt.ts';
import { ChannelStore } from './channel-store.ts';
import { claim } from './claim.ts';
import { wordsGroup } from './delivery-conditions.ts';
import { severities } from './message.ts';
import { DeliveryStore } from './delivery-store.ts';
import type { SendSchedule } from './send-schedule.ts';
import { StateStore } from './state-store.ts';
import type { ChannelRow, Delivery, Notify, NotifyTables } from './tables.ts';

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

/** A try whose result could not be stored yet. */
interface Unsaved extends Claimed {
  readonly result: AttemptResult;
}

/** After so many failed tries of a delivery people are told of that; interrupted ones do not count. */
const soonTries = 5;
/** What comes by no write of this process, such as the deliveries of one before it, is found by then. */
const longestRestMs = 30_000;
/** For so long the end of an incident is tried to be sent. */
const resolvedForMs = 86_400_000;

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
  /** Since when the first words about an incident wait for its cause, by the number of the delivery. */
  readonly #held = new Map<number, number>();
  #unsaved: Unsaved | undefined;
  /** Nothing of what was queued when it was looked for will be due before. */
  #restUntil = -Infinity;
  #isDeleted = false;

  constructor(id: number, schedule: SendSchedule, parts: ChannelSenderParts) {
    this.id = id;
    this.#schedule = schedule;
    this.#parts = parts;
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
      await tables.write((tx) => new DeliveryStore(tx).requeue(row, { due_at: clock.now() + lookMs, wait_ms: lookMs, error: null, ...heldBack }, clock.now()));
      this.#schedule.retryAfter(row.seq, lookMs);
      return true;
    }
    this.#held.delete(row.seq);
    this.#schedule.retryAfter(row.seq, 0);
    this.#schedule.recordSend();
    const result = await attempt({ ...this.#parts, now: () => clock.now() }, row, channel, () => signal.aborted);
    tries?.add(1, { channel_type: channel.channel_type, result: result.result });
    this.#unsaved = { row, channel, result };
    await this.#save(this.#unsaved);
    return true;
  }

  /** What is grave goes when it is due; all else waits a moment for the cause, while that is being looked for. */
  async #waitsForCause({ seq, kind, severity, attempts, incident_id: incident, accepted_at: at }: Delivery): Promise<boolean> {
    const { knowledge, clock } = this.#parts;
    const now = clock.monotonic();
    const since = this.#held.get(seq) ?? now;
    if (kind !== 'firing' || severity === grave || attempts > 1 || now - since >= mostHeldMs || !(await knowledge.isSought(incident, at))) {
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
      await new DeliveryStore(tx).failQueued(this.id, `the channel was ${this.#isDeleted ? 'deleted' : 'disabled'} before this was sent`, now, this.#isDeleted);
    }
    if (channel === undefined) {
      return { waitMs: 0 };
    }
    const { limits = [], tracks = false } = types.find(channel.channel_type) ?? {};
    this.#schedule.limits = limits;
    if (this.#schedule.waitMs > 0) {
      return { waitMs: this.#schedule.waitMs };
    }
    const found = await claim(tx, { channel, owner, now, uuid, folds: !tracks, waitOf: (candidate) => this.#schedule.retryWaitMs(candidate) });
    if ('row' in found) {
      // Before the request, so that a crash in between counts as one that was made.
      await new StateStore(tx).keepSendTimes(this.id, this.#schedule.sendTimesWith(now));
    }
    return 'row' in found ? { row: found.row, channel } : found;
  }

  /** Until it is stored, the channel gets nothing more: nothing is sent twice because the disk is full. */
  async #save({ row, channel, result }: Unsaved): Promise<void> {
    const { tables, clock, random, finished, diverted } = this.#parts;
    const now = clock.now();
    const askedMs = result.result === 'retry' ? result.afterMs : undefined;
    const again = isTriedAgain(row, result, now);
    const waitMs = again ? waitAfter(result.result === 'failed' ? soonTries : row.attempts, askedMs, random()) : 0;
    await tables.write((tx) => store(tx, { row, channel, result }, { now, askedMs, retryMs: again ? waitMs : undefined }));
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
  }

  #logFailure({ row, channel, result }: Unsaved, again: boolean): void {
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
        again ? 'could not deliver a notification; tried again later' : 'could not deliver a notification; given up',
      );
    }
  }
}

interface AfterTry {
  readonly now: number;
  /** What the platform itself asks to be waited. */
  readonly askedMs: number | undefined;
  /** Undefined: this was the last try. */
  readonly retryMs: number | undefined;
}

async function store(tx: Notify, { row, channel, result }: Unsaved, { now, askedMs, retryMs }: AfterTry): Promise<void> {
  const [deliveries, states] = [new DeliveryStore(tx), new StateStore(tx)];
  if (result.result === 'stopped') {
    await deliveries.requeue(row, { due_at: now, wait_ms: 0, error: null, unclear: true, uncounted: true, isDelayed: false }, now);
    return;
  }
  if (result.result === 'sent') {
    await deliveries.finish(row, { sent: true, error: null, unclear: false }, now);
    await states.recordSent(channel.id, now);
    return;
  }
  const { reason: error, unclear } = result;
  if (retryMs === undefined) {
    await deliveries.finish(row, { sent: false, error, unclear }, now);
  } else {
    const isDelayed = result.result === 'failed' || row.attempts >= soonTries;
    await deliveries.requeue(row, { due_at: now + retryMs, wait_ms: retryMs, error, unclear, uncounted: false, isDelayed }, now);
    if (isDelayed && channel.fallback_channel_id !== null) {
      await divert(tx, row, channel.fallback_channel_id, now);
    }
  }
  const degraded = result.result === 'failed' && result.degraded;
  await states.recordFailure(channel.id, error, { degraded, blockedUntil: askedMs === undefined ? null : now + askedMs }, now);
}

/** Queues the firings that cannot be sent for the channel that stands in, once; their ends follow by themselves. */
async function divert(tx: Notify, { seq, channel_id: from }: Delivery, to: number, now: number): Promise<void> {
  await sql`
    insert into notify_deliveries
      (id, notice_id, channel_id, channel_name, incident_id, fire_seq, kind, severity, state, due_at, accepted_at, group_key)
    select lower(hex(randomblob(16))), late.notice_id, other.id, other.name, late.incident_id, late.fire_seq, late.kind, late.severity, 'queued', ${now}, ${now}, late.group_key
    from notify_deliveries late, notify_channels other
    where (late.seq = ${seq} or late.digest = ${seq}) and late.channel_id = ${from} and late.kind = 'firing' and late.state = 'queued'
      and other.id = ${to} and other.enabled = 1
    on conflict do nothing
  `.execute(tx);
}

/** A firing is tried as long as it burns: what waits for the channel goes when a resolve overtakes it. */
function isTriedAgain(row: Delivery, result: AttemptResult, now: number): boolean {
  const isRefused = result.result === 'failed';
  if (
    (row.kind === 'test' && (row.group_key !== wordsGroup || row.attempts >= soonTries)) ||
    (result.result !== 'retry' && !isRefused) ||
    (isRefused && result.unclear)
  ) {
    return false;
  }
  switch (row.kind) {
    case 'reminder':
      return !isRefused && row.attempts < soonTries;
    case 'resolved':
      return now - row.accepted_at < resolvedForMs;
    default:
      return true;
  }
}

const waitsMs = [5_000, 15_000, 45_000, 135_000, 300_000];
const jitter = 0.2;

/** The wait after a try, of which `random` in [0, 1) moves a fifth up or down; what the platform asks for is obeyed to the letter. */
function waitAfter(tries: number, askedMs: number | undefined, random: number): number {
  if (askedMs !== undefined) {
    return askedMs;
  }
  const usual = waitsMs[Math.min(Math.max(tries, 1), waitsMs.length) - 1]!;
  return Math.round(usual * (1 - jitter + 2 * jitter * random));
}
