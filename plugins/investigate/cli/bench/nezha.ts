import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { Edge, LogTemplate, Node, Series, SpanAggregate } from 'svc/rca';

import { type Case, EvidenceList, snapshotOf } from './case.ts';
import { csvRecords, csvRows, numberIn } from './csv.ts';
import { lifeOf, type Minutes, type Operation } from './nezha-spans.ts';

const minuteMs = 60_000;
const beforeMs = 90 * minuteMs;
const afterMs = 3 * minuteMs;

interface Injected {
  readonly at: number;
  readonly service: string;
  readonly fault: string;
}

interface Day {
  readonly date: string;
  readonly tracks: readonly Track[];
  readonly edges: readonly Edge[];
  readonly operations: readonly Operation[];
  readonly logs: readonly Counted[];
}

interface Track extends Pick<Series, 'node' | 'metric' | 'kind' | 'unit'> {
  readonly byMinute: ReadonlyMap<number, number>;
}

interface Counted {
  readonly node: string;
  readonly template: string;
  readonly minutes: Minutes<number>;
}

/** Columns of a pod's metrics that say something of it, or of the machine that it runs on. */
const columns: Readonly<
  Record<string, Pick<Series, 'kind' | 'unit'> & { readonly of?: 'machine' }>
> = {
  'CpuUsageRate(%)': { kind: 'cpu', unit: 'percent' },
  'MemoryUsageRate(%)': { kind: 'memory', unit: 'percent' },
  NetworkReceiveBytes: { kind: 'network', unit: 'bytes' },
  NetworkTransmitBytes: { kind: 'network', unit: 'bytes' },
  'NetworkP90(ms)': { kind: 'network', unit: 'other' },
  'PodServerLatencyP95(s)': { kind: 'latency', unit: 'seconds' },
  'PodWorkload(Ops)': { kind: 'rate', unit: 'per_second' },
  'NodeCpuUsageRate(%)': { kind: 'cpu', unit: 'percent', of: 'machine' },
  'NodeMemoryUsageRate(%)': { kind: 'memory', unit: 'percent', of: 'machine' },
};

/**
 * Cases of Nezha: a folder with `rca_data/<date>/` (a list of faults, and metrics, spans and lines by
 * minute), or one date of it. Spans and lines of the same day without a fault are read from
 * `construct_data` beside it.
 */
export async function* nezhaCases(dir: string): AsyncGenerator<Case> {
  const root = existsSync(join(dir, 'rca_data')) ? join(dir, 'rca_data') : dir;
  const days = faultListOf(root) === undefined ? foldersIn(root) : [root];
  for (const folder of days) {
    const list = faultListOf(folder);
    if (list !== undefined) {
      const quiet = join(folder, '..', '..', 'construct_data', basename(folder));
      const day = await dayOf(folder, quiet);
      for (const [at, fault] of injectedIn(list).entries()) {
        yield caseOf(`${day.date}/${at}`, day, fault);
      }
    }
  }
}

function faultListOf(folder: string): string | undefined {
  const name = readdirSync(folder).find((file) => file.endsWith('fault_list.json'));
  return name && join(folder, name);
}

function injectedIn(path: string): readonly Injected[] {
  const byHour = JSON.parse(readFileSync(path, 'utf8')) as Readonly<
    Record<
      string,
      readonly {
        readonly inject_timestamp: string;
        readonly inject_pod: string;
        readonly inject_type: string;
      }[]
    >
  >;
  return Object.values(byHour)
    .flat()
    .map(({ inject_timestamp: at, inject_pod: pod, inject_type: fault }) => ({
      at: Number(at) * 1_000,
      service: serviceOf(pod),
      fault,
    }))
    .sort((a, b) => a.at - b.at);
}

/** Name of the deployment that a pod belongs to. */
const serviceOf = (pod: string): string => pod.replace(/-[\da-f]{6,10}-[\da-z]{5}$/, '');
const machineOf = (address: string): string => `machine ${address}`;

async function dayOf(folder: string, quiet: string): Promise<Day> {
  const metrics = join(folder, 'metric');
  const edges = edgesOf(join(metrics, 'dependency.csv'));
  const tracks: Track[] = [];
  for (const file of filesIn(metrics)) {
    if (file.endsWith('_metric.csv')) {
      tracks.push(...podTracks(join(metrics, file), edges));
    } else if (file === 'front_service.csv') {
      tracks.push(...frontTracks(join(metrics, file)));
    }
  }
  tracks.push(
    ...networkTracks(join(metrics, 'source_50.csv'), join(metrics, 'destination_50.csv')),
  );
  const traces = [folder, quiet].flatMap((place) =>
    filesIn(join(place, 'trace')).map((file) => join(place, 'trace', file)),
  );
  const lines = [folder, quiet].flatMap((place) =>
    filesIn(join(place, 'log')).map((file) => join(place, 'log', file)),
  );
  return {
    date: basename(folder),
    tracks,
    edges,
    operations: await lifeOf(traces, serviceOf),
    logs: await countedLines(lines),
  };
}

