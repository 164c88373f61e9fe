import { sql } from 'kysely';
import type { ModelUsage } from 'svc/contracts/model';

import type { ModelDb, Reservation, Scope, UsageRow } from './tables.ts';

/** The only SQL of usage and reservations; rows of a transaction where one is given. */
export class UsageStore {
  readonly #db: ModelDb;

  constructor(db: ModelDb) {
    this.#db = db;
  }

  /** Returns what a scope has used and reserved: on one day, or in total. */
  async spent(scope: Scope, ref: string | undefined, day: string | undefined): Promise<number> {
    const used = await this.#db
      .selectFrom('model_usage')
      .where('scope', '=', scope)
      .$if(ref !== undefined, (rows) => rows.where('ref', '=', ref!))
      .$if(day !== undefined, (rows) => rows.where('day', '=', day!))
      .select(sql<number>`coalesce(sum(input_tokens + output_tokens), 0)`.as('tokens'))
      .executeTakeFirstOrThrow();
    return used.tokens + (await this.reserved(scope, ref, day));
  }

  async reserved(scope: Scope, ref: string | undefined, day: string | undefined): Promise<number> {
    const { tokens } = await this.#db
      .selectFrom('model_reservations')
      .$if(ref !== undefined, (rows) => rows.where(scope, '=', ref!))
      .$if(day !== undefined, (rows) => rows.where('day', '=', day!))
      .select(sql<number>`coalesce(sum(input_tokens + output_tokens), 0)`.as('tokens'))
      .executeTakeFirstOrThrow();
    return tokens;
  }

  async reserve(reservation: Reservation): Promise<void> {
    await this.#db.insertInto('model_reservations').values(reservation).execute();
  }

  /** Returns reservations of other processes. */
  leftBy(process: number): Promise<Reservation[]> {
    return this.#db
      .selectFrom('model_reservations')
      .selectAll()
      .where('process', '!=', process)
      .execute();
  }

  /** Replaces the reservation by the actual usage; nothing if the request never was one. */
  async settle(reservation: Reservation, usage: ModelUsage | undefined): Promise<void> {
    await this.#db.deleteFrom('model_reservations').where('id', '=', reservation.id).execute();
    const rows =
      usage === undefined
        ? []
        : scopesOf(reservation).map(([scope, ref]) => rowOf(scope, ref, reservation.day, usage));
    for (const row of rows) {
      await this.#db
        .insertInto('model_usage')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['scope', 'ref', 'day']).doUpdateSet((eb) => ({
            input_tokens: eb('model_usage.input_tokens', '+', row.input_tokens),
            output_tokens: eb('model_usage.output_tokens', '+', row.output_tokens),
            cached_tokens: eb('model_usage.cached_tokens', '+', row.cached_tokens),
            estimated_tokens: eb('model_usage.estimated_tokens', '+', row.estimated_tokens),
            requests: eb('model_usage.requests', '+', row.requests),
          })),
        )
        .execute();
    }
  }

  async forgetPersonas(names: readonly string[]): Promise<void> {
    await this.#db
      .deleteFrom('model_usage')
      .where('scope', '=', 'persona')
      .where('ref', 'in', names)
      .execute();
  }

  byModel(day: string): Promise<UsageRow[]> {
    return this.#db
      .selectFrom('model_usage')
      .selectAll()
      .where('day', '=', day)
      .where('scope', '=', 'model')
      .orderBy('ref')
      .execute();
  }

  /** Single runs and sessions whose limits nobody will ask for again. */
  async removeBefore(day: string): Promise<void> {
    await this.#db
      .deleteFrom('model_usage')
      .where('day', '<', day)
      .where('scope', 'in', ['run', 'session'])
      .execute();
  }
}

const scopesOf = ({
  model,
  run,
  session,
  persona,
}: Reservation): readonly (readonly [Scope, string])[] =>
  (
    [
      ['model', model],
      ['run', run],
      ['session', session],
      ['persona', persona],
    ] as const
  ).filter(([, ref]) => ref !== '');

const rowOf = (
  scope: Scope,
  ref: string,
  day: string,
  { input_tokens: input, output_tokens: output, cached_tokens: cached, estimated }: ModelUsage,
): UsageRow => ({
  day,
  scope,
  ref,
  requests: 1,
  input_tokens: input,
  output_tokens: output,
  cached_tokens: cached,
  estimated_tokens: estimated ? input + output : 0,
});
