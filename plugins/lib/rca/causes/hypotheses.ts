import { blindChecks, knownChecks } from '../signals/checks.ts';
import type { Deviation } from '../signals/deviation.ts';
import type { Category, Hypothesis, Indicator } from '../signals/findings.ts';
import { valuesIn } from '../signals/grid.ts';
import { answerKinds, type NodeSignals } from '../signals/node-signals.ts';
import { type Culprit, culpritOf, culpritText } from '../signals/processes.ts';
import type { AttributeSplit, ChangeKind, SliKind, Unit } from '../signals/snapshot.ts';
import { present } from '../signals/statistics.ts';
import { consumes, usable } from './blame.ts';
import { anomalous, type Scene } from './scene.ts';
import { relatedChanges } from './changes.ts';
import type { Candidate } from './ranking.ts';
import { withinOf } from './reasons.ts';

const byChange: Readonly<Partial<Record<ChangeKind, Category>>> = {
  deploy: 'code_defect',
  config: 'configuration_error',
  certificate: 'configuration_error',
  package: 'configuration_error',
  edge_upgrade: 'configuration_error',
  reboot: 'infrastructure',
  restart: 'infrastructure',
};

const likelyChange = 0.5;

/**
 * Returns a candidate as reported: the kind of trouble, what in the node shows it, and the evidence
 * for it.
 */
export function hypothesisOf(candidate: Candidate, rank: number, scene: Scene): Hypothesis {
  const { facts, score, leaf, reach } = candidate;
  const indicator = indicatorOf(candidate, scene);
  const category = categoryOf(candidate, indicator, scene);
  const onset = onsetOf(facts);
  const first = facts.signals[0];
  const culprit = culpritIn(candidate, indicator, scene);
  const within = withinOf(candidate, indicator, scene);
  return {
    rank,
    node: facts.node.id,
    node_name: facts.node.name,
    category,
    indicator,
    score,
    ...(onset === undefined ? {} : { onset_at: onset }),
    deviation: first?.deviation.peak ?? 0,
    correlation: first?.correlation ?? 0,
    reaches_symptom: reach,
    deepest: leaf >= 0.5,
    support: [
      ...supportOf(candidate, indicator, scene),
      ...(within === undefined
        ? []
        : [
            {
              kind: 'metric' as const,
              evidence: within.deviation.series.evidence,
              text: indicatorText(metricIndicator(within.deviation), facts),
            },
          ]),
      ...(culprit === undefined
        ? []
        : [
            {
              kind: culprit.process.pid === null ? ('metric' as const) : ('doc' as const),
              evidence: culprit.process.evidence,
              text: culpritText(culprit),
            },
          ]),
    ],
    text: [
      textOf(candidate, indicator),
      ...(within === undefined ? [] : [indicatorText(metricIndicator(within.deviation), facts)]),
      ...(culprit === undefined ? [] : [culpritText(culprit)]),
    ].join('; '),
  };
}

/** Returns the process that uses up what a host lacks, by the resource of its indicator, or else of its strongest signal. */
function culpritIn(
  { facts }: Candidate,
  indicator: Indicator | null,
  { snapshot, windows }: Scene,
): Culprit | undefined {
  const kinds = [
    indicator?.kind,
    ...facts.signals.map(({ deviation: { series } }) => series.kind),
  ].flatMap((kind) => {
    const known = usable.find((one) => one === kind);
    return known ?? (kind === 'load' ? [kind] : []);
  });
  return kinds
    .map((kind) => culpritOf(snapshot.processes ?? [], facts.node.id, kind, windows))
    .find((found) => found !== undefined);
}

/** When a node first showed something: its earliest relevant signal, or the end of its data. */
export function onsetOf({
  signals,
  silent_since: silent,
  idle_since: idle,
}: NodeSignals): number | undefined {
  const strongest = signals[0]?.relevance ?? 0;
  const times = signals
    .filter(({ relevance }) => relevance > 0 && relevance >= 0.5 * strongest)
    .flatMap(({ deviation }) => deviation.onset_at ?? []);
  const all = [...times, ...[silent, idle].filter((time) => time !== undefined)];
  return all.length === 0 ? undefined : Math.min(...all);
}

const isAnswer = (kind: SliKind): boolean => answerKinds.includes(kind);

