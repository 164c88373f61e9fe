import { formatDuration, parseDuration } from 'svc/query';
import type { Static } from 'typebox';

import { ownRules } from '../evaluator/own-rules.ts';
import type { Condition, Frame } from '../kinds/kind.ts';
import { type AcceptedKind, kinds, storedKindOf } from '../kinds/kinds.ts';
import { compileThreshold } from '../kinds/metric-raw.ts';
import { ConditionFields, wrongField } from '../rule/condition-fields.ts';
import type { RuleBody } from '../rule/rule-tables.ts';
import { assertAnnotations } from '../template/template.ts';
import { errors } from './errors.ts';
import type { RuleDraft } from './rule-schema.ts';

export type Draft = Static<typeof RuleDraft>;

const shortestIntervalSeconds = 5;

/**
 * Returns the rule body to store for a draft: maps form kinds and legacy kinds to stored ones,
 * fills in defaults, and refuses whatever could not work.
 */
export function bodyOf(draft: Draft): RuleBody {
  const {
    notify_window_seconds: window = 0,
    notify_min_fires: fires = 0,
    interval_seconds: interval = 0,
    dimensions = [],
    annotations = {},
  } = draft;
  if ((window === 0) !== (fires === 0)) {
    const path = window === 0 ? '/notify_window_seconds' : '/notify_min_fires';
    throw errors.half_dampening({
      details: [{ path, message: errors.half_dampening.sentence }],
    });
  }
  if (interval > 0 && interval < shortestIntervalSeconds) {
    throw wrongField('/interval_seconds', `must be 0, or at least ${shortestIntervalSeconds}`);
  }
  if (ownRules.some(({ rule }) => rule.rule_key === draft.rule_key)) {
    throw wrongField(
      '/rule_key',
      `${draft.rule_key} is the key of the evaluator's own rule; choose another`,
    );
  }
  assertAnnotations(annotations);
  const frame: Frame = { scope_type: draft.scope_type, dimensions, interval_seconds: interval };
  return {
    rule_key: draft.rule_key,
    name: draft.name.trim(),
    kind: storedKindOf(draft.kind),
    source_type: draft.source_type,
    scope_type: draft.scope_type,
    join_mode: draft.join_mode,
    severity: draft.severity,
    enabled: draft.enabled ?? true,
    conditions: draft.conditions.map((condition, index) =>
      conditionOf(draft.kind, condition, index, frame),
    ),
    labels: draft.labels ?? {},
    annotations,
    runbook_url: draft.runbook_url ?? '',
    notify_channel_ids: draft.notify_channel_ids ?? [],
    notify_window_seconds: window,
    notify_min_fires: fires,
    dimensions,
    interval_seconds: interval,
    keep_firing_for: keepOf(draft.keep_firing_for ?? ''),
    limit: draft.limit ?? 0,
  };
}

const longestKeepMs = 30 * 86_400_000;

function keepOf(text: string): string {
  const ms = text === '' ? 0 : parseDuration(text);
  if (ms > longestKeepMs) {
    throw wrongField('/keep_firing_for', 'must be at most 30d');
  }
  return text === '' ? '' : formatDuration(ms);
}

function conditionOf(kind: AcceptedKind, sent: unknown, index: number, frame: Frame): Condition {
  const fields = new ConditionFields(sent, `/conditions/${index}`);
  return kind === 'metric_threshold'
    ? compileThreshold(fields, frame)
    : kinds[storedKindOf(kind)].read(fields, frame);
}
