import { type Clock, type Counter, type Logger, messageOf, type Tables } from 'svc/sdk';

import { attempt, type AttemptParts, type Tried } from './attempt.ts';
import { mostTries, waitAfter } from './backoff.ts';
import { channelStore } from './channel-store.ts';
import { claim } from './claim.ts';
import { deliveryStore } from './delivery-store.ts';
import { type Lane, openLane } from './lane.ts';
import { stateStore } from './state-store.ts';
import type { ChannelRow, Delivery, NotifyTables } from './tables.ts';

export interface SenderParts extends Omit<AttemptParts, 'now'> {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly uuid: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  /** Tells this process and this generation of the plugin from all others. */
  readonly process: string;
  readonly generation: string;
  readonly signal: AbortSignal;
  readonly tries?: Counter;
}

export interface Sender {
  /** Begins to send whatever is due; channels never wait for each other. */
  look(): Promise<void>;
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>;
  /** The channel has another address. */
  forget(channel: number): void;
  /** Called with the id of each delivery that has ended by a try. */
  onEnd(listener: (id: string) => void): void;
}

/** Channels that are told something at the same time. */
const mostLanes = 16;
/** Longer than any try: whatever another generation of this process was sending then is not being sent. */
const leaseMs = 30_000;

/** A try whose end could not be written down yet. */
interface Unsaved {
  readonly row: Delivery;
  readonly channel: ChannelRow;
  readonly tried: Tried;
}

export function createSender(parts: SenderParts): Sender {
  const { tables, clock, log, uuid, signal } = parts;
  const owner = `${parts.process}/${parts.generation}`;
  const lanes = new Map<number, Lane<Unsaved>>();
  const running = new Set<Promise<void>>();
  const listeners: ((id: string) => void)[] = [];
  let recoverAt = -Infinity;
  let recovered = 0;
  let trouble: string | undefined;

  async function look(): Promise<void> {
    if (signal.aborted) {
      return;
    }
    await recover();
    const waiting = new Set([...(await deliveryStore(tables.read).waiting()), ...[...lanes].filter(([, lane]) => lane.unsaved).map(([id]) => id)]);
    for (const id of waiting) {
      const lane = lanes.get(id) ?? openLane<Unsaved>(await stateStore(tables.read).find(id), clock);
      lanes.set(id, lane);
      if (lane.busy || running.size >= mostLanes || (lane.wait() > 0 && !lane.unsaved)) {
        continue;
      }
      lane.busy = true;
      const turn = run(id, lane).finally(() => {
        lane.busy = false;
        running.delete(turn);
      });
      running.add(turn);
    }
  }

  /** At first what a process before this one was sending; later what another generation has left. */
  async function recover(): Promise<void> {
    if (clock.monotonic() < recoverAt) {
      return;
    }
    const all = recovered > 0;
    if (await deliveryStore(tables.read).hasLost(owner, parts.process, all)) {
      await tables.write((tx) => deliveryStore(tx).recover(owner, parts.process, all));
    }
    recovered += 1;
    recoverAt = clock.monotonic() + leaseMs;
  }

  /** One thing after the other, until nothing is due. */
  async function run(id: number, lane: Lane<Unsaved>): Promise<void> {
    try {
      while (!signal.aborted && (await step(id, lane))) {
        trouble = undefined;
      }
    } catch (error) {
      // What storage cannot take now is done at a later look; once in the log is enough for that.
      if (trouble !== messageOf(error)) {
        trouble = messageOf(error);
        log.error({ channel: id, error }, `notifications cannot be sent at the moment: ${trouble}`);
      }
    }
  }

  async function step(id: number, lane: Lane<Unsaved>): Promise<boolean> {
    if (lane.unsaved) {
      await save(lane, lane.unsaved);
    }
    const taken = await tables.write((tx) => take(id, lane, tx));
    if (taken === undefined) {
      return false;
    }
    const { row, channel } = taken;
    lane.hold(row.seq, 0);
    lane.note();
    const tried = await attempt({ ...parts, now: () => clock.now() }, row, channel, () => signal.aborted);
    parts.tries?.add(1, { channel_type: channel.channel_type, result: tried.result });
    lane.unsaved = { row, channel, tried };
    await save(lane, lane.unsaved);
    return true;
  }

  async function take(id: number, lane: Lane<Unsaved>, tx: typeof tables.read): Promise<{ row: Delivery; channel: ChannelRow } | undefined> {
    const channel = await channelStore(tx).find(id);
    const now = clock.now();
    if (channel === undefined || channel.enabled === 0) {
      await deliveryStore(tx).failAll(id, `the channel was ${channel === undefined ? 'deleted' : 'disabled'} before this was sent`, now, channel === undefined);
    }
    if (channel === undefined) {
      lanes.delete(id);
      return undefined;
    }
    lane.limits = parts.kinds.find(channel.channel_type)?.limits ?? [];
    if (lane.wait() > 0) {
      return undefined;
    }
    const row = await claim(tx, { channel, owner, now, uuid, waitOf: (candidate) => lane.waitOf(candidate) });
    if (row !== undefined) {
      // Before the request, so that a crash in between counts as one that was made.
      await stateStore(tx).tried(id, lane.recentWith(now));
    }
    return row && { row, channel };
  }

  /** Until it is written down, the lane stays where it is: nothing is sent twice because the disk is full. */
  async function save(lane: Lane<Unsaved>, { row, channel, tried }: Unsaved): Promise<void> {
    const now = clock.now();
    const asked = tried.result === 'retry' ? tried.afterMs : undefined;
    const again = tried.result === 'retry' && row.attempts < mostTries && row.kind !== 'test';
    const wait = again ? waitAfter(row.attempts, asked, parts.random()) : 0;
    await tables.write(async (tx) => {
      const [deliveries, states] = [deliveryStore(tx), stateStore(tx)];
      if (tried.result === 'stopped') {
        await deliveries.putBack(row, { due_at: now, wait_ms: 0, error: null, unclear: true, uncounted: true });
        return;
      }
      if (tried.result === 'sent') {
        await deliveries.finish(row, { sent: true, error: null, unclear: false }, now);
        await states.sent(channel.id, now);
        return;
      }
      const { reason: error, unclear } = tried;
      if (again) {
        await deliveries.putBack(row, { due_at: now + wait, wait_ms: wait, error, unclear, uncounted: false });
      } else {
        await deliveries.finish(row, { sent: false, error, unclear }, now);
      }
      const degraded = tried.result === 'failed' && tried.degraded;
      await states.failed(channel.id, error, { degraded, blockedUntil: asked === undefined ? null : now + asked }, now);
    });
    lane.unsaved = undefined;
    if (again) {
      lane.hold(row.seq, wait);
    }
    if (asked !== undefined) {
      lane.block(asked);
    }
    if (tried.result === 'failed' || tried.result === 'retry') {
      log.warn(
        { channel: channel.id, channel_type: channel.channel_type, delivery: row.id, try: row.attempts, again, cause: tried.reason },
        `a notification did not get through: ${tried.reason}`,
      );
    }
    if (!again && tried.result !== 'stopped') {
      listeners.forEach((listener) => listener(row.id));
    }
  }

  return {
    look,
    async settled() {
      while (running.size > 0) {
        await Promise.all(running);
      }
    },
    forget(channel) {
      lanes.get(channel)?.unblock();
    },
    onEnd: (listener) => void listeners.push(listener),
  };
}
