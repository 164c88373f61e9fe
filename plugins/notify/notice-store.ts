import type { Notice } from './contract.ts';
import type { Notify } from './tables.ts';

/** What was accepted, under the ids that make it once only. */
export class NoticeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** False when the notice was accepted before. */
  async add(notice: Notice, now: number): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await this.#db
      .insertInto('notify_notices')
      .values({ id: notice.id, incident_id: notice.incident.id, fire_seq: notice.fire_seq, kind: notice.kind, body: JSON.stringify(notice), accepted_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
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
