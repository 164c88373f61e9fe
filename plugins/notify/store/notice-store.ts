import { sql } from 'kysely';
import type { Notice } from 'svc/contracts/notify';

import type { Delivery, Notify, NotifyTables } from './tables.ts';

export interface DigestNotices {
  readonly notices: readonly Notice[];
  readonly counts: Readonly<Record<Notice['kind'], number>>;
}

interface Page {
  readonly from: number;
  readonly limit: number;
}

/** Accepted notices, under ids that make each unique. */
export class NoticeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Adds notices; returns those that were not accepted before. */
  async add(notices: readonly Notice[], now: number): Promise<readonly Notice[]> {
    const json = JSON.stringify(
      notices.map((notice) => [
        notice.id,
        notice.incident.id,
        notice.fire_seq,
        notice.kind,
        JSON.stringify(notice),
      ]),
    );
    const { rows } = await sql<{ id: string }>`
      insert into notify_notices (id, incident_id, fire_seq, kind, body, accepted_at)
      select value ->> 0, cast(value ->> 1 as integer), cast(value ->> 2 as integer), value ->> 3, value ->> 4, ${now} from json_each(${json}) where true
      on conflict do nothing returning id
    `.execute(this.#db);
    const added = new Set(rows.map(({ id }) => id));
    return notices.filter(({ id }) => added.delete(id));
  }

  async get(id: string): Promise<Notice> {
    const { body } = await this.#db
      .selectFrom('notify_notices')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return JSON.parse(body) as Notice;
  }

  /** Returns what a sent digest was about, worst first; a notice is kept for a day. */
  async ofMessage(
    delivery: string,
    page: Page,
  ): Promise<DigestNotices & { readonly group: string }> {
    const digest = await this.#db
      .selectFrom('notify_deliveries')
      .select(['seq', 'group_key'])
      .where('id', '=', delivery)
      .executeTakeFirst();
    return {
      ...(await this.#held(digest?.seq ?? 0, ['queued', 'folded'], page)),
      group: digest?.group_key ?? '',
    };
  }

  /** Returns the content of a digest, worst first, and how many of each kind. */
  inDigest(digest: number, page: Page): Promise<DigestNotices> {
    return this.#held(digest, ['queued'], page);
  }

  /**
   * Returns the last notice of each incident; for one whose firing is in the same message nothing
   * was sent before, so it does not count as still firing. The newest are read by key: a join with
   * everything held takes minutes with ten thousand of them.
   */
  async #held(
    digest: number,
    states: readonly Delivery['state'][],
    { from, limit }: Page,
  ): Promise<DigestNotices> {
    const said = sql`
      with held as (
        select seq, incident_id, fire_seq, kind from notify_deliveries where digest = ${digest} and state in (${sql.join(states)})
      ), newest as (
        select incident_id, max(seq) as seq, min(seq) as first, max(fire_seq) filter (where kind = 'firing') as fired from held group by incident_id
      ), said as (
        select notice_id, severity, first, case when kind = 'reminder' and fired >= fire_seq then 'firing' else kind end as kind from newest join notify_deliveries using (seq)
      )`;
    const { rows } = await sql<{ body: string; kind: Notice['kind'] }>`
      ${said} select body, said.kind from said join notify_notices on id = notice_id where body != '' order by severity desc, first limit ${limit} offset ${from}
    `.execute(this.#db);
    const kinds = await sql<{
      kind: Notice['kind'];
      total: number;
    }>`${said} select kind, count(*) as total from said group by kind`.execute(this.#db);
    const countOf = (kind: Notice['kind']): number =>
      kinds.rows.find((row) => row.kind === kind)?.total ?? 0;
    return {
      notices: rows.map(({ body, kind }) => ({ ...(JSON.parse(body) as Notice), kind })),
      counts: {
        firing: countOf('firing'),
        reminder: countOf('reminder'),
        resolved: countOf('resolved'),
      },
    };
  }

  async addWords(row: NotifyTables['notify_words']): Promise<void> {
    await this.#db.insertInto('notify_words').values(row).execute();
  }

  words(delivery: string): Promise<NotifyTables['notify_words'] | undefined> {
    return this.#db
      .selectFrom('notify_words')
      .selectAll()
      .where('delivery_id', '=', delivery)
      .executeTakeFirst();
  }
}
