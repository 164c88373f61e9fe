import { parseDuration } from 'svc/query';

import type { ConditionFields } from '../rule/condition-fields.ts';
import type { Leg, Rule, ScopeType } from '../rule/rule.ts';

/** Stored condition: every field checked, none unknown. */
export type Condition = Readonly<Record<string, string | number>>;

/** Rule fields that a condition depends on. */
export type Frame = Pick<Rule, 'scope_type' | 'dimensions' | 'interval_seconds'>;

/** Query text that a person wrote, with its expected type. */
export interface QueryText {
  readonly field: string;
  readonly text: string;
  readonly language: 'promql' | 'logql';
  readonly wants: 'vector' | 'number' | 'lines';
}

/** One kind of condition. */
export interface Kind {
  /**
   * Parses a condition; throws invalid_argument for one that is meaningless or could never fire.
   */
  read(fields: ConditionFields, frame: Frame): Condition;
  /** Returns the queries that the engines have to check before the condition is stored. */
  queryTexts(condition: Condition): readonly QueryText[];
  leg(condition: Condition, frame: Frame, evaluation: Evaluation): Leg;
}

export interface Evaluation {
  /** Interval between evaluations of the rule. */
  readonly intervalMs: number;
}

const scopeLabels: Readonly<Record<ScopeType, readonly string[]>> = {
  host: ['device_id'],
  global: [],
  monitoring_pipeline: ['pipeline'],
};

/** Returns the labels that an aggregation must keep, so that incidents remain distinguishable. */
export const groupingOf = ({
  scope_type: scope,
  dimensions,
}: Pick<Frame, 'scope_type' | 'dimensions'>): readonly string[] => [
  ...new Set([...scopeLabels[scope], ...dimensions]),
];

/** ` by (device_id)`; nothing where all is one. */
export const by = (labels: readonly string[]): string =>
  labels.length === 0 ? '' : ` by (${labels.map(inPromql).join(', ')})`;

/** Quotes names with unusual characters. */
const inPromql = (name: string): string =>
  /^[a-zA-Z_]\w*$/.test(name) ? name : JSON.stringify(name);

export const day = 86_400_000;

export const lastingOf = (lasting: string | number | undefined): { readonly forMs: number } => ({
  forMs: lasting === undefined ? 0 : parseDuration(String(lasting)),
});
