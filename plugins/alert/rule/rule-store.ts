import { type ExpressionBuilder, sql } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { Rule } from './rule.ts';
import { type RuleBody, type RuleDb, rowOf, ruleOf, type RuleTables } from './rule-tables.ts';

export interface RuleFilter {
  readonly enabled?: boolean;
  readonly kind?: Rule['kind'];
  readonly severity?: Rule['severity'];
  readonly scope_type?: Rule['scope_type'];
  readonly source_type?: Rule['source_type'];
  readonly q?: string;
}

/** Rules that are not deleted. They belong to no user: every reader sees all of them. */
export class RuleStore {
  readonly #db: RuleDb;

  constructor(db: RuleDb) {
    this.#db = db;
  }

  #existing() {
    return this.#db.selectFrom('alert_rules').selectAll().where('deleted_at', 'is', null);
  }

  async list(filter: RuleFilter, page: PageRequest): Promise<Page<Rule>> {
    const { items, ...rest } = await pageOf(this.#existing().where(matching(filter)), 'id', page);
    return { ...rest, items: items.map(ruleOf) };
  }

  async all(): Promise<Rule[]> {
    return (await this.#existing().orderBy('id').execute()).map(ruleOf);
  }

  async find(id: number): Promise<Rule | undefined> {
    const row = await this.#existing().where('id', '=', id).executeTakeFirst();
    return row && ruleOf(row);
  }

  async findByKey(key: string): Promise<Rule | undefined> {
    const row = await this.#existing().where('rule_key', '=', key).executeTakeFirst();
    return row && ruleOf(row);
  }

  async count(): Promise<number> {
    const counted = this.#db.selectFrom('alert_rules').where('deleted_at', 'is', null);
    return (
      await counted.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
    ).total;
  }

  async insert(rule: RuleBody, author: string, now: number): Promise<Rule> {
    const values = {
      ...rowOf(rule),
      created_by: author,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    };
    return ruleOf(
      await this.#db
        .insertInto('alert_rules')
        .values(values)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async update(id: number, rule: Partial<ReturnType<typeof rowOf>>, now: number): Promise<Rule> {
    return ruleOf(
      await this.#db
        .updateTable('alert_rules')
        // Its version: two changes in one millisecond are still two.
        .set({ ...rule, updated_at: sql<number>`max(${now}, updated_at + 1)` })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async remove(id: number, now: number): Promise<void> {
    await this.#db
      .updateTable('alert_rules')
      .set({ deleted_at: now, enabled: 0 })
      .where('id', '=', id)
      .execute();
  }

  /** Keys of the built-in rules that were ever installed. */
  async installedKeys(): Promise<ReadonlySet<string>> {
    return new Set(
      (await this.#db.selectFrom('alert_seeds').select('rule_key').execute()).map(
        ({ rule_key: key }) => key,
      ),
    );
  }

  async markInstalled(key: string, now: number): Promise<void> {
    await this.#db.insertInto('alert_seeds').values({ rule_key: key, inserted_at: now }).execute();
  }
}

const matching =
  ({ enabled, q, ...exact }: RuleFilter) =>
  (eb: ExpressionBuilder<RuleTables, 'alert_rules'>) =>
    eb.and([
      ...(enabled === undefined ? [] : [eb('enabled', '=', enabled ? 1 : 0)]),
      ...Object.entries(exact).map(([column, value]) =>
        eb(column as keyof typeof exact, '=', value),
      ),
      ...(q === undefined || q === ''
        ? []
        : [
            eb.or(
              ['name', 'rule_key'].map(
                (column) => sql<boolean>`instr(lower(${sql.ref(column)}), ${q.toLowerCase()}) > 0`,
              ),
            ),
          ]),
    ]);
