import { timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import { instantOf } from './investigation-queue.ts';
import type { ReportBody } from './report/build-report.ts';
import type { Report } from './report/markdown.ts';
import { Status, Verdict } from './report/schema.ts';
import type { FeedbackRow, RunRow } from './run-store.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const MaybeInstant = orNull(Type.String({ format: 'date-time' }));

/** One investigation in a list. */
export const RunItem = Type.Object({
  id: Type.Integer(),
  incident_id: Type.Integer(),
  rule: Type.String(),
  device_id: orNull(Type.String()),
  status: Status,
  mode: Type.Enum(['deterministic', 'assisted']),
  verdict: orNull(Verdict),
  summary: Type.String(),
  confidence: orNull(Type.Number()),
  root_node: orNull(Type.String()),
  started_by: Type.Enum(['alert', 'person']),
  look: Type.Integer(),
  created_at: Type.String({ format: 'date-time' }),
  ready_at: MaybeInstant,
});

export const shownRun = (run: RunRow) => ({
  id: run.id,
  incident_id: run.incident_id,
  rule: run.rule_key,
  device_id: run.device_id,
  status: run.status,
  mode: run.mode,
  verdict: run.verdict,
  summary: run.summary,
  confidence: run.confidence,
  root_node: run.root_node,
  started_by: run.started_by,
  look: run.look,
  created_at: timestamp(run.created_at),
  ready_at: instantOf(run.ready_at),
});

/** Empty body, for a run that never started, or is not that far yet. */
const nothing: ReportBody = {
  onset_at: null,
  recovered_at: null,
  root_cause: null,
  confidence: null,
  chain: [],
  hypotheses: [],
  propagation: [],
  timeline: [],
  claims: [],
  evidence: [],
  ruled_out: [],
  not_seen: [],
  changes: [],
  related_incidents: [],
  similar_past: [],
  suggested_actions: [],
  runbook: null,
  disagreement: null,
  usage: { prompt_tokens: 0, completion_tokens: 0, model: null, tool_calls: 0, seconds: 0 },
};

export const notStarted = (incidentId: number): Report => ({
  id: null,
  incident_id: incidentId,
  status: 'not_started',
  mode: 'deterministic',
  verdict: null,
  ...nothing,
  summary: 'Not investigated yet; POST here to start.',
  look: 0,
  degraded_reason: null,
  engine_version: null,
  started_by: null,
  asked_by: null,
  feedback: [],
  created_at: null,
  started_at: null,
  ready_at: null,
});

export const shownReport = (
  run: RunRow,
  feedback: readonly FeedbackRow[],
  more: Partial<ReportBody> = {},
): Report => ({
  id: run.id,
  incident_id: run.incident_id,
  status: run.status,
  mode: run.mode,
  verdict: run.verdict,
  summary: run.summary,
  ...(run.report === null ? nothing : (JSON.parse(run.report) as ReportBody)),
  ...more,
  degraded_reason: run.reason,
  engine_version: run.engine_version,
  started_by: run.started_by,
  asked_by: run.asked_by,
  look: run.look,
  feedback: feedback.map(({ verdict, true_cause, comment, name, at }) => ({
    verdict,
    true_cause,
    comment,
    by: name,
    at: timestamp(at),
  })),
  created_at: timestamp(run.created_at),
  started_at: instantOf(run.started_at),
  ready_at: instantOf(run.ready_at),
});
