import type { IncidentMeasure, IncidentView, InstanceView } from 'svc/contracts/alert';
import type { Series, SliKind, Symptom, Unit } from 'svc/rca';

import type { WithPast } from './earlier.ts';
import type { Found } from './gatherer.ts';
import type { Grid } from './metrics-source.ts';
import { formOf } from './query-form.ts';

export const deviceNode = (id: string | number): string => `device:${id}`;
export const serviceNode = (name: string): string => `service:${name}`;

/** Subject of an incident, before anything was fetched. */
export interface Subject {
  readonly incident: IncidentView;
  readonly measure: IncidentMeasure | undefined;
  readonly fired_at: number;
  readonly resolved_at: number | undefined;
  readonly devices: readonly string[];
  readonly services: readonly string[];
  /** Absent where it is about no node in particular. */
  readonly node: string | undefined;
}

const serviceLabels = ['service', 'service_name'] as const;
const mostPlaces = 40;

export function subjectOf(
  incident: IncidentView,
  measure: IncidentMeasure | undefined,
  instances: readonly InstanceView[],
): Subject {
  const labelSets = [incident.labels, ...instances.map(({ labels }) => labels)];
  const devices = distinct(
    [incident.device_id, ...labelSets.map(({ device_id: id }) => id)].filter((id) =>
      /^\d{1,15}$/.test(id ?? ''),
    ),
  );
  const named = [...labelSets, measure?.labels ?? {}].flatMap((labels) =>
    serviceLabels.map((name) => labels[name]),
  );
  const services = distinct([...named, askedService(measure)]);
  const [device] = devices;
  const [service] = services;
  const ofService =
    service !== undefined &&
    (incident.device_id === undefined || measure?.kind.startsWith('trace_') === true);
  const isOne = ofService ? services.length === 1 : devices.length === 1;
  return {
    incident,
    measure,
    devices,
    services,
    fired_at: Date.parse(incident.fired_at),
    resolved_at: incident.resolved_at === undefined ? undefined : Date.parse(incident.resolved_at),
    node: isOne ? (ofService ? serviceNode(service) : deviceNode(device!)) : undefined,
  };
}

/** Returns the service in a rule's query about traces, which no label of the incident names. */
function askedService(measure: IncidentMeasure | undefined): string | undefined {
  const [, quoted] =
    (measure?.kind.startsWith('trace_') === true &&
      /[{,]\s*service=("(?:[^"\\]|\\.)*")/.exec(measure.query)) ||
    [];
  return quoted === undefined ? undefined : (JSON.parse(quoted) as string);
}

const distinct = (texts: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(texts.filter((text): text is string => text !== undefined && text !== ''))].slice(
    0,
    mostPlaces,
  );

/** Kinds by words of metric names, most significant first. */
const kinds: readonly (readonly [RegExp, SliKind])[] = [
  [
    / (?:status code error|errors?|fail\w*|exceptions?|5xx|availability|success\w*|up|probe http status) /,
    'error_ratio',
  ],
  [/ (?:latency|duration|response time|seconds bucket|time seconds) /, 'latency'],
  [/ (?:mem|memory|swap|oom|heap|rss|pswp(?:in|out)?) /, 'memory'],
  [/ (?:filesystem|disk|inodes?|files|iowait|io|blocked) /, 'disk'],
  [/ (?:network|netstat|tcp|conntrack|bandwidth|packets?|arp) /, 'network'],
  [/ (?:load\d*|pressure) /, 'load'],
  [/ (?:cpu|steal|throttl\w*) /, 'cpu'],
  [/ (?:queue\w*|lag|backlog|pending|waiting) /, 'queue'],
  [/ (?:rate|requests?|calls?|total) /, 'rate'],
];

/** Words of a name, each between two spaces, so that none is found within another. */
const wordsOf = (name: string): string =>
  ` ${name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .toLowerCase()} `;

const byRuleKind: Readonly<Record<string, SliKind>> = {
  trace_latency: 'latency',
  trace_error_rate: 'error_ratio',
  metric_burn_rate: 'error_ratio',
  log_volume: 'rate',
};

/** Words in the query of a rule on lines that count what goes wrong. */
const complaining =
  /error|exception|fail|fatal|panic|critical|timed? ?out|refused|denied|slow|warn|5xx|\b50\d\b/i;

/** Metrics that hold a word of another kind. */
const exact: Readonly<Record<string, SliKind>> = {
  svc_edge_online: 'other',
  svc_host_online: 'other',
  node_cpu_usage_percent: 'cpu',
  node_procs_blocked: 'disk',
  log_match: 'other',
};

/** Returns the kind by the rule, by what its query computes, and by names last: `duration` is in the name of what counts requests. */
export function kindOf(measure: IncidentMeasure | undefined, metric: string): SliKind {
  if (measure?.store === 'logs') {
    return complaining.test(measure.query) ? 'errors' : 'rate';
  }
  const known =
    byRuleKind[measure?.kind ?? ''] ?? exact[metric] ?? formOf(measure?.query ?? '').kind;
  // A name is most significant; the rest of a query has rates, windows and labels in it.
  return (
    known ??
    [metric, measure?.query ?? '']
      .flatMap((text) => kinds.find(([form]) => form.test(wordsOf(text)))?.[1] ?? [])
      .at(0) ??
    'other'
  );
}

export function unitOf(query: string, metric: string): Unit {
  const { unit } = formOf(query);
  if (/percent/.test(metric) || /^\s*100\s*\*/.test(query)) {
    return 'percent';
  }
  const ends: readonly (readonly [RegExp, Unit])[] = [
    [/ ratio /, 'ratio'],
    [/ bytes per second | total /, 'per_second'],
    [/ (?:seconds|milliseconds) /, 'seconds'],
    [/ bytes /, 'bytes'],
  ];
  return unit ?? ends.find(([form]) => form.test(wordsOf(metric)))?.[1] ?? 'other';
}

/** First metric that a query names; the rule where it names none. */
export function metricOf({ incident, measure }: Subject): string {
  const words =
    measure?.query
      .replaceAll(/\{[^}]*\}|"(?:[^"\\]|\\.)*"|\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
      .match(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g) ?? [];
  return (
    words.find((word) => /[_:]/.test(word) && !/^(?:group_left|group_right)$/.test(word)) ??
    words.find((word) => !/^(?:by|bool|offset|and|or|unless|e|inf|nan)$/i.test(word)) ??
    incident.rule_key
  );
}

