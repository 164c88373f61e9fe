import { type Candidate, rank, type Scene } from './ranking.ts';
import type { Confidence, Findings, Hypothesis, NotSeen } from './findings.ts';
import { Graph, scopeOf } from './graph.ts';
import { signalsOf } from './node-signals.ts';
import type { Snapshot } from './snapshot.ts';
import { symptomSeries, windowsOf } from './windows.ts';

export const engineVersion = '0.2.0';

export interface EngineOptions {
  /** How many hypotheses are told at most. */
  readonly most?: number;
  readonly mostNodes?: number;
}

/** The one entry: what a snapshot says about the cause, with no clock, no chance and nothing fetched. */
export function investigate(snapshot: Snapshot, { most = 10, mostNodes = 400 }: EngineOptions = {}): Findings {
  const symptom = symptomSeries(snapshot);
  const windows = windowsOf(snapshot, symptom);
  const nodes = scopeOf(snapshot.nodes, snapshot.edges, snapshot.symptom.node, mostNodes);
  const scene: Scene = { snapshot, windows, graph: new Graph(nodes, snapshot.edges), facts: signalsOf(snapshot, nodes, windows, symptom) };
  const ranked = rank(scene).slice(0, most).map(hypothesis);
  const best = ranked[0];
  const confidence = confidenceOf(snapshot, ranked);
  return {
    engine_version: engineVersion,
    verdict: best ? 'suspected' : 'no_anomaly',
    summary: best?.text ?? 'No signal of what was fetched deviates from its usual values.',
    onset_at: windows.onset,
    root_cause: best
      ? {
          node: best.node,
          node_name: best.node_name,
          category: best.category,
          indicator: best.indicator,
          since: best.onset_at ?? windows.onset,
          text: best.text,
        }
      : null,
    confidence,
    hypotheses: ranked,
    propagation: [],
    timeline: [{ at: snapshot.symptom.fired_at, kind: 'fired', text: `The alert on ${snapshot.symptom.metric} fired.`, evidence: [] }],
    claims: [],
    ruled_out: [],
    not_seen: notSeen(snapshot),
    changes: [],
  };
}

function hypothesis({ facts: { node, signals, complaints, templates }, score, leaf, reach, bonus }: Candidate, at: number): Hypothesis {
  const first = signals[0];
  const text = `${node.name}: ${first?.deviation.series.metric ?? complaints[0]?.check ?? templates[0]?.log.template ?? 'what stands on it'} deviates`;
  return {
    rank: at + 1,
    node: node.id,
    node_name: node.name,
    category: 'unknown',
    indicator: first
      ? { evidence: first.deviation.series.evidence, kind: first.deviation.series.kind, name: first.deviation.series.metric, series: first.deviation.series.id }
      : null,
    score,
    deviation: first?.deviation.peak ?? 0,
    correlation: first?.correlation ?? 0,
    reaches_symptom: reach,
    deepest: leaf > 0.5,
    support: [{ kind: 'metric' as const, evidence: '', text: `${leaf.toFixed(2)} ${JSON.stringify(bonus)}` }],
    text,
  };
}

function confidenceOf({ evidence, missing }: Snapshot, [first, second]: readonly Hypothesis[]): Confidence {
  const margin = first ? (first.score - (second?.score ?? 0)) / first.score : 0;
  const coverage = evidence.length / Math.max(1, evidence.length + missing.length);
  const parts = { margin, coverage, path: 0, kinds: first ? 1 / 3 : 0 };
  const value = first ? Math.min(1, 0.15 + 0.35 * margin + 0.2 * coverage + 0.1 * parts.kinds) : 0;
  return { level: value >= 0.75 ? 'high' : value >= 0.5 ? 'medium' : 'low', value, parts, calibrated: false };
}

const notSeen = ({ missing }: Snapshot): NotSeen[] =>
  missing.map(({ kind, node, reason, text }) => ({ kind, ...(node === undefined ? {} : { node }), reason, text }));
