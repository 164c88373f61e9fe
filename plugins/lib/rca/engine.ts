import { type Deviation, deviationOf, gates } from './deviation.ts';
import type { Confidence, Findings, Hypothesis, NotSeen } from './findings.ts';
import { resampled } from './grid.ts';
import type { Node, Snapshot } from './snapshot.ts';
import { pearson } from './statistics.ts';
import { symptomSeries, type Windows, windowsOf } from './windows.ts';

export const engineVersion = '0.1.0';

export interface EngineOptions {
  /** How many hypotheses are told at most. */
  readonly most?: number;
}

/** The one entry: what a snapshot says about the cause, with no clock, no chance and nothing fetched. */
export function investigate(snapshot: Snapshot, { most = 10 }: EngineOptions = {}): Findings {
  const windows = windowsOf(snapshot);
  const ranked = ranking(snapshot, windows).slice(0, most);
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

function ranking(snapshot: Snapshot, { baseline, incident }: Windows): Hypothesis[] {
  const deviations = snapshot.series.flatMap((series) => deviationOf(series, baseline, incident) ?? []);
  const symptom = symptomSeries(snapshot);
  const scored = snapshot.nodes.flatMap((node) => {
    const own = deviations.filter(({ series }) => series.node === node.id && series.kind === snapshot.symptom.kind);
    const worst = own.reduce<Deviation | undefined>((best, next) => (best === undefined || next.peak > best.peak ? next : best), undefined);
    if (worst === undefined || worst.peak < gates.relaxed) {
      return [];
    }
    const step = Math.max(worst.series.step_ms, symptom?.step_ms ?? 0);
    const correlation = symptom ? Math.abs(pearson(resampled(worst.series, incident, step), resampled(symptom, incident, step))) : 0;
    return [{ node, worst, correlation, score: correlation + 0.01 * Math.log1p(worst.peak) }];
  });
  return scored.sort((a, b) => b.score - a.score).map((entry, at) => hypothesis(entry.node, entry.worst, entry.correlation, entry.score, at + 1));
}

function hypothesis(node: Node, { series, usual, worst, peak, onset_at: onset }: Deviation, correlation: number, score: number, rank: number): Hypothesis {
  const since = onset === undefined ? {} : { onset_at: onset };
  const text = `${series.metric} of ${node.name} went from ${usual.median.toPrecision(3)} to ${worst.toPrecision(3)}`;
  return {
    rank,
    node: node.id,
    node_name: node.name,
    category: 'unknown',
    indicator: { evidence: series.evidence, kind: series.kind, name: series.metric, series: series.id, usual: usual.median, worst, deviation: peak, ...since },
    score,
    ...since,
    deviation: peak,
    correlation,
    reaches_symptom: node.id === series.node,
    deepest: false,
    support: [{ kind: 'metric', evidence: series.evidence, text }],
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