/**
 * Returns the series of the rule's measure, one for each device or service that has it; those of
 * the symptom first.
 */
export function measuredSeries(
  subject: Subject,
  { found: { id, value }, earlierOf }: { readonly found: Found } & Pick<WithPast, 'earlierOf'>,
  idOf: (labels: Readonly<Record<string, string>>) => string | undefined = () => undefined,
): readonly Series[] {
  const { measure, node, incident } = subject;
  const metric = metricOf(subject);
  const { from, step_ms, series } = value as Grid;
  const kind = kindOf(measure, metric);
  const { unit, factor } = comparable(measure, kind, unitOf(measure?.query ?? '', metric));
  const scaled = (values: Series['values']): Series['values'] =>
    values.map((value) => (value === null ? null : value * factor));
  const read = series.map(({ labels, values }, index) => {
    const { earlier } = earlierOf(labels);
    const own = placeOf(labels, undefined) ?? idOf(labels) ?? node ?? nowhere;
    return {
      id: `${own}/${metric}#${index}`,
      evidence: id,
      node: own,
      metric,
      kind,
      unit,
      labels,
      from,
      step_ms,
      values: scaled(values),
      ...(earlier && { earlier: earlier.map((one) => ({ ...one, values: scaled(one.values) })) }),
      ...(measure?.direction === 'down' && { worse: 'down' as const }),
      isSymptom: isOf(labels, incident.labels),
    };
  });
  return read
    .sort((a, b) => Number(b.isSymptom) - Number(a.isSymptom))
    .map(({ isSymptom: _, ...one }) => one);
}

/**
 * Converts units: rules may use milliseconds and percent, while comparisons need the unit of other
 * nodes.
 */
function comparable(
  measure: IncidentMeasure | undefined,
  kind: SliKind,
  unit: Unit,
): { readonly unit: Unit; readonly factor: number } {
  if (measure?.kind === 'trace_latency') {
    return { unit: 'seconds', factor: 0.001 };
  }
  const { factor = 1 } = formOf(measure?.query ?? '');
  return kind === 'error_ratio' && unit === 'percent'
    ? { unit: 'ratio', factor: 0.01 }
    : { unit, factor };
}

/**
 * Node of aggregate measures, which belong to no node and whose course everything is still compared
 * with.
 */
const nowhere = 'incident';

/** Returns the node of a series; one without a place label belongs to the symptom. */
export function placeOf(
  labels: Readonly<Record<string, string>>,
  otherwise: string | undefined,
): string | undefined {
  const { device_id: device, service, service_name: named } = labels;
  const name = service ?? named;
  return name !== undefined && name !== ''
    ? serviceNode(name)
    : device !== undefined && device !== ''
      ? deviceNode(device)
      : otherwise;
}

const isOf = (
  series: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean =>
  Object.entries(series).every(
    ([name, value]) =>
      name === '__name__' || !Object.hasOwn(labels, name) || labels[name] === value,
  );

const ownSignals: Readonly<Record<string, string>> = {
  trace_error_rate: 'error_ratio',
  trace_latency: 'latency_p95_seconds',
};

/**
 * Returns the signal that stands in for a rule on traces: the same measure that is taken of every
 * service, which has values even before anything has failed.
 */
export const standInOf = (
  { measure, node }: Subject,
  signals: readonly Series[],
): Series | undefined =>
  signals.find((one) => one.node === node && one.metric === ownSignals[measure?.kind ?? '']);

/** Returns the symptom; `series` are its own, in the order of `measuredSeries`, or substitutes. */
export function symptomOf(
  subject: Subject,
  series: readonly Series[],
  metric = metricOf(subject),
): Symptom {
  const { incident, measure, node, fired_at, resolved_at } = subject;
  const own =
    series.find((one) => one.node === node) ?? (node === undefined ? series[0] : undefined);
  return {
    ...(node !== undefined && { node }),
    ...(own !== undefined && { series: own.id }),
    metric,
    kind: kindOf(measure, metric),
    direction: measure?.direction ?? (/absent|no_data/.test(incident.rule_key) ? 'absent' : 'up'),
    labels: incident.labels,
    fired_at,
    ...(resolved_at !== undefined && { resolved_at }),
  };
}