/** Which signal inside the node: of a resource the one that went furthest beyond its quartiles, unless another one began clearly earlier. */
function indicatorOf({ facts, relevance }: Candidate, scene: Scene): Indicator | null {
  const eaten =
    consumes(
      facts,
      scene.graph.needs(facts.node.id).find((id) => consumes(facts, id, scene) > 0.5),
      scene,
    ) > 0.5;
  const resources = facts.signals.filter(
    ({ deviation: { series }, relevance: own }) =>
      own > 0 && !isAnswer(series.kind) && series.kind !== 'rate',
  );
  const answers = facts.signals.filter(({ deviation: { series } }) => isAnswer(series.kind));
  // What its dependents show as well says less than anything else that is wrong with it.
  const common = ({ deviation: { series } }: NodeSignals['signals'][number]): boolean =>
    series.kind === 'other' && series.metric === scene.snapshot.symptom.metric;
  const own = resources.filter((signal) => !common(signal));
  const pool = answers.length > 0 && !eaten ? answers : own.length > 0 ? own : resources;
  if (pool.length > 0) {
    // Load rises and connections pile up where a resource is used up: they go further, and come of it.
    const used = pool.filter(
      ({ deviation: { series }, relevance: weight }) =>
        usable.includes(series.kind) && weight >= anomalous,
    );
    const best = (used.length > 0 ? used : pool).reduce((one, other) =>
      precedes(
        other.deviation,
        one.deviation,
        pool === answers ? other.relevance - one.relevance : 0,
      )
        ? other
        : one,
    );
    return metricIndicator(best.deviation);
  }
  const complaint =
    facts.complaints.find(({ check }) => !blindChecks.has(check)) ?? facts.complaints[0];
  if (complaint) {
    return {
      evidence: complaint.evidence,
      kind: 'check',
      name: complaint.check,
      ...(complaint.since === undefined ? {} : { onset_at: complaint.since }),
    };
  }
  const rate = facts.deviations.find(({ series }) => series.kind === 'rate') ?? facts.deviations[0];
  const ended = facts.silent_since ?? facts.idle_since;
  if (rate && ended !== undefined) {
    const { worst: _, ...indicator } = metricIndicator(rate);
    const last = present(valuesIn(rate.series, { from: ended, to: scene.windows.look.to })).at(-1);
    return { ...indicator, ...(last !== undefined && { worst: last }), onset_at: ended };
  }
  const template = facts.templates[0];
  return template && relevance > 0
    ? {
        evidence: template.log.evidence,
        kind: 'log',
        name: template.log.template,
        onset_at: template.first_at,
      }
    : null;
}

function metricIndicator({ series, usual, worst, peak, onset_at: onset }: Deviation): Indicator {
  return {
    evidence: series.evidence,
    kind: series.kind,
    name: series.metric,
    series: series.id,
    ...(usual.count > 0 && { usual: usual.median }),
    worst,
    deviation: peak,
    ...(onset === undefined ? {} : { onset_at: onset }),
  };
}

function precedes(a: Deviation, b: Deviation, relevance: number): boolean {
  if (relevance !== 0) {
    return relevance > 0;
  }
  const step = Math.max(a.series.step_ms, b.series.step_ms);
  const earlier =
    (b.onset_at ?? Number.POSITIVE_INFINITY) - (a.onset_at ?? Number.POSITIVE_INFINITY);
  if (Math.abs(earlier) >= 2 * step && Number.isFinite(earlier)) {
    return earlier > 0;
  }
  return beyondQuartiles(a) > beyondQuartiles(b);
}

const beyondQuartiles = ({ worst, usual, scale }: Deviation): number =>
  Math.abs(worst - usual.median) / Math.max(usual.iqr, scale);

function categoryOf(
  { facts, down, shared, bonus }: Candidate,
  indicator: Indicator | null,
  { snapshot, graph, windows }: Scene,
): Category {
  const complaint =
    bonus.checks > 0.5 ? facts.complaints.find(({ check }) => !blindChecks.has(check)) : undefined;
  if (complaint) {
    return knownChecks[complaint.check]!.category;
  }
  if (down) {
    return facts.node.kind === 'host' ? 'infrastructure' : 'dependency_failure';
  }
  const change = relatedChanges(snapshot.changes, facts.node.id, windows.onset, graph)[0];
  const changed =
    change && change.node === facts.node.id && change.score >= likelyChange
      ? byChange[change.kind]
      : undefined;
  if (changed) {
    return changed;
  }
  if (
    indicator?.kind === 'cpu' ||
    indicator?.kind === 'memory' ||
    indicator?.kind === 'disk' ||
    indicator?.kind === 'load' ||
    indicator?.kind === 'saturation'
  ) {
    return 'resource_exhaustion';
  }
  if (indicator?.kind === 'network' || shared) {
    return 'infrastructure';
  }
  if (facts.node.kind === 'remote') {
    return 'dependency_failure';
  }
  const full = facts.signals.some(
    ({ deviation: { series, worst } }) =>
      series.unit === 'ratio' && !['error_ratio', 'network'].includes(series.kind) && worst >= 0.95,
  );
  if (full) {
    return 'resource_exhaustion';
  }
  if (splitAt(facts.node.id, snapshot)?.key.endsWith('.version') === true) {
    return 'code_defect';
  }
  return (indicator?.kind === 'error_ratio' || indicator?.kind === 'errors') &&
    (facts.own?.failing ?? 0) > 0 &&
    facts.templates.some(({ novel }) => novel)
    ? 'code_defect'
    : 'unknown';
}

