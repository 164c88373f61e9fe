import { DeliveryStore, type NewDelivery } from './delivery-store.ts';
import type { Delivery, Notify } from './tables.ts';

/** More waiting notices than this go as one digest. */
export const foldAbove = 5;

export interface Claiming {
  readonly channel: { readonly id: number; readonly name: string };
  readonly owner: string;
  readonly now: number;
  readonly uuid: () => string;
  /** Milliseconds until this one may be tried again. */
  readonly waitOf: (row: Delivery) => number;
}

/**
 * Claims what the channel is to be sent next, in the write of the caller: a test at once, everything that waits as one
 * digest where it is much, else the oldest that is due and has nothing of its incident before it.
 */
export async function claim(tx: Notify, { channel, owner, now, uuid, waitOf }: Claiming): Promise<Delivery | undefined> {
  const store = new DeliveryStore(tx);
  await store.foldResolved({ channel: channel.id }, now);
  const test = await store.oldest(channel.id, 'test');
  if (test !== undefined) {
    return await store.startTry(test.seq, owner);
  }
  const digest = await store.oldest(channel.id, 'digest');
  const free = await store.oldestSingle(channel.id, foldAbove + 1);
  if (digest === undefined && free.length <= foldAbove) {
    const next = firstDue(free, waitOf);
    return next && (await store.startTry(next.seq, owner));
  }
  if (digest !== undefined && waitOf(digest) > 0) {
    return undefined;
  }
  const whole = digest ?? (await store.openDigest(ownDelivery('digest', channel, uuid(), now)));
  if ((await store.fillDigest(whole)) > 0) {
    return await store.startTry(whole.seq, owner);
  }
  // Everything in it has been overtaken by resolves.
  await store.remove(whole.seq);
  return undefined;
}

/** A later notice of an incident waits for the earlier ones, other incidents do not. */
function firstDue(free: readonly Delivery[], waitOf: Claiming['waitOf']): Delivery | undefined {
  const seen = new Set<number>();
  for (const row of free) {
    if (!seen.has(row.incident_id) && waitOf(row) <= 0) {
      return row;
    }
    seen.add(row.incident_id);
  }
  return undefined;
}

/** A delivery that no notice asked for, and whose outcome is not reported. */
export const ownDelivery = (kind: 'digest' | 'test', channel: Claiming['channel'], id: string, now: number): NewDelivery => ({
  id,
  channel_id: channel.id,
  channel_name: channel.name,
  incident_id: 0,
  fire_seq: 0,
  kind,
  severity: 0,
  state: 'queued',
  due_at: now,
  accepted_at: now,
  recorded: 1,
  announced: 1,
});
