import { type Clock, type Page, type PageRequest, type Principal, SvcError, type Tables } from 'svc/sdk';

import type { Rule } from './rule.ts';
import type { RuleMemory } from './rule-book.ts';
import { assertWorks, type Authorities } from './rule-check.ts';
import { bodyOf, type Draft } from './rule-draft.ts';
import { type RuleFilter, ruleStore } from './rule-store.ts';
import { type RuleBody, type RuleDb, rowOf, type RuleTables } from './rule-tables.ts';

/** Who changes something, and where it is noted. */
export interface By {
  readonly principal: Principal;
  note(note: { readonly resourceId?: number | string; readonly before?: unknown; readonly after?: unknown }): void;
  requireMatch(resource: { readonly updated_at: string }): void;
}

export interface RulesParts {
  readonly tables: Tables<RuleTables>;
  readonly book: RuleMemory;
  readonly authorities: Authorities;
  readonly clock: Clock;
  /** Told after the commit, for the generation beside this one. */
  readonly changed: (id: number) => void;
  readonly mostRules?: number;
}

export interface Rules {
  list(filter: RuleFilter, page: PageRequest): Promise<Page<Rule>>;
  get(id: number): Promise<Rule>;
  create(by: By, draft: Draft): Promise<Rule>;
  replace(by: By, id: number, draft: Draft): Promise<Rule>;
  remove(by: By, id: number): Promise<void>;
  /** Undefined: the other of what it is. */
  enable(by: By, id: number, enabled: boolean | undefined): Promise<Rule>;
  /** Several that were checked before, new or in the place of those of their keys: all of them or none. */
  put(by: By, bodies: readonly RuleBody[]): Promise<readonly Rule[]>;
}

export function createRules({ tables, book, authorities, clock, changed, mostRules = 20_000 }: RulesParts): Rules {
  const kept = (id: number, rule: Rule | undefined): void => {
    book.keep(id, rule);
    changed(id);
  };

  async function insert(tx: RuleDb, body: RuleBody, by: By): Promise<Rule> {
    const store = ruleStore(tx);
    if ((await store.named(body.rule_key)) !== undefined) {
      throw new SvcError('conflict', `there is a rule with the rule_key ${body.rule_key} already`, { details: [{ path: '/rule_key', message: 'is taken' }] });
    }
    if ((await store.count()) >= mostRules) {
      throw new SvcError('conflict', `there are ${mostRules} rules already, which is the most; delete some that are not needed`);
    }
    return await store.insert(body, authorOf(by.principal), clock.now());
  }

  return {
    list: (filter, page) => ruleStore(tables.read).list(filter, page),
    get: (id) => found(id, tables.read),

    async create(by, draft) {
      const body = bodyOf(draft);
      await assertWorks(body, authorities);
      const rule = await tables.write(async (tx) => {
        const after = await insert(tx, body, by);
        by.note({ resourceId: after.id, after });
        return after;
      });
      kept(rule.id, rule);
      return rule;
    },

    async replace(by, id, draft) {
      const known = await found(id, tables.read);
      assertSameKey(known, draft);
      const body = bodyOf(draft);
      await assertWorks(body, authorities);
      const rule = await tables.write(async (tx) => {
        const before = await found(id, tx);
        by.requireMatch(before);
        const after = await ruleStore(tx).update(id, rowOf(body), clock.now());
        by.note({ before, after });
        return after;
      });
      kept(id, rule);
      return rule;
    },

    async remove(by, id) {
      await tables.write(async (tx) => {
        const before = await found(id, tx);
        by.requireMatch(before);
        await ruleStore(tx).remove(id, clock.now());
        by.note({ before });
      });
      kept(id, undefined);
    },

    async enable(by, id, wanted) {
      const rule = await tables.write(async (tx) => {
        const before = await found(id, tx);
        by.requireMatch(before);
        const enabled = wanted ?? !before.enabled;
        if (enabled === before.enabled) {
          return before;
        }
        const after = await ruleStore(tx).update(id, { enabled: enabled ? 1 : 0 }, clock.now());
        by.note({ before: { enabled: before.enabled }, after: { enabled } });
        return after;
      });
      kept(id, rule);
      return rule;
    },

    async put(by, bodies) {
      const rules = await tables.write(async (tx) => {
        const put: Rule[] = [];
        for (const body of bodies) {
          const before = await ruleStore(tx).named(body.rule_key);
          put.push(before === undefined ? await insert(tx, body, by) : await ruleStore(tx).update(before.id, rowOf(body), clock.now()));
        }
        by.note({ after: { rules: put.map(({ rule_key: key }) => key) } });
        return put;
      });
      rules.forEach((rule) => kept(rule.id, rule));
      return rules;
    },
  };
}

async function found(id: number, db: RuleDb): Promise<Rule> {
  const rule = await ruleStore(db).find(id);
  if (rule === undefined) {
    throw new SvcError('not_found', `there is no alert rule ${id}`);
  }
  return rule;
}

/** Incidents are found again by it. */
function assertSameKey({ rule_key: key }: Rule, draft: Draft): void {
  if (draft.rule_key !== key) {
    const message = `is ${key} for good, because incidents are known by it; make another rule, and delete this one`;
    throw new SvcError('invalid_argument', `rule_key ${message}`, { details: [{ path: '/rule_key', message }] });
  }
}

const authorOf = ({ kind, id, email, name }: Principal): string => email ?? name ?? `${kind}:${id}`;
