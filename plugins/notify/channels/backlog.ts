import { sql } from 'kysely';
import type { Notice, NoticeDispatcher, NoticeSource } from 'svc/contracts/notify';
import type { Handle, Ids, Tables } from 'svc/sdk';

import type { NotifyTables } from '../store/tables.ts';

export interface BacklogParts {
  readonly tables: Tables<NotifyTables>;
  readonly source: Handle<NoticeSource>;
  readonly dispatcher: Pick<NoticeDispatcher, 'accept'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Max waiting deliveries taken over: beyond that the next notice suffices. */
const max = 500;

/**
 * Backlog of a channel that is created again under its old name, or enabled again: what was waiting
 * for it then and still fires.
 */
export class Backlog {
  readonly #parts: BacklogParts;

  constructor(parts: BacklogParts) {
    this.#parts = parts;
  }

  async tell(channel: number, name: string): Promise<void> {
    const { source, dispatcher, ids } = this.#parts;
    const unsent = new Map(
      (await this.#unsentOf(channel, name)).map(({ incident_id: id, fire_seq: seq }) => [id, seq]),
    );
    if (unsent.size === 0 || !source.available) {
      return;
    }
    const burning = await source.get().burning([...unsent.keys()]);
    await dispatcher.accept(
      ...burning.map((incident): Notice => {
        const seq = unsent.get(incident.id)!;
        return {
          id: `backlog-${channel}-${ids.uuid()}`,
          kind: 'firing',
          fire_seq: seq,
          incident,
          pins: [channel],
        };
      }),
    );
  }

  /** The last firings for this channel, or for one of that name that is gone, which it did not get. */
  async #unsentOf(
    channel: number,
    name: string,
  ): Promise<readonly { readonly incident_id: number; readonly fire_seq: number }[]> {
    const { rows } = await sql<{ incident_id: number; fire_seq: number }>`
      select d.incident_id, d.fire_seq from notify_deliveries d
      where d.kind = 'firing' and d.got = 0 and d.state in ('failed', 'queued')
        and (d.channel_id = ${channel} or (d.channel_name = ${name} and not exists (select 1 from notify_channels c where c.id = d.channel_id)))
        and not exists (
          select 1 from notify_deliveries o
          where o.incident_id = d.incident_id and o.fire_seq = d.fire_seq and o.channel_id = ${channel} and o.kind = 'firing'
            and (o.got = 1 or o.state in ('queued', 'sending')))
        and not exists (
          select 1 from notify_notices n
          where n.incident_id = d.incident_id and (n.fire_seq > d.fire_seq or (n.fire_seq = d.fire_seq and n.kind = 'resolved')))
      group by d.incident_id, d.fire_seq order by max(d.seq) desc limit ${max}
    `.execute(this.#parts.tables.read);
    return rows;
  }
}
