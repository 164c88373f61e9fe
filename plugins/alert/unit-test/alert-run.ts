import { messageOf, SvcError } from 'svc/sdk';
import { parseDuration } from 'svc/query';
import type { Template } from 'svc/template';

import type { LabelRecord, ScratchRow } from '../../metricsdb/contract.ts';
import { advance, type Instance, type Row } from '../evaluator/instance.ts';
import { labelKey } from '../label-key.ts';
import type { FileRule, RuleGroup } from '../prometheus-file.ts';
import type { Plan } from '../rule.ts';
import { compileAnnotation, renderText, type TemplateContext } from '../template.ts';

export interface Sample {
  readonly labels: LabelRecord;
  readonly value: number;
}

export interface ActiveAlert {
  readonly labels: LabelRecord;
  readonly annotations: LabelRecord;
}

interface Active extends ActiveAlert {
  readonly instance: Instance;
  readonly since: number;
}

type Templates = readonly (readonly [name: string, template: Template])[];

/** One alerting rule of a file, from evaluation to evaluation. It begins as the evaluator does, and ends as Prometheus says: at once, or after keep_firing_for. */
export class AlertRun {
  readonly alertname: string;
  readonly expr: string;
  readonly #plan: Plan;
  readonly #keepMs: number;
  readonly #labels: Templates;
  readonly #annotations: Templates;
  readonly #context: TemplateContext;
  #active = new Map<string, Active>();

  constructor(rule: FileRule, { labels }: RuleGroup, context: TemplateContext) {
    this.alertname = rule.alert!;
    this.expr = rule.expr;
    this.#plan = { join: 'any', legs: [{ store: 'metrics', query: rule.expr, forMs: durationOf(rule.for) }] };
    this.#keepMs = durationOf(rule.keepFiringFor);
    this.#context = context;
    this.#labels = compiled({ ...labels, ...rule.labels }, 'label', context);
    this.#annotations = compiled(rule.annotations, 'annotation', context);
  }

  get firing(): readonly ActiveAlert[] {
    return [...this.#active.values()].filter(({ instance }) => instance.phase === 'firing');
  }

  step(samples: readonly Sample[], at: number): void {
    const found = new Map<string, ActiveAlert>();
    for (const sample of samples) {
      const alert = this.#alertOf(sample);
      const key = labelKey(alert.labels);
      if (found.has(key)) {
        throw new SvcError('invalid_argument', 'vector contains metrics with the same labelset after applying alert labels');
      }
      found.set(key, alert);
    }
    const rows = new Map([...found].map(([key, { labels }]): [string, Row] => [key, { key, scopeId: key, deviceId: null, labels, value: 0 }]));
    const next = new Map<string, Active>();
    for (const key of new Set([...this.#active.keys(), ...found.keys()])) {
      const known = this.#active.get(key);
      const instance = this.#move(key, known?.instance, rows, at);
      if (instance !== undefined) {
        next.set(key, { ...(found.get(key) ?? known!), instance, since: known?.since ?? at });
      }
    }
    this.#active = next;
  }

  #move(key: string, known: Instance | undefined, rows: ReadonlyMap<string, Row>, at: number): Instance | undefined {
    const { next } = advance(key, known, { plan: this.#plan, at, continuous: true, rows: [rows], holdMs: Infinity });
    if (rows.has(key) || known?.phase !== 'firing') {
      return next;
    }
    const clearedAt = known.clearedAt ?? at;
    return at - clearedAt < this.#keepMs ? { ...known, clearedAt } : undefined;
  }

  #alertOf({ labels: { ...all }, value }: Sample): ActiveAlert {
    const rendered = (templates: Templates): [string, string][] => templates.map(([name, template]) => [name, this.#rendered(template, all, value)]);
    const { __name__: _name, ...own } = all;
    const labels = { ...own, ...Object.fromEntries(rendered(this.#labels)), alertname: this.alertname };
    return { labels: withoutEmpty(labels), annotations: Object.fromEntries(rendered(this.#annotations)) };
  }

  #rendered(template: Template, labels: LabelRecord, value: number): string {
    const snapshot = {
      rule_key: this.alertname,
      rule_name: this.alertname,
      severity: 'warning',
      scope_type: 'global',
      scope_id: 'global',
      labels,
      value,
      fired_at: '',
    } as const;
    try {
      return renderText(template, snapshot, this.#context);
    } catch (error) {
      return `<error expanding template: ${messageOf(error)}>`;
    }
  }

  /** The series that Prometheus writes of its alerts. */
  series(at: number): ScratchRow[] {
    return [...this.#active.values()].flatMap(({ labels, instance, since }) => [
      rowOf({ ...labels, __name__: 'ALERTS', alertstate: instance.phase === 'firing' ? 'firing' : 'pending' }, at, 1),
      rowOf({ ...labels, __name__: 'ALERTS_FOR_STATE' }, at, since / 1_000),
    ]);
  }
}

export const rowOf = (labels: LabelRecord, at: number, value: number): ScratchRow => ({ labels, times: Float64Array.of(at), values: Float64Array.of(value) });

export const withoutEmpty = (labels: LabelRecord): LabelRecord => Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));

const durationOf = (text: string | undefined): number => (text === undefined || text === '' ? 0 : parseDuration(text));

function compiled(texts: Readonly<Record<string, string>>, what: string, context: TemplateContext): Templates {
  return Object.entries(texts).map(([name, text]) => {
    try {
      return [name, compileAnnotation(text, context)] as const;
    } catch (error) {
      throw new SvcError('invalid_argument', `${what} ${name}: ${messageOf(error)}`, { cause: error });
    }
  });
}
