import { type RawBuilder, sql } from 'kysely';

import type { AttemptResult } from './attempt.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { maxPatienceMs, soonTries } from './retries.ts';
import { StateStore } from '../store/state-store.ts';
import type { ChannelRow, Delivery, Notify } from '../store/tables.ts';

/** A try and what came of it. */
export interface Tried {
  readonly row: Delivery;
  readonly channel: ChannelRow;
  readonly result: AttemptResult;
}

interface AfterTry {
  readonly now: number;
  /** Delay requested by the platform. */
  readonly askedMs: number | undefined;
  /** Undefined: this was the last try. */
  readonly retryMs: number | undefined;
  readonly queue: DeliveryQueue;
}

/** Writes down what came of a try, and how the channel fares. */
export async function storeEnd(
  tx: Notify,
  { row, channel, result }: Tried,
  { now, askedMs, retryMs, queue }: AfterTry,
): Promise<void> {
  const [deliveries, states] = [new DeliveryStore(tx), new StateStore(tx)];
  if (result.result === 'stopped') {
    await deliveries.requeue(
      row,
      { due_at: now, wait_ms: 0, error: null, unclear: true, uncounted: true, isDelayed: false },
      now,
    );
    return;
  }
  if (result.result === 'sent') {
    await deliveries.finish(row, { sent: true, error: null, unclear: false }, now);
    await states.recordSent(channel.id, now);
    return;
  }
  const { reason: error, unclear } = result;
  const isLate =
    retryMs === undefined ||
    result.result === 'failed' ||
    row.attempts >= soonTries ||
    (askedMs ?? 0) > maxPatienceMs;
  if (retryMs === undefined) {
    await deliveries.finish(row, { sent: false, error, unclear }, now);
  } else {
    await deliveries.requeue(
      row,
      {
        due_at: now + retryMs,
        wait_ms: retryMs,
        error,
        unclear,
        uncounted: false,
        isDelayed: isLate,
      },
      now,
    );
  }
  if (isLate && channel.fallback_channel_id !== null) {
    await divert(
      tx,
      {
        queue,
        from: channel.id,
        to: channel.fallback_channel_id,
        what: sql<boolean>`late.seq = ${row.seq} or late.digest = ${row.seq}`,
      },
      now,
    );
  }
  const degraded = result.result === 'failed' && result.degraded;
  await states.recordFailure(
    channel.id,
    error,
    { degraded, blockedUntil: askedMs === undefined ? null : now + askedMs },
    now,
  );
}

interface Diverted {
  readonly queue: DeliveryQueue;
  readonly from: number;
  readonly to: number;
  /** Which of the deliveries that are `late`. */
  readonly what: RawBuilder<boolean>;
}

/** Queues the firings that cannot be sent for the channel that stands in, once; their ends follow by themselves. */
export async function divert(
  tx: Notify,
  { queue, from, to, what }: Diverted,
  now: number,
): Promise<void> {
  await sql`
    insert into notify_deliveries
      (id, notice_id, channel_id, channel_name, incident_id, fire_seq, kind, severity, state, due_at, accepted_at, group_key)
    select lower(hex(randomblob(16))), late.notice_id, other.id, other.name, late.incident_id, late.fire_seq, late.kind, late.severity, 'queued', ${now}, ${now}, late.group_key
    from notify_deliveries late, notify_channels other
    where (${what}) and late.channel_id = ${from} and late.kind = 'firing' and late.state in ('queued', 'failed')
      and other.id = ${to} and other.enabled = 1
    on conflict do nothing
  `.execute(tx);
  await queue.look(tx, to);
}
