import type { LabelRecord, MatrixAnswer, QueryOptions } from 'svc/contracts/metricsdb';
import { formatDuration, parseDuration } from 'svc/query';
import { type Clock, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { assertWorks, type RuleDependencies } from '../authoring/rule-check.ts';
import { bodyOf } from '../authoring/rule-draft.ts';
import type { PreviewDraft, PreviewShown } from '../authoring/rule-schema.ts';
import { isEta } from '../instance/eta.ts';
import { maxInstances } from '../instance/moves.ts';
import { intervalOf, planOf } from '../kinds/rule-plan.ts';
import { phaseOf, slotAt } from '../queries/slots.ts';
import { wrongField } from '../rule/condition-fields.ts';
import { leadingComparisonOf } from '../rule/expression.ts';
import type { Leg, Plan, Rule } from '../rule/rule.ts';
import type { RenderLabels } from '../template/rendering.ts';
import { errors } from './errors.ts';
import { logRange } from './log-range.ts';
import { assertManageable, PreviewRun } from './preview-run.ts';

export type PreviewResult = Static<typeof PreviewShown>;
interface PreviewAsking extends Pick<QueryOptions, 'signal' | 'asker' | 'enforce'> {
  /** Throws unless the asker may read a store that the rule queries. */
  readonly requireRead: (area: 'metricsdb' | 'logs') => void;
}
type PreviewRequest = Static<typeof PreviewDraft>;

export interface PreviewParts {
  readonly dependencies: RuleDependencies;
  readonly clock: Clock;
  /** Returns the interval of rules that set none. */
  readonly intervalMs: () => number;
  /** Delay until the samples of a slot are available. */
  readonly delayOf: (store: Leg['store']) => number;
  readonly labelsOf: RenderLabels;
}

const longestLookback = 30 * 86_400_000;
/** Slots that are asked for at a time. */
const slotsAtOnce = 240;
const maxSlots = 100_000;
const maxSeries = 50;
const maxPoints = 300;
const maxShown = 200;

/** The same plan and the same steps as the evaluator's, over what is stored. */
export class Preview {
  readonly #parts: PreviewParts;

  constructor(parts: PreviewParts) {
    this.#parts = parts;
  }

  async run(
    { lookback = '24h', ...sent }: PreviewRequest,
    { requireRead, ...asking }: PreviewAsking,
  ): Promise<PreviewResult> {
    const { dependencies, clock, intervalMs: usual, delayOf } = this.#parts;
    const body = bodyOf({ ...unnamed, ...sent });
    await assertWorks(body, dependencies);
    const now = clock.now();
    const rule: Rule = {
      ...body,
      id: 0,
      created_by: '',
      created_at: timestamp(now),
      updated_at: timestamp(now),
    };
    const plan = planOf(rule, usual());
    plan.legs.forEach(({ store }) => requireRead(store === 'logs' ? 'logs' : 'metricsdb'));
    const window = windowOf(rule, plan, { lookback, now, interval: intervalOf(rule, usual()) });
    const questions = new Questions(dependencies, delayOf, asking);
    const run = await walked(
      new PreviewRun({ rule, plan, labelsOf: this.#parts.labelsOf }),
      plan,
      window,
      questions,
    );
    const { series, leftOut } = await shownSeries(plan, window, questions);
    const held = await heldBack(plan, window, questions);
    return {
      would_fire: run.fired > 0,
      fire_count: run.fired,
      first_fire_at: at(run.firings[0]?.at),
      last_fire_at: at(run.lastFiredAt),
      series,
      series_left_out: leftOut,
      firings: run.firings.slice(0, maxShown).map(({ key, at: firedAt, clearedAt, value }) => ({
        dedupe_key: key,
        fired_at: timestamp(firedAt),
        cleared_at: at(clearedAt ?? undefined),
        value,
      })),
      threshold:
        plan.legs.map(curveOf).find(({ threshold }) => threshold !== undefined)?.threshold ?? null,
      eta_at: await firstEta(plan, window, questions),
      query: plan.legs[0]!.query,
      queries: plan.legs.map(({ query }) => query),
      from: timestamp(window.first),
      to: timestamp(window.last),
      warnings: [...questions.warnings, ...remarks(rule, plan, run, series, window), ...held],
    };
  }
}

/** Name fields of a draft that is only previewed. */
const unnamed = {
  rule_key: 'preview',
  name: 'preview',
  source_type: 'svc_builtin',
  join_mode: 'all',
  severity: 'warning',
} as const;

interface Window {
  readonly first: number;
  readonly last: number;
  readonly interval: number;
}

function windowOf(
  rule: Rule,
  plan: Plan,
  asked: { readonly lookback: string; readonly now: number; readonly interval: number },
): Window {
  const { lookback, now, interval } = asked;
  const phase = phaseOf(plan.legs[0]?.measure ?? plan.legs[0]?.query ?? rule.rule_key, interval);
  const last = slotAt(now, phase, interval);
  const first = last - Math.floor(spanOf(lookback, interval) / interval) * interval;
  if ((last - first) / interval > maxSlots) {
    throw wrongField(
      '/lookback',
      `is more than ${maxSlots} evaluations of a rule that is evaluated every ${formatDuration(interval)}; choose a shorter one`,
    );
  }
  return { first, last, interval };
}

const at = (ms: number | undefined): string | null => (ms === undefined ? null : timestamp(ms));

function spanOf(text: string, interval: number): number {
  const ms = parseDuration(text);
  if (ms < interval || ms > longestLookback) {
    throw wrongField(
      '/lookback',
      `must be between ${formatDuration(interval)}, which is one evaluation, and ${formatDuration(longestLookback)}`,
    );
  }
  return ms;
}

async function walked(
  run: PreviewRun,
  plan: Plan,
  { first, last, interval }: Window,
  questions: Questions,
): Promise<PreviewRun> {
  let values = 0;
  for (let from = first; from <= last; from += slotsAtOnce * interval) {
    const to = Math.min(last, from + (slotsAtOnce - 1) * interval);
    const slots = Array.from(
      { length: (to - from) / interval + 1 },
      (_, index) => from + index * interval,
    );
    const window = { start: from, end: to, step: interval };
    const answers = await Promise.all(
      plan.legs.map((leg) => questions.range(leg, leg.query, window)),
    );
    const crossed = await Promise.all(
      plan.legs.map(async (leg) =>
        leg.crossed === undefined ? undefined : await questions.range(leg, leg.crossed, window),
      ),
    );
    values += answers.reduce(
      (sum, answer) => sum + answer.values.reduce((all, { length }) => all + length, 0),
      0,
    );
    assertManageable(values);
    run.walk({ slots, answers, crossed });
  }
  return run;
}

async function firstEta(
  plan: Plan,
  { last, interval }: Window,
  questions: Questions,
): Promise<string | null> {
  const answers = await Promise.all(
    plan.legs.flatMap((leg) =>
      leg.eta === undefined
        ? []
        : [questions.range(leg, leg.eta, { start: last, end: last, step: interval })],
    ),
  );
  const etas = answers.flatMap(({ values }) => values.flatMap((found) => [...found])).filter(isEta);
  return etas.length === 0
    ? null
    : timestamp(last + Math.round(etas.reduce((a, b) => Math.min(a, b)) * 1_000));
}

/** Forecasts that would fire at the end, were there more data or were they nearer. */
async function heldBack(
  plan: Plan,
  { last, interval }: Window,
  questions: Questions,
): Promise<string[]> {
  const found = await Promise.all(
    plan.legs.map(async (leg) => {
      const count =
        leg.floors === undefined
          ? 0
          : (
              await questions.range(leg, leg.floors.heldBack, {
                start: last,
                end: last,
                step: interval,
              })
            ).labels.length;
      return count === 0
        ? []
        : [
            `${count} series would reach ${leg.threshold} and ${count === 1 ? 'is' : 'are'} held back: a forecast needs ${leg.floors!.needs} (min_span, from_value)`,
          ];
    }),
  );
  return found.flat();
}

/** Returns what a leg measures before its comparison, so that a rule that never fires has a curve. */
function curveOf({ measure, threshold, query }: Leg): {
  readonly measure: string;
  readonly threshold?: number;
} {
  return measure === undefined
    ? (leadingComparisonOf(query) ?? { measure: query })
    : { measure, ...(threshold !== undefined && { threshold }) };
}

type ShownSeries = PreviewResult['series'][number];

async function shownSeries(
  plan: Plan,
  { first, last, interval }: Window,
  questions: Questions,
): Promise<{ series: ShownSeries[]; leftOut: number }> {
  const step = Math.max(1, Math.ceil((last - first) / interval / (maxPoints - 1))) * interval;
  const series: ShownSeries[] = [];
  for (const [condition, leg] of plan.legs.entries()) {
    const answer = await questions.range(leg, curveOf(leg).measure, {
      start: first,
      end: last,
      step,
    });
    answer.labels.forEach((labels, index) =>
      series.push({ condition, labels: withoutName(labels), points: pointsOf(answer, index) }),
    );
  }
  return { series: series.slice(0, maxSeries), leftOut: Math.max(0, series.length - maxSeries) };
}

const withoutName = ({ __name__: _name, ...labels }: LabelRecord): Record<string, string> => labels;

const pointsOf = ({ times, values }: MatrixAnswer, index: number): (readonly [number, number])[] =>
  [...times[index]!]
    .flatMap((time, i) =>
      Number.isFinite(values[index]![i]!) ? [[time / 1_000, values[index]![i]!] as const] : [],
    )
    .slice(0, maxPoints);

function remarks(
  rule: Rule,
  plan: Plan,
  { unscoped, leftOut }: PreviewRun,
  series: readonly ShownSeries[],
  { interval }: Window,
): string[] {
  const silent = plan.legs.filter(
    (_leg, condition) => !series.some((one) => one.condition === condition),
  );
  // To fire once more it has to be clear for an evaluation at least.
  const needed = (rule.notify_min_fires - 1) * 2 * interval;
  return [
    ...(unscoped > 0
      ? [
          `${unscoped} series without a device_id cannot fire, because the rule is about hosts: keep device_id in the expression, or choose another scope_type`,
        ]
      : []),
    ...(leftOut > 0
      ? [
          `${leftOut} series would have raised no incidents: the limit is ${maxInstances} instances a rule; group the expression by fewer labels`,
        ]
      : []),
    ...silent.map((leg) => `no data was found for ${curveOf(leg).measure.slice(0, 300)}`),
    ...(rule.notify_min_fires > 0 && needed > rule.notify_window_seconds * 1_000
      ? [
          `a rule that is evaluated every ${formatDuration(interval)} cannot begin to fire ${rule.notify_min_fires} times within ${rule.notify_window_seconds} s, so no notification would be sent`,
        ]
      : []),
  ];
}

/** Questions about the past, the answers at the times of slots although samples come later. */
class Questions {
  readonly #dependencies: RuleDependencies;
  readonly #delayOf: PreviewParts['delayOf'];
  readonly #asking: Omit<PreviewAsking, 'requireRead'>;
  readonly #warnings = new Set<string>();

  constructor(
    dependencies: RuleDependencies,
    delayOf: PreviewParts['delayOf'],
    asking: Omit<PreviewAsking, 'requireRead'>,
  ) {
    this.#dependencies = dependencies;
    this.#delayOf = delayOf;
    this.#asking = asking;
  }

  get warnings(): readonly string[] {
    return [...this.#warnings].slice(0, 20);
  }

  async range(
    { store }: Leg,
    query: string,
    { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
  ): Promise<MatrixAnswer> {
    const delay = this.#delayOf(store);
    const window = { start: start - delay, end: end - delay, step };
    const { metrics, logs } = this.#dependencies;
    const engine = store === 'logs' ? logs : metrics;
    if (!engine.available) {
      throw errors.no_store_to_preview({ store: store === 'logs' ? 'log' : 'metrics' });
    }
    const answer =
      store === 'logs'
        ? await logRange(logs.get(), query, window, this.#asking)
        : await metrics.get().range(query, window, this.#asking);
    answer.warnings.forEach((warning) => this.#warnings.add(warning));
    return delay === 0
      ? answer
      : { ...answer, times: answer.times.map((times) => times.map((time) => time + delay)) };
  }
}
