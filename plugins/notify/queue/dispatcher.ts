import type { Notice, NoticeDispatcher, NoticeIncident, Words } from 'svc/contracts/notify';
import type { Clock, Ids, Tables } from 'svc/sdk';

import { type Channel, channelOf } from '../channels/channel.ts';
import { ChannelStore } from '../store/channel-store.ts';
import type { ChannelTypeRegistry } from '../types/channel-types.ts';
import { ownDelivery } from './claim.ts';
import { wordsGroup } from '../store/delivery-conditions.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import { apart, delayOf, groupKeyOf } from '../message/grouping.ts';
import { groupName, groupsSentAt, KnownDeliveries } from './known-deliveries.ts';
import { severities } from '../message/message.ts';
import type { NewDelivery } from '../store/new-delivery.ts';
import { NoticeStore } from '../store/notice-store.ts';
import type { NotifyTables } from '../store/tables.ts';

export interface DispatcherParts {
  readonly tables: Tables<NotifyTables>;
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly types: Pick<ChannelTypeRegistry, 'find'>;
}

/** Accepts notices, and queues each for the channels whose filters let it through. */
export class Dispatcher implements NoticeDispatcher {
  readonly #parts: DispatcherParts;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  async accept(...given: readonly Notice[]): Promise<void> {
    const { tables, clock, queue } = this.#parts;
    const notices = given.map(bounded);
    const channels = await this.#channels();
    const now = clock.now();
    await tables.write(async (tx) => {
      const fresh = await new NoticeStore(tx).add(notices, now);
      const known = await KnownDeliveries.of(fresh, tx);
      const added = fresh.flatMap((notice) => this.#deliveriesOf(notice, channels, known, now));
      const sentAt = await groupsSentAt(added, tx);
      await queue.add(
        tx,
        added.map((row) => ({ ...row, ...dueIn(row, channels, sentAt.get(groupName(row)), now) })),
      );
      const over = fresh
        .filter(({ kind }) => kind === 'resolved')
        .map(({ incident }) => incident.id);
      if (over.length > 0) {
        await new DeliveryStore(tx).foldResolved({ incidents: over }, now);
      }
    });
  }

  async preview(notice: Notice): ReturnType<NoticeDispatcher['preview']> {
    const known = await KnownDeliveries.of([notice], this.#parts.tables.read);
    return (await this.#channels()).map((channel) => {
      const reason = reasonAgainst(notice, channel, known);
      return {
        channel_id: channel.id,
        name: channel.name,
        sends: reason === undefined,
        ...(reason !== undefined && { reason }),
      };
    });
  }

  async say({ id, title, lines, path, channels: wanted }: Words): Promise<void> {
    const { tables, clock, queue } = this.#parts;
    await tables.write(async (tx) => {
      const channels = (await new ChannelStore(tx).all()).filter(
        (row) => row.enabled === 1 && wanted.includes(row.id),
      );
      for (const channel of channels) {
        const delivery = `${id}.${channel.id}`;
        if ((await new DeliveryStore(tx).find(delivery)) === undefined) {
          await queue.add(tx, [
            { ...ownDelivery('test', channel, delivery, clock.now()), group_key: wordsGroup },
          ]);
          await new NoticeStore(tx).addWords({
            delivery_id: delivery,
            title,
            lines: JSON.stringify(lines),
            path,
          });
        }
      }
    });
  }

