import type { Evidence, Findings, Hypothesis, Indicator, Node, Snapshot } from 'svc/rca';
import { timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { cutOf, unlistedChanges } from './left-out.ts';
import type { ReportBody as Body } from './schema.ts';

export type ReportBody = Static<typeof Body>;

export interface Beside extends Pick<
  ReportBody,
  'related_incidents' | 'similar_past' | 'suggested_actions' | 'runbook'
> {
  readonly run: { readonly id: number };
  readonly raw: number;
  readonly seconds: number;
}

const when = (at: number | undefined): string | null => (at === undefined ? null : timestamp(at));
const mostSupport = 8;

/** Builds the report as data: the findings in names and times, with their context. */
export function buildReport(
  snapshot: Snapshot,
  findings: Findings,
  { run, raw, seconds, ...beside }: Beside,
): ReportBody {
  const nodes = new Map(snapshot.nodes.map((node) => [node.id, node]));
  const nodeOf = (id: string, name = id): Node => nodes.get(id) ?? { id, name, kind: 'unknown' };
  const { root_cause: cause, confidence } = findings;
  return {
    onset_at: when(findings.onset_at),
    recovered_at: when(findings.recovered_at),
    root_cause: cause && {
      node: { ...nodeOf(cause.node, cause.node_name) },
      category: cause.category,
      indicator: indicatorOf(cause.indicator),
      since: timestamp(cause.since),
      text: cause.text,
    },
    confidence: { ...confidence, parts: { ...confidence.parts }, raw, lowered_by_model: false },
    chain: chainOf(findings, nodeOf),
    hypotheses: findings.hypotheses.map((one) => hypothesisOf(one, nodeOf)),
    propagation: findings.propagation.map(({ checks, ...step }) => ({
      ...step,
      checks: { ...checks },
    })),
    timeline: findings.timeline.map(({ at, node, kind, text, evidence }) => ({
      at: timestamp(at),
      node: node ?? null,
      kind,
      text,
      evidence: [...evidence],
    })),
    claims: findings.claims.map(
      ({ assertion, checked_value: checked, evidence_ids: ids, ...claim }) => ({
        ...claim,
        evidence_ids: [...ids],
        assertion: assertion === undefined ? null : { ...assertion },
        checked_value: checked ?? null,
      }),
    ),
    evidence: snapshot.evidence.map((evidence) => evidenceItem(run.id, evidence)),
    ruled_out: findings.ruled_out.map(({ evidence, ...one }) => ({
      ...one,
      evidence: [...evidence],
    })),
    not_seen: [
      ...findings.not_seen,
      ...cutOf(snapshot),
      ...unlistedChanges(snapshot, findings),
    ].map(({ kind, node, reason, text }) => ({
      kind,
      node: node ?? null,
      reason,
      text,
    })),
    changes: findings.changes.map(
      ({ at, kind, node, title, score, before_ms: before, evidence }) => ({
        at: timestamp(at),
        kind,
        node: node ?? null,
        title,
        score,
        before_seconds: Math.round(before / 1_000),
        evidence,
      }),
    ),
    ...beside,
    disagreement: null,
    usage: { prompt_tokens: 0, completion_tokens: 0, model: null, tool_calls: 0, seconds },
  };
}

export const evidenceItem = (
  runId: number,
  evidence: Evidence,
): ReportBody['evidence'][number] => ({
  id: evidence.id,
  kind: evidence.kind,
  source: evidence.source,
  query: evidence.query,
  sha256: evidence.sha256,
  trust: evidence.trust,
  window: { from: timestamp(evidence.window.from), to: timestamp(evidence.window.to) },
  fetched_at: timestamp(evidence.fetched_at),
  settled:
    evidence.settled === undefined
      ? null
      : { to: timestamp(evidence.settled.to), sha256: evidence.settled.sha256 },
  digest: { ...evidence.digest },
  redactions: evidence.redactions ?? 0,
  truncated: evidence.truncated ?? false,
  again: `/api/v1/investigations/${runId}/evidence/${evidence.id}/again`,
});

const indicatorOf = (
  indicator: Indicator | null,
): NonNullable<ReportBody['root_cause']>['indicator'] =>
  indicator && {
    evidence: indicator.evidence,
    kind: indicator.kind,
    name: indicator.name,
    usual: indicator.usual ?? null,
    worst: indicator.worst ?? null,
    deviation: indicator.deviation ?? null,
    since: when(indicator.onset_at),
  };

const hypothesisOf = (
  one: Hypothesis,
  nodeOf: (id: string, name?: string) => Node,
): ReportBody['hypotheses'][number] => ({
  rank: one.rank,
  node: { ...nodeOf(one.node, one.node_name) },
  category: one.category,
  indicator: indicatorOf(one.indicator),
  score: one.score,
  since: when(one.onset_at),
  deviation: one.deviation,
  correlation: one.correlation,
  reaches_symptom: one.reaches_symptom,
  deepest: one.deepest,
  support: one.support.slice(0, mostSupport).map((support) => ({ ...support })),
  text: one.text,
});

/**
 * Returns what a person reads first at night: the cause, the path of the failure, and where it was
 * noticed.
 */
function chainOf(
  { root_cause: cause, propagation, timeline }: Findings,
  nodeOf: (id: string, name?: string) => Node,
): string[] {
  if (cause === null) {
    return [];
  }
  const steps = propagation.map(({ from, to, relation, checks }) => {
    const doubts = [
      !checks.edge && 'no relation between them is known',
      !checks.deviates && 'not both deviate',
      !checks.order && 'the effect came first',
    ];
    const named = doubts.filter((doubt) => doubt !== false);
    return `${nodeOf(to).name} follows ${nodeOf(from).name} (${relation.replaceAll('_', ' ')})${named.length === 0 ? '' : `; in doubt: ${named.join(', ')}`}`;
  });
  const fired = timeline.find(({ kind }) => kind === 'fired');
  return [
    `${clock(cause.since)}: ${cause.text}`,
    ...steps,
    ...(fired === undefined ? [] : [`${clock(fired.at)}: ${fired.text}`]),
  ];
}

const clock = (at: number): string => `${timestamp(at).slice(11, 19)} UTC`;
