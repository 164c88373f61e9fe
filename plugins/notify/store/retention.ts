import { sql } from 'kysely';
import type { Clock, Tables } from 'svc/sdk';

import type { NotifyTables } from './tables.ts';

const dayMs = 86_400_000;
/** Time for which ended deliveries are kept. */
const keptMs = 30 * dayMs;
/** Notices keep their ids longer: one that is accepted again is not sent again. */
const idsKeptMs = 365 * dayMs;
const batch = 2_000;

/** Removes ended deliveries and old notices; a firing stays until its resolve has come, however long that takes. */
export async function removeExpired({ write }: Tables<NotifyTables>, clock: Clock): Promise<void> {
  const now = clock.now();
  await write(async (tx) => {
    await sql`
      delete from notify_deliveries where seq in (
        select d.seq from notify_deliveries d
        where d.finished_at is not null and d.finished_at < ${now - keptMs} and d.recorded = 1 and d.announced = 1
          and (d.kind <> 'firing' or d.finished_at < ${now - idsKeptMs} or exists (
            select 1 from notify_notices n where n.incident_id = d.incident_id and (n.fire_seq > d.fire_seq or (n.fire_seq = d.fire_seq and n.kind = 'resolved'))))
        limit ${batch})
    `.execute(tx);
    await sql`
      update notify_notices set body = '' where id in (
        select n.id from notify_notices n
        where n.body <> '' and n.accepted_at < ${now - dayMs}
          and not exists (select 1 from notify_deliveries d where d.notice_id = n.id and d.finished_at is null)
        limit ${batch})
    `.execute(tx);
    await tx
      .deleteFrom('notify_groups')
      .where('sent_at', '<', now - idsKeptMs)
      .execute();
    await sql`
      delete from notify_notices where id in (
        select n.id from notify_notices n
        where n.accepted_at < ${now - idsKeptMs} and not exists (select 1 from notify_deliveries d where d.notice_id = n.id)
        limit ${batch})
    `.execute(tx);
  });
}
