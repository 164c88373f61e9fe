import type { Clock, Ids, Tables } from 'svc/sdk';

import { type Channel, channelOf } from './channel.ts';
import { ChannelStore } from './channel-store.ts';
import type { Notice, NoticeDispatcher, NoticeIncident } from './contract.ts';
import { DeliveryStore, type NewDelivery } from './delivery-store.ts';
import { severities } from './message.ts';
import { NoticeStore } from './notice-store.ts';
import type { Notify, NotifyTables } from './tables.ts';

export interface DispatcherParts {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Accepts notices, and queues each for the channels whose filters let it through. */
export class Dispatcher implements NoticeDispatcher {
  readonly #parts: DispatcherParts;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  async accept(given: Notice): Promise<void> {
    const { tables, clock, ids } = this.#parts;
    const notice = bounded(given);
    const channels = await this.#channels();
    const now = clock.now();
    await tables.write(async (tx) => {
      if (!(await new NoticeStore(tx).add(notice, now))) {
        return;
      }
      const reasonAgainst = await filterFor(notice, tx);
      const takers = channels.filter((channel) => reasonAgainst(channel) === undefined);
      const deliveries = new DeliveryStore(tx);
      await deliveries.add(takers.map((channel) => deliveryOf(notice, channel, ids.uuid(), now)));
      if (notice.kind === 'resolved') {
        await deliveries.foldResolved({ incident: notice.incident.id, fireSeq: notice.fire_seq }, now);
      }
    });
  }

  async preview(notice: Notice): ReturnType<NoticeDispatcher['preview']> {
    const reasonAgainst = await filterFor(notice, this.#parts.tables.read);
    return (await this.#channels()).map((channel) => {
      const reason = reasonAgainst(channel);
      return { channel_id: channel.id, name: channel.name, sends: reason === undefined, ...(reason !== undefined && { reason }) };
    });
  }

  async unknown(asked: readonly number[]): Promise<readonly number[]> {
    const known = new Set((await this.#channels()).map(({ id }) => id));
    return asked.filter((id) => !known.has(id));
  }

  async #channels(): Promise<readonly Channel[]> {
    return (await new ChannelStore(this.#parts.tables.read).all()).map(channelOf);
  }
}

/** Why a notice is not for a channel; undefined when it is. */
type ChannelFilter = (channel: Channel) => string | undefined;

/** A resolve goes to those that got the firing, all else by the filters of the channels. */
async function filterFor(notice: Notice, db: Notify): Promise<ChannelFilter> {
  if (notice.kind !== 'resolved') {
    return (channel) => mismatch(notice, channel);
  }
  const reached = await new DeliveryStore(db).channelsOfFiring(notice.incident.id, notice.fire_seq);
  return (channel) =>
    !reached.has(channel.id)
      ? 'the channel did not get the firing'
      : !channel.enabled
        ? 'the channel is disabled'
        : channel.sendResolved
          ? undefined
          : 'the channel takes no resolve notices';
}

function mismatch({ incident, pins }: Notice, channel: Channel): string | undefined {
  const { severity, scope_type: scope, labels } = incident;
  if (pins.length > 0 && !pins.includes(channel.id)) {
    return 'the rule pins other channels';
  }
  if (!channel.enabled) {
    return 'the channel is disabled';
  }
  if (channel.severityMin !== '' && severities.indexOf(severity) < severities.indexOf(channel.severityMin)) {
    return `the channel takes ${channel.severityMin} and worse`;
  }
  if (channel.scopeTypes.length > 0 && !channel.scopeTypes.includes(scope)) {
    return `the channel takes the scopes ${channel.scopeTypes.join(', ')}`;
  }
  const other = Object.entries(channel.labels).find(([name, value]) => !Object.hasOwn(labels, name) || labels[name] !== value);
  return other && `the channel takes incidents with the label ${other[0]}="${other[1]}"`;
}

const deliveryOf = (notice: Notice, channel: Channel, id: string, now: number): NewDelivery => ({
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
});

const mostEntries = 100;
const longestText = 4_000;

/** Labels and texts come from afar; what no message could hold is not kept for one. */
function bounded(notice: Notice): Notice {
  const { incident } = notice;
  const pairs = (map: NoticeIncident['labels']): Record<string, string> =>
    Object.fromEntries(
      Object.entries(map)
        .slice(0, mostEntries)
        .map(([name, text]) => [name.slice(0, 200), text.slice(0, longestText)]),
    );
  return {
    ...notice,
    incident: { ...incident, summary: incident.summary.slice(0, longestText), labels: pairs(incident.labels), annotations: pairs(incident.annotations) },
  };
}
