import type { Clock, Ids, Tables } from 'svc/sdk';

import { type Channel, channelOf } from './channel.ts';
import { channelStore } from './channel-store.ts';
import type { Notice, NoticeDispatcher, NoticeIncident } from './contract.ts';
import { deliveryStore, type NewDelivery } from './delivery-store.ts';
import { reasonAgainst } from './filter.ts';
import type { NotifyTables } from './tables.ts';
import { severities } from './telling.ts';

export interface DispatcherParts {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

export function createDispatcher({ tables, clock, ids }: DispatcherParts): NoticeDispatcher {
  const channels = async (): Promise<readonly Channel[]> => (await channelStore(tables.read).all()).map(channelOf);
  const hears = async (notice: Notice, db: typeof tables.read): Promise<(channel: Channel) => string | undefined> => {
    if (notice.kind !== 'resolved') {
      return (channel) => reasonAgainst(notice, channel);
    }
    const heard = await deliveryStore(db).heardFiring(notice.incident.id, notice.fire_seq);
    return (channel) =>
      !heard.has(channel.id)
        ? 'the channel did not get the firing'
        : !channel.enabled
          ? 'the channel is disabled'
          : channel.sendResolved
            ? undefined
            : 'the channel takes no resolve notices';
  };

  return {
    async accept(given) {
      const notice = bounded(given);
      const all = await channels();
      const now = clock.now();
      await tables.write(async (tx) => {
        const store = deliveryStore(tx);
        if (!(await store.addNotice(notice, now))) {
          return;
        }
        const against = await hears(notice, tx);
        const takers = all.filter((channel) => against(channel) === undefined);
        await store.add(takers.map((channel) => deliveryOf(notice, channel, ids.uuid(), now)));
        if (notice.kind === 'resolved') {
          await store.foldPairs({ incident: notice.incident.id, fireSeq: notice.fire_seq }, now);
        }
      });
    },

    async preview(notice) {
      const against = await hears(notice, tables.read);
      return (await channels()).map((channel) => {
        const reason = against(channel);
        return { channel_id: channel.id, name: channel.name, sends: reason === undefined, ...(reason !== undefined && { reason }) };
      });
    },

    async unknown(asked) {
      const known = new Set((await channels()).map(({ id }) => id));
      return asked.filter((id) => !known.has(id));
    },
  };
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
