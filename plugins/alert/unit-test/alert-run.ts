import type { InstantAnswer, LabelRecord, ScratchRow } from 'svc/contracts/metricsdb';
import type { NativeHistogram } from 'svc/native-histogram';
import { parseDuration } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { answerRows } from '../instance/answer-rows.ts';
import { activeSince, type Instance, type Row } from '../instance/instance.ts';
import { movesOf } from '../instance/moves.ts';
import type { FileRule, RuleGroup } from '../rule-file/prometheus-file.ts';
import type { Plan, Rule } from '../rule/rule.ts';
import { type AskForTemplate, TemplateAnswers } from '../template/answers.ts';
import type { RenderLabels } from '../template/rendering.ts';
import { compileAnnotation, RuleTexts, type TemplateContext } from '../template/template.ts';
import { errors } from './errors.ts';

export interface ActiveAlert {
  readonly labels: LabelRecord;
  readonly annotations: LabelRecord;
}

/** One alerting rule of a file, from evaluation to evaluation: the instances of the evaluator under the clock of a test. */
export class AlertRun {
  readonly expr: string;
  readonly #rule: Rule;
  readonly #plan: Plan;
  readonly #texts: RuleTexts;
  readonly #instances = new Map<string, Instance>();
  readonly #annotations = new Map<string, LabelRecord>();

  constructor(file: FileRule, group: RuleGroup, context: TemplateContext) {
    this.expr = file.expr;
    this.#rule = ruleOf(file, group);
    this.#plan = {
      join: 'any',
      legs: [{ store: 'metrics', query: file.expr, forMs: durationOf(file.for) }],
      keepMs: durationOf(file.keepFiringFor),
    };
    this.#texts = new RuleTexts(context);
    assertTemplates(this.#rule.labels, 'label', context);
    assertTemplates(this.#rule.annotations, 'annotation', context);
  }

  get alertname(): string {
    return this.#rule.name;
  }

  get firing(): readonly ActiveAlert[] {
    return [...this.#instances.values()]
      .filter(({ phase }) => phase === 'firing')
      .map(({ key, labels }) => ({ labels, annotations: this.#annotations.get(key)! }));
  }

  async step(
    answer: Extract<InstantAnswer, { type: 'vector' }>,
    at: number,
    ask: AskForTemplate,
  ): Promise<void> {
    const labelsOf: RenderLabels = (...asked) => this.#texts.labels(...asked);
    const { rows, doubles } = answerRows(
      answer,
      { rule: this.#rule, plan: this.#plan, labelsOf },
      undefined,
    );
    if (doubles > 0) {
      throw errors.same_labels();
    }
    const { moves } = movesOf(this.#instances, {
      plan: this.#plan,
      at,
      slot: at,
      continuous: true,
      rows: [rows],
      holdMs: Infinity,
    });
    for (const { key, next } of moves) {
      if (next === undefined) {
        this.#instances.delete(key);
        this.#annotations.delete(key);
      } else {
        this.#instances.set(key, next);
      }
    }
    const { limit } = this.#rule;
    const active = this.#instances.size;
    if (limit > 0 && active > limit) {
      this.#instances.clear();
      throw errors.test_limit({ max: limit, count: active });
    }
    // Shared by all templates of one evaluation.
    const answers = new TemplateAnswers();
    for (const [key, row] of rows) {
      this.#annotations.set(key, await this.#annotated(row, answers, ask));
    }
  }

  #annotated(
    { series, value, histogram }: Row,
    answers: TemplateAnswers,
    ask: AskForTemplate,
  ): Promise<LabelRecord> {
    const { name, rule_key, severity, scope_type } = this.#rule;
    const snapshot = {
      rule_key,
      rule_name: name,
      severity,
      scope_type,
      scope_id: 'global',
      labels: series,
      value,
      fired_at: '',
      ...(histogram && { histogram }),
    };
    return answers.rendered((query) => this.#texts.annotations(this.#rule, snapshot, query), ask);
  }

  /** The series that Prometheus writes of its alerts. */
  series(at: number): ScratchRow[] {
    return [...this.#instances.values()].flatMap((instance) => [
      rowOf(
        {
          ...instance.labels,
          __name__: 'ALERTS',
          alertstate: instance.phase === 'firing' ? 'firing' : 'pending',
        },
        at,
        1,
      ),
      rowOf(
        { ...instance.labels, __name__: 'ALERTS_FOR_STATE' },
        at,
        activeSince(instance) / 1_000,
      ),
    ]);
  }
}

const ruleOf = ({ alert = '', expr, labels, annotations }: FileRule, group: RuleGroup): Rule => ({
  id: 0,
  rule_key: alert,
  name: alert,
  kind: 'metric_raw',
  source_type: 'metricsdb_external',
  scope_type: 'global',
  join_mode: 'any',
  severity: 'warning',
  enabled: true,
  conditions: [{ expr }],
  labels: { ...group.labels, ...labels, alertname: alert },
  annotations,
  runbook_url: '',
  notify_channel_ids: [],
  notify_window_seconds: 0,
  notify_min_fires: 0,
  dimensions: [],
  interval_seconds: 0,
  keep_firing_for: '0s',
  limit: group.limit,
  created_by: '',
  created_at: '',
  updated_at: '',
});

function assertTemplates(
  texts: Readonly<Record<string, string>>,
  what: string,
  context: TemplateContext,
): void {
  for (const [name, text] of Object.entries(texts)) {
    try {
      compileAnnotation(text, context);
    } catch (error) {
      throw errors.test_refused({ what, name, cause: messageOf(error) }, { cause: error });
    }
  }
}

const durationOf = (text: string | undefined): number =>
  text === undefined || text === '' ? 0 : parseDuration(text);

export const rowOf = (
  labels: LabelRecord,
  at: number,
  value: number,
  histogram?: NativeHistogram,
): ScratchRow => ({
  labels,
  times: Float64Array.of(at),
  values: Float64Array.of(value),
  ...(histogram && { histograms: [histogram] }),
});
