import { sql } from 'kysely';

import type { Notice } from './contract.ts';
import type { Notify } from './tables.ts';

/** What was accepted, under the ids that make it once only. */
export class NoticeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Those that were not accepted before. */
  async add(notices: readonly Notice[], now: number): Promise<readonly Notice[]> {
    const json = JSON.stringify(notices.map((notice) => [notice.id, notice.incident.id, notice.fire_seq, notice.kind, JSON.stringify(notice)]));
    const { rows } = await sql<{ id: string }>`
      insert into notify_notices (id, incident_id, fire_seq, kind, body, accepted_at)
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ${now} from json_each(${json}) where true
      on conflict do nothing returning id
    `.execute(this.#db);
    const added = new Set(rows.map(({ id }) => id));
    return notices.filter(({ id }) => added.delete(id));
  }

  async get(id: string): Promise<Notice> {
    const { body } = await this.#db.selectFrom('notify_notices').select('body').where('id', '=', id).executeTakeFirstOrThrow();
    return JSON.parse(body) as Notice;
  }

  /** What a digest holds, worst first, and how many of each kind. */
  async inDigest(digest: number, limit: number): Promise<{ readonly notices: readonly Notice[]; readonly counts: Readonly<Record<Notice['kind'], number>> }> {
    const held = this.#db.selectFrom('notify_deliveries').where('digest', '=', digest).where('notify_deliveries.state', '=', 'queued');
    const rows = await held
      .innerJoin('notify_notices', 'notify_notices.id', 'notify_deliveries.notice_id')
      .select('notify_notices.body')
      .orderBy('notify_deliveries.severity', 'desc')
      .orderBy('notify_deliveries.seq')
      .limit(limit)
      .execute();
    const kinds = await held
      .select(['kind', (eb) => eb.fn.countAll<number>().as('total')])
      .groupBy('kind')
      .execute();
    const countOf = (kind: Notice['kind']): number => kinds.find((row) => row.kind === kind)?.total ?? 0;
    return {
      notices: rows.map(({ body }) => JSON.parse(body) as Notice),
      counts: { firing: countOf('firing'), reminder: countOf('reminder'), resolved: countOf('resolved') },
    };
  }
}
