import { type SelectQueryBuilder, sql } from 'kysely';
import type { Diagnosis, IncidentStatus } from 'svc/contracts/alert';
import type { Outcome } from 'svc/contracts/notify';
import type { SeenDevices } from 'svc/query';
import type { PageRequest, Tables } from 'svc/sdk';

import { errors } from './errors.ts';
import type { Incident } from './ledger/incident.ts';
import { incidentOf } from './ledger/ledger-rows.ts';
import { rowSeen, rowsSeen, seenIncidents } from './ledger/seen-incidents.ts';
import type { EventRow, IncidentTables } from './ledger/tables.ts';

export interface IncidentFilter {
  readonly status?: readonly IncidentStatus[];
  readonly severity?: readonly Incident['severity'][];
  readonly scopeType?: Incident['scope_type'];
  readonly scopeId?: string;
  readonly rule?: string;
  readonly deviceId?: string;
  readonly since?: number;
  readonly q?: string;
}

interface Found<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly more: boolean;
}

/** Rows that go with one transaction at most, so that other writes are not held up. */
const removedAtOnce = 500;
/**
 * Highest number of a diagnosis of one firing that gets an id of its own; later ones replace it.
 */
const maxLooks = 9;

const diagnosisId = (id: number, seq: number, look: number): string =>
  `diagnosis-${id}-${seq}${look === 1 ? '' : `-${Math.min(look, maxLooks)}`}`;

/** Incidents and their timelines as readers see them, and the rows that no transition writes: deliveries and diagnoses. */
export class IncidentStore {
  readonly #tables: Tables<IncidentTables>;

  constructor(tables: Tables<IncidentTables>) {
    this.#tables = tables;
  }

  async find(id: number, seen: SeenDevices): Promise<Incident | undefined> {
    const row = await this.#incidents(seen).selectAll().where('id', '=', id).executeTakeFirst();
    return row && incidentOf(row);
  }

  /** Returns an incident; one outside the caller's scope counts as not found. */
  async get(id: number, seen: SeenDevices): Promise<Incident> {
    const incident = await this.find(id, seen);
    if (incident === undefined) {
      throw errors.no_incident({ id });
    }
    return incident;
  }

