import type { Call, Clock, Page, PageRequest, Principal, Tables } from 'svc/sdk';

import type { Rule } from '../rule/rule.ts';
import type { RuleMemory } from '../rule/rule-memory.ts';
import { type RuleFilter, RuleStore } from '../rule/rule-store.ts';
import { type RuleBody, type RuleDb, rowOf, type RuleTables } from '../rule/rule-tables.ts';
import { errors } from './errors.ts';
import { assertRunbook, assertWorks, type RuleDependencies } from './rule-check.ts';
import { bodyOf, type Draft } from './rule-draft.ts';

/** The call that changes a rule: its author, where the change is noted, and its precondition. */
export type ChangeCall = Pick<Call, 'principal' | 'note' | 'requireMatch'>;

export interface RulesParts {
  readonly tables: Tables<RuleTables>;
  readonly liveRules: RuleMemory;
  readonly dependencies: RuleDependencies;
  readonly clock: Clock;
  /** Called after the commit, to inform the other generation of the plugin. */
  readonly changed: (id: number) => void;
  readonly maxRules?: number;
}

/** Rules as the API changes them: first in the store, then in memory. */
export class Rules {
  readonly #parts: RulesParts;

  constructor(parts: RulesParts) {
    this.#parts = parts;
  }

  list(filter: RuleFilter, page: PageRequest): Promise<Page<Rule>> {
    return new RuleStore(this.#parts.tables.read).list(filter, page);
  }

  get(id: number): Promise<Rule> {
    return existing(id, this.#parts.tables.read);
  }

  async create(call: ChangeCall, draft: Draft): Promise<Rule> {
    const { tables, dependencies } = this.#parts;
    const body = bodyOf(draft);
    await assertWorks(body, dependencies);
    await assertRunbook(body, call.principal, dependencies);
    const rule = await tables.write(async (tx) => {
      const after = await this.#insert(tx, body, call);
      call.note({ resourceId: after.id, after });
      return after;
    });
    this.#publish(rule.id, rule);
    return rule;
  }

  async replace(call: ChangeCall, id: number, draft: Draft): Promise<Rule> {
    const { tables, dependencies, clock } = this.#parts;
    const stored = await existing(id, tables.read);
    assertSameKey(stored, draft);
    const body = bodyOf(draft);
    await assertWorks(body, dependencies);
    // A playbook that was deleted meanwhile keeps nobody from changing the rest.
    if (body.runbook_url !== stored.runbook_url) {
      await assertRunbook(body, call.principal, dependencies);
    }
    const rule = await tables.write(async (tx) => {
      const before = await existing(id, tx);
      call.requireMatch(before);
      const after = await new RuleStore(tx).update(id, rowOf(body), clock.now());
      call.note({ before, after });
      return after;
    });
    this.#publish(id, rule);
    return rule;
  }

  async remove(call: ChangeCall, id: number): Promise<void> {
    const { tables, clock } = this.#parts;
    await tables.write(async (tx) => {
      const before = await existing(id, tx);
      call.requireMatch(before);
      await new RuleStore(tx).remove(id, clock.now());
      call.note({ before });
    });
    this.#publish(id, undefined);
  }

  /** Undefined: the other of what it is. */
  async enable(call: ChangeCall, id: number, wanted: boolean | undefined): Promise<Rule> {
    const { tables, clock } = this.#parts;
    const rule = await tables.write(async (tx) => {
      const before = await existing(id, tx);
      call.requireMatch(before);
      const enabled = wanted ?? !before.enabled;
      if (enabled === before.enabled) {
        return before;
      }
      const after = await new RuleStore(tx).update(id, { enabled: enabled ? 1 : 0 }, clock.now());
      call.note({ before: { enabled: before.enabled }, after: { enabled } });
      return after;
    });
    this.#publish(id, rule);
    return rule;
  }

  /** Several that were checked before, new or in the place of those of their keys: all of them or none. */
  async putAll(call: ChangeCall, bodies: readonly RuleBody[]): Promise<readonly Rule[]> {
    const { tables, clock } = this.#parts;
    const rules = await tables.write(async (tx) => {
      const store = new RuleStore(tx);
      const put: Rule[] = [];
      for (const body of bodies) {
        const before = await store.findByKey(body.rule_key);
        put.push(
          before === undefined
            ? await this.#insert(tx, body, call)
            : await store.update(before.id, rowOf(body), clock.now()),
        );
      }
      call.note({ after: { rules: put.map(({ rule_key: key }) => key) } });
      return put;
    });
    rules.forEach((rule) => this.#publish(rule.id, rule));
    return rules;
  }

  async #insert(tx: RuleDb, body: RuleBody, { principal }: ChangeCall): Promise<Rule> {
    const { clock, maxRules = 20_000 } = this.#parts;
    const store = new RuleStore(tx);
    if ((await store.findByKey(body.rule_key)) !== undefined) {
      throw errors.rule_key_taken(
        { key: body.rule_key },
        { details: [{ path: '/rule_key', message: 'is taken' }] },
      );
    }
    if ((await store.count()) >= maxRules) {
      throw errors.too_many_rules({ max: maxRules });
    }
    return await store.insert(body, authorOf(principal), clock.now());
  }

  #publish(id: number, rule: Rule | undefined): void {
    this.#parts.liveRules.keep(id, rule);
    this.#parts.changed(id);
  }
}

async function existing(id: number, db: RuleDb): Promise<Rule> {
  const rule = await new RuleStore(db).find(id);
  if (rule === undefined) {
    throw errors.no_rule({ id });
  }
  return rule;
}

/** Incidents are found again by it. */
function assertSameKey({ rule_key: key }: Rule, draft: Draft): void {
  if (draft.rule_key !== key) {
    const message = `must stay ${key}, because incidents are known by it; create another rule and delete this one`;
    throw errors.rule_key({ message }, { details: [{ path: '/rule_key', message }] });
  }
}

const authorOf = ({ kind, id, email, name }: Principal): string => email ?? name ?? `${kind}:${id}`;