function edgesOf(path: string): readonly Edge[] {
  if (!existsSync(path)) {
    return [];
  }
  return csvRows(path)
    .slice(1)
    .filter(([from]) => from !== 'loadgenerator')
    .map(([from, to]) =>
      /^[\d.]+$/.test(to!)
        ? { from: from!, to: machineOf(to!), relation: 'runs_on', origin: 'topology' }
        : { from: from!, to: to!, relation: 'calls', origin: 'trace' },
    );
}

const minuteOf = (seconds: string | undefined): number => Math.floor(Number(seconds) / 60);

function podTracks(path: string, edges: readonly Edge[]): Track[] {
  const [head, ...rows] = csvRows(path);
  const service = serviceOf(rows[0]?.[head!.indexOf('PodName')] ?? '');
  const machine = edges.find(({ from, relation }) => from === service && relation === 'runs_on');
  const timeAt = head!.indexOf('TimeStamp');
  return head!.flatMap((metric, at): Track[] => {
    const known = columns[metric];
    const node = known?.of === 'machine' ? machine?.to : service;
    if (known === undefined || node === undefined) {
      return [];
    }
    const { kind, unit } = known;
    return [{ node, metric, kind, unit, byMinute: columnOf(rows, timeAt, at) }];
  });
}

const columnOf = (
  rows: readonly (readonly string[])[],
  timeAt: number,
  at: number,
): ReadonlyMap<number, number> =>
  new Map(
    rows.flatMap((row) => {
      const value = numberIn(row[at]);
      return value === null ? [] : [[minuteOf(row[timeAt]), value] as const];
    }),
  );

function frontTracks(path: string): Track[] {
  const [head, ...rows] = csvRows(path);
  const timeAt = head!.indexOf('TimeStamp');
  const column = (name: string): ReadonlyMap<number, number> =>
    columnOf(rows, timeAt, head!.indexOf(name));
  const node = 'frontend';
  const failures = [...column('SuccessRate(%)')].map(
    ([minute, value]) => [minute, 1 - value / 100] as const,
  );
  return [
    {
      node,
      metric: 'LatencyP95(s)',
      kind: 'latency',
      unit: 'seconds',
      byMinute: column('LatencyP95(s)'),
    },
    {
      node,
      metric: 'failures',
      kind: 'error_ratio',
      unit: 'ratio',
      byMinute: new Map(failures),
    },
  ];
}

/** Time on the wire: what a caller waits less what the callee takes, by pair. */
function networkTracks(source: string, destination: string): Track[] {
  if (!existsSync(source) || !existsSync(destination)) {
    return [];
  }
  const [head, ...rows] = csvRows(source);
  const [served, ...answers] = csvRows(destination);
  return head!.slice(2).flatMap((pair): Track[] => {
    const [from, to] = pair.split('_');
    const other = served!.indexOf(pair);
    if (to === undefined || other === -1) {
      return [];
    }
    const taken = columnOf(answers, served!.indexOf('timestamp'), other);
    const waited = columnOf(rows, head!.indexOf('timestamp'), head!.indexOf(pair));
    const byMinute = new Map(
      [...waited].map(([minute, value]) => [
        minute,
        Math.max(0, value - (taken.get(minute) ?? value)),
      ]),
    );
    // The caller waits for it; it says nothing of the caller.
    return [
      { node: to, metric: `network time from ${from}`, kind: 'network', unit: 'seconds', byMinute },
    ];
  });
}

async function countedLines(paths: readonly string[]): Promise<readonly Counted[]> {
  const counted = new Map<string, Counted & { readonly minutes: Map<number, number> }>();
  for (const path of paths) {
    for await (const { PodName: pod, TimeUnixNano: nanos, Log: line = '' } of csvRecords(path)) {
      const node = serviceOf(pod ?? '');
      const template = templateOf(line);
      const one = counted.get(`${node}\n${template}`) ?? { node, template, minutes: new Map() };
      counted.set(`${node}\n${template}`, one);
      const minute = Math.floor(Number(nanos) / 60e9);
      one.minutes.set(minute, (one.minutes.get(minute) ?? 0) + 1);
    }
  }
  return [...counted.values()];
}

/** A line without its envelope and without what differs from request to request. */
function templateOf(line: string): string {
  const message = /\\*"message\\*":\s*\\*"(.*?)\\*",\s*\\*"/.exec(line)?.[1] ?? line;
  return message
    .replace(/TraceID: \S+ SpanID: \S+ /, '')
    .slice(0, 200)
    .replaceAll(/[\dA-Z]{10}\b|[\da-f]{8,}|\d+/g, '<*>');
}

