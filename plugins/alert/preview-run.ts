import { SvcError } from 'svc/sdk';

import type { MatrixAnswer } from '../metricsdb/contract.ts';
import { answerRows } from './evaluator/answer-rows.ts';
import { advance, type Instance, type Row } from './evaluator/instance.ts';
import { mostInstances } from './evaluator/findings.ts';
import type { Plan, Rule } from './rule.ts';

/** What would have fired. */
export interface PastFiring {
  readonly key: string;
  readonly at: number;
  clearedAt: number | null;
  readonly value: number | null;
}

/** Answers to all legs of a plan over some slots in a row, the times those of the slots. */
export interface Stretch {
  readonly slots: readonly number[];
  readonly answers: readonly MatrixAnswer[];
}

const mostFirings = 10_000;

/** Takes a rule from slot to slot as the evaluator does, over answers of the past instead of the present. */
export class PreviewRun {
  readonly #rule: Rule;
  readonly #plan: Plan;
  readonly #instances = new Map<string, Instance>();
  readonly #open = new Map<string, PastFiring>();
  readonly firings: PastFiring[] = [];
  fired = 0;
  unscoped = 0;
  crowded = false;
  lastFiredAt: number | undefined;

  constructor(rule: Rule, plan: Plan) {
    this.#rule = rule;
    this.#plan = plan;
  }

  walk({ slots, answers }: Stretch): void {
    const cursors = answers.map((answer) => new Int32Array(answer.labels.length));
    for (const slot of slots) {
      const found = answers.map((answer, leg) => answerRows(momentOf(answer, slot, cursors[leg]!), this.#rule, this.#plan.legs[leg]!.threshold));
      this.unscoped = Math.max(this.unscoped, ...found.map(({ unscoped }) => unscoped));
      this.#step(
        slot,
        found.map(({ rows }) => rows),
      );
    }
  }

  #step(at: number, rows: readonly ReadonlyMap<string, Row>[]): void {
    const evaluation = { plan: this.#plan, at, continuous: true, rows, holdMs: Infinity };
    const known = [...this.#instances.keys()];
    const fresh = [...new Set(rows.flatMap((found) => [...found.keys()]))].filter((key) => !this.#instances.has(key)).sort();
    for (const key of [...known, ...fresh]) {
      const before = this.#instances.get(key);
      const { next, did } = advance(key, before, evaluation);
      if (next === undefined) {
        this.#instances.delete(key);
      } else if (before === undefined && this.#instances.size >= mostInstances) {
        this.crowded = true;
        continue;
      } else {
        this.#instances.set(key, next);
      }
      if (did === 'fire') {
        this.#fire(key, at, rows);
      } else if (did === 'clear') {
        this.#open.get(key)!.clearedAt = at;
      }
    }
  }

  #fire(key: string, at: number, rows: readonly ReadonlyMap<string, Row>[]): void {
    const value = rows.find((found) => found.has(key))?.get(key)?.value;
    const firing: PastFiring = { key, at, clearedAt: null, value: value !== undefined && Number.isFinite(value) ? value : null };
    this.#open.set(key, firing);
    this.fired += 1;
    this.lastFiredAt = at;
    if (this.firings.length < mostFirings) {
      this.firings.push(firing);
    }
  }
}

/** The series of a matrix that have a value at one of its times; times are asked for in their order. */
function momentOf(answer: MatrixAnswer, time: number, cursors: Int32Array): Parameters<typeof answerRows>[0] {
  const labels: MatrixAnswer['labels'][number][] = [];
  const values: number[] = [];
  answer.labels.forEach((one, series) => {
    const times = answer.times[series]!;
    while (cursors[series]! < times.length && times[cursors[series]!]! < time) {
      cursors[series]! += 1;
    }
    if (times[cursors[series]!] === time) {
      labels.push(one);
      values.push(answer.values[series]![cursors[series]!]!);
    }
  });
  return { type: 'vector', labels, values: Float64Array.from(values), times: new Float64Array(values.length).fill(time), warnings: [] };
}

/** More values than this are not looked at by one preview. */
export const mostValues = 2_000_000;

export function assertManageable(values: number): void {
  if (values > mostValues) {
    throw new SvcError('budget_exceeded', `the conditions match more than ${mostValues} values; choose a shorter lookback or a narrower selector`);
  }
}
