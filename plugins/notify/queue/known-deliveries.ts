import { sql } from 'kysely';
import type { Notice } from 'svc/contracts/notify';

import type { Channel } from '../channels/channel.ts';
import type { NewDelivery } from '../store/new-delivery.ts';
import { isUnfinished } from '../store/delivery-conditions.ts';
import type { Notify } from '../store/tables.ts';

type Known = Pick<NewDelivery, 'incident_id' | 'fire_seq' | 'channel_id' | 'kind' | 'group_key'>;

/** Knowledge of what channels have got of some incidents, may have got, or still wait for. */
export class KnownDeliveries {
  readonly #firings = new Set<string>();
  readonly #groups = new Map<string, string>();

  /**
   * Loads the firings that these notices are about, and whatever else of their incidents still
   * waits.
   */
  static async of(notices: readonly Notice[], db: Notify): Promise<KnownDeliveries> {
    const known = new KnownDeliveries();
    const pairs = JSON.stringify(notices.map(({ incident, fire_seq: seq }) => [incident.id, seq]));
    const found = await sql<Known & { readonly is_known: number }>`
      select incident_id, fire_seq, channel_id, kind, group_key, case when got = 1 or unclear = 1 or state in ('queued', 'sending') then 1 else 0 end as is_known
      from notify_deliveries where (incident_id, fire_seq) in (select cast(value ->> 0 as integer), cast(value ->> 1 as integer) from json_each(${pairs}))
      union all
      select incident_id, fire_seq, channel_id, kind, group_key, 1 as is_known
      from notify_deliveries where ${isUnfinished} and incident_id in (select cast(value ->> 0 as integer) from json_each(${pairs}))
    `.execute(db);
    found.rows.filter(({ is_known: isKnown }) => isKnown === 1).forEach((row) => known.add(row));
    return known;
  }

  add({
    incident_id: incident,
    fire_seq: seq,
    channel_id: channel,
    kind,
    group_key: group,
  }: Known): void {
    this.#groups.set(`${incident} ${channel}`, group);
    if (kind === 'firing') {
      this.#firings.add(`${incident} ${seq} ${channel}`);
    }
  }

  gotFiring({ incident, fire_seq: seq }: Notice, { id }: Pick<Channel, 'id'>): boolean {
    return this.#firings.has(`${incident.id} ${seq} ${id}`);
  }

  /**
   * Returns the group in which an incident was first sent to the channel; it stays in it even if
   * its labels change.
   */
  groupOf({ incident }: Notice, { id }: Pick<Channel, 'id'>): string | undefined {
    return this.#groups.get(`${incident.id} ${id}`);
  }
}

type Grouped = Pick<NewDelivery, 'channel_id' | 'group_key'>;

/** When the groups of these were last sent, by `groupName`; those that never were are absent. */
export async function groupsSentAt(
  deliveries: readonly Grouped[],
  db: Notify,
): Promise<ReadonlyMap<string, number>> {
  const asked = new Map(deliveries.map((row) => [groupName(row), [row.channel_id, row.group_key]]));
  const found = await sql<{ channel_id: number; group_key: string; sent_at: number }>`
    select channel_id, group_key, sent_at from notify_groups
    where (channel_id, group_key) in (select cast(value ->> 0 as integer), value ->> 1 from json_each(${JSON.stringify([...asked.values()])}))
  `.execute(db);
  return new Map(found.rows.map((row) => [groupName(row), row.sent_at]));
}

export const groupName = ({ channel_id: channel, group_key: key }: Grouped): string =>
  `${channel} ${key}`;