function caseOf(id: string, day: Day, { at, service, fault }: Injected): Case {
  const first = day.tracks.reduce(
    (least, { byMinute }) => Math.min(least, ...byMinute.keys()),
    Number.POSITIVE_INFINITY,
  );
  const from = Math.max(first, Math.floor((at - beforeMs) / minuteMs));
  const to = Math.floor((at + afterMs) / minuteMs);
  const window = { from: from * minuteMs, to: to * minuteMs };
  const evidence = new EvidenceList(window);
  const series = day.tracks.map(({ node, metric, kind, unit, byMinute }): Series => {
    const source = evidence.add('metric', 'nezha', `${node} ${metric}`);
    const values = minutes(from, to, (minute) => byMinute.get(minute) ?? null);
    return {
      id: source,
      evidence: source,
      node,
      metric,
      kind,
      unit,
      from: window.from,
      step_ms: minuteMs,
      values,
    };
  });
  const symptom = symptomOf(series, at);
  const names = new Set([
    ...series.map(({ node }) => node),
    ...day.edges.flatMap((edge) => [edge.from, edge.to]),
  ]);
  return {
    id,
    truth: { kind: 'fault', nodes: [service], fault },
    snapshot: snapshotOf({
      window,
      baseline: { from: window.from, to: at - minuteMs },
      symptom: {
        node: 'frontend',
        ...(symptom && { series: symptom.id }),
        metric: symptom?.metric ?? 'LatencyP95(s)',
        kind: symptom?.kind ?? 'latency',
        direction: 'up',
        labels: {},
        fired_at: window.to,
      },
      nodes: [...names].map((name): Node => ({
        id: name,
        kind: name.startsWith(machineOf('')) ? 'host' : 'service',
        name,
      })),
      edges: day.edges,
      series,
      logs: templatesIn(day.logs, from, to, evidence),
      spans: spansIn(day.operations, from, to, evidence),
      evidence: evidence.items,
    }),
  };
}

/** Which of the two figures of the front has moved more: a person would have a rule on both. */
function symptomOf(series: readonly Series[], at: number): Series | undefined {
  const moved = ({ values, from, kind }: Series): number => {
    const cut = Math.floor((at - from) / minuteMs);
    const known = values.slice(0, cut).filter((value) => value !== null);
    const usual = known.sort((a, b) => a - b)[Math.floor(known.length / 2)] ?? 0;
    const worst = Math.max(...values.slice(cut).map((value) => value ?? 0));
    return kind === 'error_ratio' ? (worst - usual) * 20 : worst / Math.max(usual, 1e-3) - 1;
  };
  return series
    .filter(
      ({ node, metric }) => node === 'frontend' && ['LatencyP95(s)', 'failures'].includes(metric),
    )
    .sort((a, b) => moved(b) - moved(a))[0];
}

const minutes = <T>(from: number, to: number, at: (minute: number) => T): T[] =>
  Array.from({ length: to - from + 1 }, (_, index) => at(from + index));

function templatesIn(
  logs: readonly Counted[],
  from: number,
  to: number,
  evidence: EvidenceList,
): readonly LogTemplate[] {
  const inside = logs
    .map((one) => ({ ...one, counts: minutes(from, to, (minute) => one.minutes.get(minute) ?? 0) }))
    .filter(({ counts }) => counts.some((count) => count > 0));
  const source = inside.length === 0 ? '' : evidence.add('log', 'nezha', 'log', 'untrusted');
  return inside.map(({ node, template, counts }, at) => ({
    id: `${source}.${at}`,
    evidence: source,
    node,
    template,
    severity: /error|fail|exception/i.test(template) ? 'error' : 'unknown',
    from: from * minuteMs,
    bucket_ms: minuteMs,
    counts,
    samples: [],
  }));
}

function spansIn(
  operations: readonly Operation[],
  from: number,
  to: number,
  evidence: EvidenceList,
): readonly SpanAggregate[] {
  const source = operations.length === 0 ? '' : evidence.add('trace', 'nezha', 'trace');
  const none = minutes(from, to, () => 0);
  return operations.map(({ service, operation, spans, selfMs }) => ({
    evidence: source,
    node: service,
    operation,
    from: from * minuteMs,
    bucket_ms: minuteMs,
    spans: minutes(from, to, (minute) => spans.get(minute) ?? 0),
    errors: none,
    origins: none,
    failing_here: none,
    failing: none,
    self_ms: minutes(from, to, (minute) => selfMs.get(minute) ?? null),
  }));
}

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.csv'))
        .sort()
    : [];
const foldersIn = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(dir, entry.name))
    .sort();
