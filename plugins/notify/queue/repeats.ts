import { sql } from 'kysely';
import type { Notice, NoticeSource } from 'svc/contracts/notify';
import type { Clock, Handle, Ids, Tables } from 'svc/sdk';

import { type Channel, channelOf } from '../channels/channel.ts';
import { ChannelStore } from '../store/channel-store.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { deliveryOf } from './dispatcher.ts';
import { NoticeStore } from '../store/notice-store.ts';
import type { NotifyTables } from '../store/tables.ts';

export interface RepeatsParts {
  readonly tables: Tables<NotifyTables>;
  readonly queue: DeliveryQueue;
  readonly source: Handle<NoticeSource>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

interface Firing {
  readonly incident_id: number;
  readonly fire_seq: number;
}

/**
 * Repeats of firing groups about which nothing was sent for the repeat_interval of their channel.
 */
export class Repeats {
  readonly #parts: RepeatsParts;

  constructor(parts: RepeatsParts) {
    this.#parts = parts;
  }

  /** Resolves with the milliseconds until the next one is due. */
  async repeat(): Promise<number> {
    const { tables, source, clock } = this.#parts;
    if (!source.available) {
      return 0;
    }
    let nextMs = Infinity;
    const channels = (await new ChannelStore(tables.read).all())
      .map(channelOf)
      .filter(({ enabled, grouping: { repeatMs } }) => enabled && repeatMs > 0);
    for (const channel of channels) {
      const before = clock.now() - channel.grouping.repeatMs;
      const due = await tables.read
        .selectFrom('notify_groups')
        .select(['group_key', 'sent_at'])
        .where('channel_id', '=', channel.id)
        // What lies far ahead was noted by a clock that has been set back since.
        .where((is) =>
          is.or([
            is('sent_at', '<=', before),
            is('sent_at', '>', clock.now() + channel.grouping.repeatMs),
          ]),
        )
        .execute();
      for (const { group_key: group, sent_at: sentAt } of due) {
        await this.#repeatGroup(channel, group, sentAt);
      }
      const { first } = await tables.read
        .selectFrom('notify_groups')
        .select((is) => is.fn.min<number | null>('sent_at').as('first'))
        .where('channel_id', '=', channel.id)
        .executeTakeFirstOrThrow();
      nextMs =
        first === null
          ? nextMs
          : Math.min(
              nextMs,
              Math.max(0, Math.min(first, clock.now()) + channel.grouping.repeatMs - clock.now()),
            );
    }
    return nextMs;
  }

  /** Repeats a group; drops one without firing incidents. */
  async #repeatGroup(channel: Channel, group: string, sentAt: number): Promise<void> {
    const { tables, queue, source, clock, ids } = this.#parts;
    const known = new Map(
      (await this.#sentFirings(channel.id, group)).map(({ incident_id: id, fire_seq: seq }) => [
        id,
        seq,
      ]),
    );
    const burning = known.size === 0 ? [] : await source.get().burning([...known.keys()]);
    const now = clock.now();
    await tables.write(async (tx) => {
      if (burning.length === 0) {
        await tx
          .deleteFrom('notify_groups')
          .where('channel_id', '=', channel.id)
          .where('group_key', '=', group)
          .where('sent_at', '=', sentAt)
          .execute();
        return;
      }
      await tx
        .updateTable('notify_groups')
        .set({ sent_at: now })
        .where('channel_id', '=', channel.id)
        .where('group_key', '=', group)
        .execute();
      const reminders = burning.map((incident): Notice => {
        const seq = known.get(incident.id)!;
        return {
          id: `repeat-${channel.id}-${incident.id}-${seq}-${sentAt}`,
          kind: 'reminder',
          fire_seq: seq,
          incident,
          pins: [],
        };
      });
      const fresh = await new NoticeStore(tx).add(reminders, now);
      await queue.add(
        tx,
        fresh.map((notice) => deliveryOf(notice, channel, { id: ids.uuid(), group, now })),
      );
    });
  }

  /** Firings that the channel was sent, and whose end has not come. */
  async #sentFirings(channel: number, group: string): Promise<readonly Firing[]> {
    const { rows } = await sql<Firing>`
      select distinct d.incident_id, d.fire_seq from notify_deliveries d
      where d.channel_id = ${channel} and d.group_key = ${group} and d.kind = 'firing' and d.got = 1
        and not exists (
          select 1 from notify_notices n
          where n.incident_id = d.incident_id and (n.fire_seq > d.fire_seq or (n.fire_seq = d.fire_seq and n.kind = 'resolved')))
    `.execute(this.#parts.tables.read);
    return rows;
  }
}