  async unknown(asked: readonly number[]): Promise<readonly number[]> {
    const known = new Set((await this.#channels()).map(({ id }) => id));
    return asked.filter((id) => !known.has(id));
  }

  async refusing(
    asked: readonly number[],
    incident: Parameters<NoticeDispatcher['refusing']>[1],
  ): ReturnType<NoticeDispatcher['refusing']> {
    return (await this.#channels())
      .filter(({ id }) => asked.includes(id))
      .flatMap((channel) => {
        const { name, enabled } = channel;
        const reason = enabled ? againstKind(incident, channel) : 'the channel is disabled';
        return reason === undefined ? [] : [{ name, reason, disabled: !enabled }];
      });
  }

  #deliveriesOf(
    notice: Notice,
    channels: readonly Taker[],
    known: KnownDeliveries,
    now: number,
  ): readonly NewDelivery[] {
    const takers = channels.filter(
      (channel) => reasonAgainst(notice, channel, known) === undefined,
    );
    const rows = takers.map((channel) =>
      deliveryOf(notice, channel, {
        id: this.#parts.ids.uuid(),
        group: known.groupOf(notice, channel) ?? groupKeyOf(channel, notice.incident),
        now,
      }),
    );
    // A later notice of the same batch may be about the same incident.
    rows.forEach((row) => known.add(row));
    return rows;
  }

  /** A platform that keeps incidents gathers them itself, and pages at once. */
  async #channels(): Promise<readonly Taker[]> {
    const { tables, types } = this.#parts;
    const channels = (await new ChannelStore(tables.read).all()).map(channelOf);
    return channels.map((channel) =>
      types.find(channel.type)?.tracks === true
        ? {
            ...channel,
            tracks: true,
            grouping: { ...channel.grouping, by: [apart], waitMs: 0, intervalMs: 0 },
          }
        : channel,
    );
  }
}

interface Taker extends Channel {
  readonly tracks?: boolean;
}

/** Why a notice is not for a channel; undefined when it is. A resolve goes to those that got the firing, all else by the filters of the channels. */
function reasonAgainst(notice: Notice, channel: Taker, known: KnownDeliveries): string | undefined {
  if (notice.kind === 'reminder' && notice.incident.status === 'acknowledged') {
    return channel.tracks !== true
      ? 'the channel has no incidents'
      : known.gotFiring(notice, channel)
        ? mismatch(notice, channel)
        : 'the channel did not get the firing notification';
  }
  if (notice.kind !== 'resolved') {
    return mismatch(notice, channel);
  }
  return !known.gotFiring(notice, channel)
    ? 'the channel did not get the firing notification'
    : !channel.enabled
      ? 'the channel is disabled'
      : channel.sendResolved
        ? undefined
        : 'the channel takes no resolve notifications';
}

function mismatch({ incident, pins }: Notice, channel: Channel): string | undefined {
  const { severity, scope_type: scope, labels, rule_key: rule } = incident;
  if (pins.length > 0 && !pins.includes(channel.id)) {
    return 'the rule pins other channels';
  }
  if (!channel.enabled) {
    return 'the channel is disabled';
  }
  if (rule === failingChannelRule && labels['channel_id'] === String(channel.id)) {
    return 'this is the failing channel itself';
  }
  const refused = againstKind({ severity, scope_type: scope }, channel);
  if (refused !== undefined) {
    return refused;
  }
  const other = Object.entries(channel.labels).find(
    ([name, value]) => !Object.hasOwn(labels, name) || labels[name] !== value,
  );
  return other && `the channel takes incidents with the label ${other[0]}="${other[1]}"`;
}

/** Why a channel takes no incident of this severity and scope; undefined when it does. */
function againstKind(
  { severity, scope_type: scope }: Parameters<NoticeDispatcher['refusing']>[1],
  { severityMin, scopeTypes }: Channel,
): string | undefined {
  if (
    severity !== undefined &&
    severityMin !== '' &&
    severities.indexOf(severity) < severities.indexOf(severityMin)
  ) {
    return `the channel takes ${severityMin} and above`;
  }
  return scopeTypes.length > 0 && !scopeTypes.includes(scope)
    ? `the channel takes the scopes ${scopeTypes.join(', ')}`
    : undefined;
}

export function deliveryOf(
  notice: Notice,
  channel: Pick<Channel, 'id' | 'name'>,
  { id, group, now }: { readonly id: string; readonly group: string; readonly now: number },
): NewDelivery {
  return {
    id,
    notice_id: notice.id,
    channel_id: channel.id,
    channel_name: channel.name,
    incident_id: notice.incident.id,
    fire_seq: notice.fire_seq,
    kind: notice.kind,
    severity: severities.indexOf(notice.incident.severity),
    state: 'queued',
    due_at: now,
    accepted_at: now,
    group_key: group,
  };
}

/** When the group of a delivery is to be sent. */
function dueIn(
  row: NewDelivery,
  channels: readonly Channel[],
  sentAt: number | undefined,
  now: number,
): Pick<NewDelivery, 'due_at' | 'wait_ms'> {
  const waitMs = delayOf(channels.find(({ id }) => id === row.channel_id)!.grouping, sentAt, now);
  return { due_at: now + waitMs, wait_ms: waitMs };
}

/**
 * Key of the rule that watches the channels themselves; a failing one is reported through the
 * others.
 */
const failingChannelRule = 'notify_channel_failing';

const maxEntries = 100;
const longestText = 4_000;

/** Labels and texts come from afar; what no message could hold is not kept for one. */
function bounded(notice: Notice): Notice {
  const { incident } = notice;
  const pairs = (map: NoticeIncident['labels']): Record<string, string> =>
    Object.fromEntries(
      Object.entries(map)
        .slice(0, maxEntries)
        .map(([name, text]) => [name.slice(0, 200), text.slice(0, longestText)]),
    );
  return {
    ...notice,
    incident: {
      ...incident,
      summary: incident.summary.slice(0, longestText),
      labels: pairs(incident.labels),
      annotations: pairs(incident.annotations),
    },
  };
}
