import {
  type Call,
  type Clock,
  type Page,
  pageOfList,
  type PageRequest,
  type Tables,
  timestamp,
} from 'svc/sdk';

import type { Check } from '../check/check.ts';
import type { CheckTables } from '../check/check-store.ts';
import { errors } from '../check/errors.ts';
import { uptimeStore } from '../uptime/uptime-store.ts';
import { type Budget, budgetOf, type Measured } from './budget.ts';
import { membersOf, type Objective } from './objective.ts';
import type { ObjectiveChange, ObjectiveDraft, ObjectiveShown } from './objective-schema.ts';
import { objectiveStore } from './objective-store.ts';

export interface ObjectivesParts {
  readonly tables: Tables<CheckTables>;
  readonly clock: Clock;
  readonly checks: () => readonly Check[];
  /** Writes down what was measured up to now. */
  readonly flush: () => Promise<void>;
  /** Ends the series of an objective. */
  readonly end: (name: string) => Promise<void>;
}

type Actor = Pick<Call, 'note' | 'requireMatch'>;

const maxObjectives = 500;
const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** Objectives for uptime as people set them, with what is left of their budgets. */
export class Objectives {
  readonly #parts: ObjectivesParts;
  #known: readonly Objective[] = [];

  constructor(parts: ObjectivesParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    this.#known = await objectiveStore(this.#parts.tables.read).all();
  }

  /** Objectives as they are stored. */
  get known(): readonly Objective[] {
    return this.#known;
  }

  async list(page: PageRequest): Promise<Page<ObjectiveShown>> {
    const { items, ...rest } = pageOfList(this.#known, ({ name }) => name, page);
    const budgets = await this.budgets(items);
    return {
      ...rest,
      items: items.map((objective, index) => this.#shown(objective, budgets[index]!)),
    };
  }

  async get(name: string): Promise<ObjectiveShown> {
    const objective = this.#known.find((one) => one.name === name) ?? missing(name);
    return this.#shown(objective, (await this.budgets([objective]))[0]!);
  }

  async create(call: Actor, draft: ObjectiveDraft): Promise<ObjectiveShown> {
    const { name, check = null, group = null, target, days = 30 } = draft;
    if ((check === null) === (group === null)) {
      throw errors.objective_of();
    }
    const { tables, clock, checks } = this.#parts;
    if (membersOf({ check_name: check, group_name: group }, checks()).length === 0) {
      throw check === null ? errors.no_group({ group: group! }) : errors.unknown({ name: check });
    }
    await tables.write(async (tx) => {
      const store = objectiveStore(tx);
      const all = await store.all();
      if (all.some((other) => other.name === name)) {
        throw errors.objective_taken(
          { name },
          { details: [{ path: '/name', message: 'is taken' }] },
        );
      }
      if (all.length >= maxObjectives) {
        throw errors.too_many_objectives({ max: maxObjectives });
      }
      const now = Math.floor(clock.now());
      const made = await store.insert({
        name,
        check_name: check,
        group_name: group,
        target,
        days,
        created_at: now,
        updated_at: now,
      });
      call.note({ resourceType: 'objective', resourceId: name, after: settledOf(made) });
    });
    await this.load();
    return this.get(name);
  }

  async change(call: Actor, name: string, change: ObjectiveChange): Promise<ObjectiveShown> {
    const { tables, clock } = this.#parts;
    const shown = await this.get(name);
    await tables.write(async (tx) => {
      const store = objectiveStore(tx);
      const before = (await store.find(name)) ?? missing(name);
      call.requireMatch(shown);
      const after = await store.update(before.id, {
        ...change,
        updated_at: Math.max(before.updated_at + 1, Math.floor(clock.now())),
      });
      call.note({
        resourceType: 'objective',
        resourceId: name,
        before: settledOf(before),
        after: settledOf(after),
      });
    });
    await this.load();
    return this.get(name);
  }

  async remove(call: Actor, name: string): Promise<void> {
    const shown = await this.get(name);
    await this.#parts.tables.write(async (tx) => {
      const row = (await objectiveStore(tx).find(name)) ?? missing(name);
      call.requireMatch(shown);
      await objectiveStore(tx).remove(row.id);
      call.note({ resourceType: 'objective', resourceId: name, before: settledOf(row) });
    });
    await this.load();
    await this.#parts.end(name);
  }

  /** Returns what is left of the budgets of these objectives, in their order. */
  async budgets(objectives: readonly Objective[]): Promise<readonly Budget[]> {
    if (objectives.length === 0) {
      return [];
    }
    const { tables, clock, checks, flush } = this.#parts;
    await flush();
    const store = uptimeStore(tables.read);
    const now = clock.now();
    const startOf = (count: number, length: number): number =>
      (Math.floor(now / length) - count + 1) * length;
    const all = checks();
    const budgets: Budget[] = [];
    for (const objective of objectives) {
      const ids = membersOf(objective, all).map(({ id }) => id);
      const window = await store.sums('day', startOf(objective.days, dayMs), ids);
      const lastDay = await store.sums('hour', startOf(24, hourMs), ids);
      budgets.push(budgetOf(objective, ids.length, total(window), total(lastDay)));
    }
    return budgets;
  }

  #shown(objective: Objective, budget: Budget): ObjectiveShown {
    const { name, check_name: check, group_name: group, target, days } = objective;
    return {
      name,
      check,
      group,
      target,
      days,
      checks: membersOf(objective, this.#parts.checks()).map((member) => member.name),
      ...budget,
      created_at: timestamp(objective.created_at),
      updated_at: timestamp(objective.updated_at),
    };
  }
}

const total = (rows: readonly Measured[]): Measured => ({
  up_ms: rows.reduce((sum, { up_ms: ms }) => sum + ms, 0),
  down_ms: rows.reduce((sum, { down_ms: ms }) => sum + ms, 0),
});

const settledOf = ({ check_name: check, group_name: group, target, days }: Objective): object => ({
  ...(check === null ? { group } : { check }),
  target,
  days,
});

const missing = (name: string): never => {
  throw errors.no_objective({ name });
};