/** Returns each kind of evidence for it, once, with its strongest piece. */
function supportOf(
  { facts, bonus, accuser }: Candidate,
  indicator: Indicator | null,
  { snapshot, graph, windows }: Scene,
): Hypothesis['support'] {
  const support: Hypothesis['support'][number][] = [];
  if (indicator?.series !== undefined) {
    support.push({
      kind: 'metric',
      evidence: indicator.evidence,
      text: indicatorText(indicator, facts),
    });
  }
  const [template] = facts.templates;
  if (template && bonus.logs >= 0.2) {
    const text = template.novel
      ? `a new log line occurred ${template.count} times`
      : template.gone
        ? `a regular log line, expected ${Math.round(template.expected)} times, stopped`
        : `a log line occurred ${template.count} times instead of ${Math.round(template.expected)}`;
    support.push({ kind: 'log', evidence: template.log.evidence, text });
  }
  if (accuser !== undefined) {
    const text = `${accuser.count} log lines of ${accuser.name} name it as the target of a failed call`;
    support.push({ kind: 'log', evidence: accuser.evidence, text });
  }
  if (facts.own && bonus.traces >= 0.2) {
    const { origin, slower, evidence } = facts.own;
    const text =
      origin >= 0.2
        ? `errors originate here in ${Math.round(origin * 100)} % of the failing traces`
        : `its own processing takes ${shortNumber(slower, 'seconds')} longer`;
    support.push({ kind: 'trace', evidence, text });
  }
  const change = relatedChanges(snapshot.changes, facts.node.id, windows.onset, graph)[0];
  if (change && bonus.changes >= 0.2) {
    support.push({
      kind: 'change',
      evidence: change.evidence,
      text: `${change.kind} ${Math.max(0, Math.round(change.before_ms / 60_000))} min before the onset`,
    });
  }
  const split = splitAt(facts.node.id, snapshot);
  if (split !== undefined) {
    support.push({ kind: 'trace', evidence: split.evidence, text: splitText(split) });
  }
  const complaint = facts.complaints.find(({ check }) => !blindChecks.has(check));
  if (complaint && bonus.checks > 0) {
    support.push({
      kind: 'check',
      evidence: complaint.evidence,
      text: knownChecks[complaint.check]!.says,
    });
  }
  return support;
}

/** Returns what tells the failing requests of a node from the others, or of those that it serves as their place. */
const splitAt = (node: string, { splits = [] }: Scene['snapshot']): AttributeSplit | undefined =>
  splits.find((one) => one.node === node || one.place === node);

const splitText = ({
  key,
  value,
  failing,
  of_failing,
  others,
  of_others,
}: AttributeSplit): string =>
  `${failing} of ${of_failing} failing spans have ${key} = ${value}, and ${others} of ${of_others} others`;

function indicatorText(
  { name, usual, worst, series: id }: Indicator,
  { signals, deviations }: NodeSignals,
): string {
  const unit =
    [...signals.map(({ deviation }) => deviation), ...deviations].find(
      ({ series }) => series.id === id,
    )?.series.unit ?? 'other';
  if (worst === undefined) {
    return `${name} stopped coming`;
  }
  return usual === undefined
    ? `${name} is at ${shortNumber(worst, unit)}, and was not measured before`
    : `${name} went from ${shortNumber(usual, unit)} to ${shortNumber(worst, unit)}`;
}

function textOf(
  { facts, down, shared, leaf, accuser }: Candidate,
  indicator: Indicator | null,
): string {
  const { name } = facts.node;
  if (down) {
    return `${name} is down: ${facts.silent_since === undefined ? 'it receives no requests' : 'it returns no responses'}, and its dependents fail`;
  }
  if (indicator?.series !== undefined) {
    return `${name}: ${indicatorText(indicator, facts)}${leaf < 0.3 ? ', which its dependencies explain' : ''}`;
  }
  if (indicator?.kind === 'check') {
    return `${name}: ${knownChecks[indicator.name]?.says ?? indicator.name}`;
  }
  if (accuser !== undefined) {
    return `${name}: log lines of ${accuser.name} name it as the target of failed calls`;
  }
  return shared
    ? `${name}: everything that runs on it is affected`
    : `${name}: what runs on it is affected, with no other explanation`;
}

/** A value as a person reads it. */
export function shortNumber(value: number, unit: Unit): string {
  if (unit === 'ratio') {
    return `${(value * 100).toPrecision(3)} %`;
  }
  if (unit === 'percent') {
    return `${value.toPrecision(3)} %`;
  }
  if (unit === 'seconds') {
    return value < 1 ? `${(value * 1_000).toPrecision(3)} ms` : `${value.toPrecision(3)} s`;
  }
  const size =
    Math.abs(value) >= 1_000 ? value.toExponential(2).replace(/e\+?/, 'e') : value.toPrecision(3);
  return unit === 'bytes' ? `${size} B` : unit === 'per_second' ? `${size}/s` : size;
}
