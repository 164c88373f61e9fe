import type { LabelRecord } from 'svc/contracts/metricsdb';
import type { Severity } from 'svc/contracts/notify';
import type { NativeHistogram } from 'svc/native-histogram';

import type { Rule, ScopeType } from '../rule/rule.ts';
import type { TemplateQuery } from './functions.ts';

/** Snapshot that annotations are rendered from: the incident at the moment it fires. */
export interface Snapshot {
  readonly rule_key: string;
  readonly rule_name: string;
  readonly severity: Severity;
  readonly scope_type: ScopeType;
  readonly scope_id: string;
  readonly device_id?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  /** Histogram that replaces the value in templates; only series of rule tests have one. */
  readonly histogram?: NativeHistogram;
  readonly threshold?: number;
  /** Forecast only: seconds until its bound is reached. */
  readonly eta?: number;
  readonly fired_at: string;
}

/** Name of a device as people call it now, or its number if nothing is known of it. */
export type NameOfDevice = (deviceId: string) => string;

/**
 * Renders annotations without throwing: a failing template is replaced by its error. `query` is the
 * query function of templates.
 */
export type RenderAnnotations = (
  rule: Rule,
  snapshot: Snapshot,
  query?: TemplateQuery,
) => Readonly<Record<string, string>>;

/** The labels of an alert: `own` tell it from others of its rule, `all` are shown. Never throws, as above. */
export type RenderLabels = (
  rule: Rule,
  series: LabelRecord,
  value: number,
  histogram?: NativeHistogram,
) => { readonly own: LabelRecord; readonly all: LabelRecord };