  async list(
    filter: IncidentFilter,
    { limit, after }: PageRequest,
    seen: SeenDevices,
  ): Promise<Found<Incident>> {
    const matching = filtered(this.#incidents(seen), filter);
    const rows = await matching
      .selectAll()
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(last_fired_at, id) < (${after![0]}, ${after![1]})`),
      )
      .orderBy('last_fired_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    const { total } = await matching
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return { items: rows.slice(0, limit).map(incidentOf), total, more: rows.length > limit };
  }

  #incidents(seen: SeenDevices): Query<object> {
    const { read } = this.#tables;
    return seen === undefined
      ? read.selectFrom('alert_incidents')
      : read.selectFrom(seenIncidents(seen).as('alert_incidents'));
  }

  async events(
    incident: Pick<Incident, 'id' | 'scope_type' | 'rule_name' | 'asked'>,
    asked: { readonly order: 'asc' | 'desc'; readonly type?: string | undefined },
    page: PageRequest,
    seen: SeenDevices,
  ): Promise<Found<EventRow>> {
    const matching = this.#tables.read
      .selectFrom('alert_events')
      .where('incident_id', '=', incident.id)
      .$if(seen !== undefined, (query) => query.where(rowsSeen(seen!, incident)))
      .$if(asked.type !== undefined, (query) =>
        query.where('type', '=', asked.type as EventRow['type']),
      );
    const rows = await matching
      .selectAll()
      .$if(page.after !== undefined, (query) =>
        query.where('id', asked.order === 'asc' ? '>' : '<', Number(page.after![0])),
      )
      .orderBy('id', asked.order)
      .limit(page.limit + 1)
      .execute();
    const { total } = await matching
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const items = rows.slice(0, page.limit);
    return {
      items: seen === undefined ? items : items.map((row) => rowSeen(row, seen, incident)),
      total,
      more: rows.length > page.limit,
    };
  }

  /** Records delivery outcomes in order; idempotent. */
  record(outcomes: readonly Outcome[], at: number): Promise<void> {
    return this.#append(outcomes.map((outcome) => rowOfOutcome(outcome, at)));
  }

  /**
   * First line of what the investigator has written about one firing, by its newest look; undefined if that look did
   * not take place, or names nothing.
   */
  async diagnosis(id: number, seq: number): Promise<string | undefined> {
    const looks = Array.from({ length: maxLooks }, (_, at) => diagnosisId(id, seq, at + 1));
    const row = await this.#tables.read
      .selectFrom('alert_events')
      .select(['message', 'data'])
      .where('delivery_id', 'in', looks)
      .orderBy('id', 'desc')
      .executeTakeFirst();
    const { status, names_nothing: isEmpty } = JSON.parse(row?.data ?? '{}') as {
      readonly status?: string;
      readonly names_nothing?: boolean;
    };
    return status !== undefined || isEmpty ? undefined : row?.message.split('\n', 1)[0];
  }

  diagnose(
    id: number,
    { message, data, by, seq, look = 1 }: Diagnosis & { readonly seq: number },
    at: number,
  ): Promise<void> {
    const actor = { type: 'agent', id: by, name: by } as const;
    const deliveryId = diagnosisId(id, seq, look);
    return this.#append([
      {
        incidentId: id,
        type: 'ai_initial_diagnosis',
        message: message.slice(0, 4_000),
        actor,
        data,
        deliveryId,
        at,
      },
    ]);
  }

  async #append(rows: readonly Appended[]): Promise<void> {
    const json = JSON.stringify(
      rows.map(({ incidentId, type, message, actor, data, deliveryId, at }) => [
        ...[
          incidentId,
          type,
          message,
          actor.type,
          actor.id,
          actor.name,
          JSON.stringify(data),
          deliveryId,
          at,
        ],
      ]),
    );
    // An incident may be gone by now, and then so is its timeline.
    await this.#tables.write((tx) =>
      sql`insert into alert_events (incident_id, type, status_after, severity, message, actor_type, actor_id, actor_name, data, delivery_id, created_at)
        select incident.id, said.value ->> 1, incident.status, incident.severity, said.value ->> 2, said.value ->> 3, said.value ->> 4, said.value ->> 5, said.value ->> 6, said.value ->> 7, cast(said.value ->> 8 as integer)
        from json_each(${json}) as said cross join alert_incidents as incident where incident.id = cast(said.value ->> 0 as integer) order by cast(said.key as integer) on conflict (delivery_id) do nothing`.execute(
        tx,
      ),
    );
  }

  /** Removes what was resolved before, with its timeline. */
  async removeResolved(before: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const rows = await this.#tables.read
        .selectFrom('alert_incidents')
        .select('id')
        .where('status', '=', 'resolved')
        .where('resolved_at', '<', before)
        .limit(removedAtOnce)
        .execute();
      if (rows.length === 0) {
        return removed;
      }
      const ids = JSON.stringify(rows.map(({ id }) => id));
      await this.#tables.write(async (tx) => {
        // One may have fired again since it was read.
        const over = sql`select id from alert_incidents where status = 'resolved' and resolved_at < ${before} and id in (select cast(value as integer) from json_each(${ids}))`;
        await sql`delete from alert_events where incident_id in (${over})`.execute(tx);
        await sql`delete from alert_incidents where id in (${over})`.execute(tx);
      });
      removed += rows.length;
    }
  }

  /** Removes rows of earlier firings from before, also of incidents that are there: one that fires again and again would grow for ever. */
  async removeEvents(before: number): Promise<number> {
    let removed = 0;
    let last = 0;
    for (;;) {
      const rows = await this.#tables.read
        .selectFrom('alert_events')
        .select(['id', 'created_at'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(removedAtOnce)
        .execute();
      const old = rows.filter(({ created_at: at }) => at < before).map(({ id }) => id);
      if (old.length === 0) {
        return removed;
      }
      last = rows.at(-1)!.id;
      const { numAffectedRows = 0n } = await this.#tables.write((tx) =>
        sql`delete from alert_events where id in (select cast(value as integer) from json_each(${JSON.stringify(old)}))
          and created_at < (select last_fired_at from alert_incidents where alert_incidents.id = incident_id)`.execute(
          tx,
        ),
      );
      removed += Number(numAffectedRows);
    }
  }
}

interface Appended extends Pick<EventRow, 'type' | 'message'> {
  readonly incidentId: number;
  readonly actor: {
    readonly type: EventRow['actor_type'];
    readonly id: string;
    readonly name: string;
  };
  readonly data: object;
  readonly deliveryId: string;
  readonly at: number;
}

function rowOfOutcome(
  {
    incident_id: id,
    delivery_id,
    channel_id,
    channel_name,
    kind,
    result,
    attempts,
    error,
    notice_id,
  }: Outcome,
  at: number,
): Appended {
  return {
    incidentId: id,
    type: result === 'sent' || result === 'folded' ? 'notification_sent' : 'notification_failed',
    message:
      `${kind} ${endings[result]} ${channel_name}${error === undefined ? '' : `: ${error}`}`.slice(
        0,
        2_000,
      ),
    actor: { type: 'system', id: 'notifier', name: 'notifier' },
    data: {
      channel_id,
      channel_name,
      kind,
      result,
      attempts,
      notice_id,
      ...(error !== undefined && { error }),
    },
    deliveryId: delivery_id,
    at,
  };
}

const endings: Readonly<Record<Outcome['result'], string>> = {
  sent: 'sent to',
  folded: 'sent in a digest to',
  failed: 'could not be sent to',
  delayed: 'could not be sent yet, and is tried again, to',
  overtaken: 'was overtaken by the end of the incident before it could be sent to',
};

type Query<O> = SelectQueryBuilder<IncidentTables, 'alert_incidents', O>;

function filtered<O>(
  query: Query<O>,
  { status, severity, scopeType, scopeId, rule, deviceId, since, q }: IncidentFilter,
): Query<O> {
  return query
    .$if(status !== undefined, (is) => is.where('status', 'in', status!))
    .$if(severity !== undefined, (is) => is.where('severity', 'in', severity!))
    .$if(scopeType !== undefined, (is) => is.where('scope_type', '=', scopeType!))
    .$if(scopeId !== undefined, (is) => is.where('scope_id', '=', scopeId!))
    .$if(rule !== undefined, (is) => is.where('rule_key', '=', rule!))
    .$if(deviceId !== undefined, (is) => is.where('device_id', '=', deviceId!))
    .$if(since !== undefined, (is) =>
      is.where((or) => or.or([or('resolved_at', 'is', null), or('resolved_at', '>=', since!)])),
    )
    .$if(q !== undefined && q !== '', (is) =>
      is.where((or) =>
        or.or(
          (['rule_name', 'summary', 'dedupe_key'] as const).map((column) =>
            or(sql<number>`instr(lower(${or.ref(column)}), ${q!.toLowerCase()})`, '>', 0),
          ),
        ),
      ),
    );
}
