import { DeliveryStore } from '../store/delivery-store.ts';
import { everyGroup } from '../message/grouping.ts';
import type { NewDelivery } from '../store/new-delivery.ts';
import type { Delivery, Notify } from '../store/tables.ts';
import { WaitingDeliveries, type WaitingGroup } from '../store/waiting-deliveries.ts';

/** Number of due groups above which they are sent as one digest. */
export const foldAbove = 5;

/** Rate at which a group is still growing: sent now, the rest would come an interval later. */
const filling = { count: 100, withinMs: 3_000, atMostMs: 30_000 };

export interface Claiming {
  readonly channel: { readonly id: number; readonly name: string };
  readonly now: number;
  readonly uuid: () => string;
  /** False sends each incident separately, however many are due. */
  readonly folds: boolean;
  /** Milliseconds until this one may be tried, or tried again. */
  readonly waitOf: (row: Delivery) => number;
}

/** Begins a try of one. */
type Start = (seq: number) => Promise<Delivery>;

/** Claimed delivery; or after how many milliseconds there will be one, unless the queue changes. */
export type Claim = { readonly row: Delivery } | { readonly waitMs: number };

/**
 * Claims what the channel is to be sent next, in the caller's write: a test immediately, everything
 * due as one digest if that is many groups, else the group that has been due longest.
 */
export async function claim(
  tx: Notify,
  { channel, now, uuid, folds, waitOf }: Claiming,
): Promise<Claim> {
  const queue = new DeliveryStore(tx);
  const store = new WaitingDeliveries(tx);
  const start: Start = (seq) => queue.startTry(seq);
  await queue.foldResolved({ channel: channel.id }, now);
  const test = await store.oldestTest(channel.id);
  if (test !== undefined && waitOf(test) <= 0) {
    return { row: await start(test.seq) };
  }
  const recent = { since: now - filling.withinMs, until: now };
  const waiting = new Map(
    (await store.waitingGroups(channel.id, recent)).map((group) => [group.key, group]),
  );
  const digests = new Map(
    (await store.openDigests(channel.id)).map((digest) => [digest.group_key, digest]),
  );
  const due = new Set([
    ...[...digests.values()]
      .filter((digest) => waitOf(digest) <= 0)
      .map(({ group_key: key }) => key),
    ...[...waiting.values()]
      .filter((group) => waitOf(group.next) <= 0 && !isFilling(group, now))
      .map(({ key }) => key),
  ]);
  const whole = digests.get(everyGroup);
  if (whole !== undefined && waitOf(whole) > 0) {
    return { waitMs: Math.min(waitOf(whole), test === undefined ? Infinity : waitOf(test)) };
  }
  if (whole !== undefined || (folds && due.size > foldAbove)) {
    const digest = await startDigest(
      store,
      whole ?? (await store.openDigest(digestOf(everyGroup, channel, uuid(), now))),
      { groups: [...due], start },
    );
    return digest === undefined ? { waitMs: 0 } : { row: digest };
  }
  for (const key of due) {
    const group = waiting.get(key);
    const digest = digests.get(key);
    const started =
      digest === undefined && group?.isOfOneIncident === true
        ? await startOldest(store, group, { channel, start, waitOf })
        : await startDigest(
            store,
            digest ?? (await store.openDigest(digestOf(key, channel, uuid(), now))),
            { groups: [key], start },
          );
    if (started !== undefined) {
      return { row: started };
    }
  }
  // Of what is due and was not begun, such as a group that still fills, it is not known until when.
  const waits = [
    ...(test === undefined ? [] : [test]),
    ...digests.values(),
    ...[...waiting.values()].map(({ next }) => next),
  ].map(waitOf);
  return { waitMs: waits.some((ms) => ms <= 0) ? 0 : Math.min(...waits) };
}

const isFilling = ({ fresh, next }: WaitingGroup, now: number): boolean =>
  fresh > filling.count &&
  next.wait_ms > 0 &&
  next.attempts === 0 &&
  now - next.due_at < filling.atMostMs;

/**
 * Starts the oldest delivery of one incident, whose messages are sent separately, in order;
 * instances that have joined since are included in its firing.
 */
async function startOldest(
  store: WaitingDeliveries,
  { key, next, total }: WaitingGroup,
  { channel, start, waitOf }: Pick<Claiming, 'channel' | 'waitOf'> & { readonly start: Start },
): Promise<Delivery | undefined> {
  const oldest = total === 1 ? next : await store.oldestOf(channel.id, key);
  if (waitOf(oldest) > 0) {
    return undefined;
  }
  const isJoined = total > 1 && oldest.kind === 'firing';
  return await start(isJoined ? await store.gatherJoined(oldest) : oldest.seq);
}

/** Undefined when everything in it has been overtaken by resolves. */
async function startDigest(
  store: WaitingDeliveries,
  digest: Delivery,
  { groups, start }: { readonly groups: readonly string[]; readonly start: Start },
): Promise<Delivery | undefined> {
  if ((await store.fillDigest(digest, groups)) > 0) {
    return await start(digest.seq);
  }
  await store.remove(digest.seq);
  return undefined;
}

const digestOf = (
  key: string,
  channel: Claiming['channel'],
  id: string,
  now: number,
): NewDelivery => ({
  ...ownDelivery('digest', channel, id, now),
  group_key: key,
});

/** A delivery that no notice asked for, and whose outcome is not reported. */
export const ownDelivery = (
  kind: 'digest' | 'test',
  channel: Claiming['channel'],
  id: string,
  now: number,
): NewDelivery => ({
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
  group_key: '',
  recorded: 1,
  announced: 1,
});
