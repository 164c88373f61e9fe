import { Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Instant = Type.String({ format: 'date-time' });
const MaybeInstant = orNull(Instant);
const Facts = Type.Record(Type.String(), Type.Unknown());
const Kind = Type.Enum(['metric', 'log', 'trace', 'change', 'topology', 'check', 'doc']);
const Window = Type.Object({ from: Instant, to: Instant });

export const Verdict = Type.Enum([
  'root_cause',
  'suspected',
  'no_anomaly',
  'recovered',
  'insufficient_data',
  'monitoring_fault',
]);
export const Status = Type.Enum([
  'not_started',
  'pending',
  'running',
  'ready',
  'failed',
  'skipped',
]);

const Node = Type.Object({ id: Type.String(), name: Type.String(), kind: Type.String() });
const Indicator = orNull(
  Type.Object({
    evidence: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    usual: orNull(Type.Number()),
    worst: orNull(Type.Number()),
    deviation: orNull(
      Type.Number({
        description: 'Distance from the usual value, in multiples of the normal deviation',
      }),
    ),
    since: MaybeInstant,
  }),
);

const Claim = Type.Object({
  id: Type.String(),
  text: Type.String(),
  evidence_ids: Type.Array(Type.String()),
  assertion: orNull(Facts),
  origin: Type.Enum(['engine', 'model']),
  status: Type.Enum(['verified', 'contradicted', 'unverified']),
  checked_value: orNull(Type.Number()),
});

export const EvidenceItem = Type.Object({
  id: Type.String(),
  kind: Kind,
  source: Type.String(),
  query: Type.String(),
  window: Window,
  fetched_at: Instant,
  digest: Facts,
  sha256: Type.String(),
  settled: orNull(
    Type.Object(
      { to: Instant, sha256: Type.String() },
      { description: 'Digest of the data up to this time; later data was still arriving' },
    ),
  ),
  redactions: Type.Integer(),
  truncated: Type.Boolean(),
  trust: Type.Enum(['trusted', 'untrusted']),
  again: Type.String({
    description: 'API path that repeats the query and reports whether the result is the same',
  }),
});

export const Feedback = Type.Object({
  verdict: Type.Enum(['right', 'partly', 'wrong']),
  true_cause: Type.String(),
  comment: Type.String(),
  by: Type.String(),
  at: Instant,
});

/** Fields of a report, from its root cause to the next steps. */
export const reportFields = {
  root_cause: orNull(
    Type.Object({
      node: Node,
      category: Type.String(),
      indicator: Indicator,
      since: Instant,
      text: Type.String(),
    }),
  ),
  confidence: orNull(
    Type.Object({
      level: Type.Enum(['low', 'medium', 'high']),
      value: Type.Number(),
      raw: Type.Number({ description: 'Confidence before calibration' }),
      parts: Type.Object({
        margin: Type.Number(),
        coverage: Type.Number(),
        path: Type.Number(),
        kinds: Type.Number(),
      }),
      calibrated: Type.Boolean(),
      lowered_by_model: Type.Boolean(),
    }),
  ),
  chain: Type.Array(Type.String(), {
    description: 'Steps from the cause to the symptom, one sentence each',
  }),
  hypotheses: Type.Array(
    Type.Object({
      rank: Type.Integer(),
      node: Node,
      category: Type.String(),
      indicator: Indicator,
      score: Type.Number(),
      since: MaybeInstant,
      deviation: Type.Number(),
      correlation: Type.Number(),
      reaches_symptom: Type.Boolean(),
      deepest: Type.Boolean(),
      support: Type.Array(
        Type.Object({ kind: Kind, evidence: Type.String(), text: Type.String() }),
      ),
      text: Type.String(),
    }),
  ),
  propagation: Type.Array(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      relation: Type.String(),
      origin: Type.String(),
      checks: Type.Object({
        edge: Type.Boolean(),
        deviates: Type.Boolean(),
        order: Type.Boolean(),
      }),
    }),
  ),
  timeline: Type.Array(
    Type.Object({
      at: Instant,
      node: orNull(Type.String()),
      kind: Type.String(),
      text: Type.String(),
      evidence: Type.Array(Type.String()),
    }),
  ),
  claims: Type.Array(Claim),
  evidence: Type.Array(EvidenceItem),
  ruled_out: Type.Array(
    Type.Object({
      node: Type.String(),
      node_name: Type.String(),
      reason: Type.String(),
      text: Type.String(),
      evidence: Type.Array(Type.String()),
    }),
  ),
  not_seen: Type.Array(
    Type.Object({
      kind: Kind,
      node: orNull(Type.String()),
      reason: Type.String(),
      text: Type.String(),
    }),
  ),
  changes: Type.Array(
    Type.Object({
      at: Instant,
      kind: Type.String(),
      node: orNull(Type.String()),
      title: Type.String(),
      score: Type.Number(),
      before_seconds: Type.Number(),
      evidence: Type.String(),
    }),
  ),
  related_incidents: Type.Array(
    Type.Object({
      incident_id: Type.Integer(),
      investigation_id: orNull(Type.Integer()),
      why: Type.Enum(['same_rule', 'same_host', 'in_scope', 'same_time']),
      summary: Type.String(),
    }),
    { description: 'The most closely related incidents, at most 20' },
  ),
  similar_past: Type.Array(
    Type.Object({
      incident_id: Type.Integer(),
      investigation_id: Type.Integer(),
      at: Instant,
      likeness: Type.Number(),
      verdict: Type.String(),
      summary: Type.String(),
      true_cause: orNull(Type.String({ description: 'Actual cause, according to feedback' })),
    }),
  ),
  suggested_actions: Type.Array(
    Type.Object({
      label: Type.String(),
      class: Type.Literal('safe', {
        description: 'For display only: the action is read-only and is never run automatically',
      }),
      tool: orNull(Type.String()),
      args: orNull(Facts),
      link: orNull(
        Type.String({
          description: 'Link to open: a console page, a route, or a vault document',
        }),
      ),
      why: Type.String(),
    }),
  ),
  runbook: orNull(
    Type.Object({
      url: orNull(Type.String()),
      matched_doc: orNull(
        Type.Object({
          document_id: Type.Union([Type.String(), Type.Number()]),
          path: Type.String(),
          title: Type.String(),
          heading: Type.String(),
          excerpt: Type.String(),
        }),
      ),
    }),
  ),
  disagreement: orNull(
    Type.Object(
      { text: Type.String(), node: orNull(Type.String()), why: Type.String() },
      { description: 'Cause that the model proposed but the evidence contradicts' },
    ),
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    model: orNull(Type.String()),
    tool_calls: Type.Integer(),
    seconds: Type.Number(),
  }),
};

/** Max related incidents of one report. */
export const maxRelated = 20;

export const ReportBody = Type.Object({
  ...reportFields,
  onset_at: MaybeInstant,
  recovered_at: MaybeInstant,
});

/** Absent for what was never begun. */
export const ReportItem = Type.Object({
  id: orNull(Type.Integer()),
  incident_id: Type.Integer(),
  status: Status,
  mode: Type.Enum(['deterministic', 'assisted']),
  verdict: orNull(Verdict),
  summary: Type.String(),
  ...ReportBody.properties,
  degraded_reason: orNull(Type.String()),
  engine_version: orNull(Type.String()),
  started_by: orNull(Type.Enum(['alert', 'person'])),
  look: Type.Integer({
    description:
      'Number of the automatic run, from first to third: an incident that keeps firing is investigated again if no cause was found',
  }),
  asked_by: orNull(Type.String()),
  feedback: Type.Array(Feedback),
  created_at: MaybeInstant,
  started_at: MaybeInstant,
  ready_at: MaybeInstant,
});
