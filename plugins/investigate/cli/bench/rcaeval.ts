import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

import type { Edge, LogTemplate, Series } from 'svc/rca';

import { type Case, EvidenceList, kindOf, snapshotOf } from './case.ts';
import { csvRecords, csvRows, numberIn } from './csv.ts';

const beforeMs = 6 * 3_600_000;
const afterMs = 10 * 60_000;
const metricFiles = ['simple_metrics.csv', 'data.csv', 'metrics.csv'];
const faults = ['cpu', 'mem', 'disk', 'delay', 'loss', 'socket', 'f1', 'f2', 'f3', 'f4', 'f5'];

/** Cases of RCAEval: every folder below with an `inject_time.txt`, named `service_fault/instance` or `system-service-fault-instance`. */
export async function* rcaevalCases(dir: string): AsyncGenerator<Case> {
  for (const folder of foldersWith(dir, 'inject_time.txt')) {
    const file = metricFiles.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (file !== undefined) {
      yield caseOf(folder, relative(dir, folder), file);
    }
  }
}

async function caseOf(folder: string, id: string, file: string): Promise<Case> {
  const injected = Number(readFileSync(join(folder, 'inject_time.txt'), 'utf8').trim()) * 1_000;
  const { service, fault } = truthOf(folder);
  const [head, ...rows] = csvRows(file);
  const timeAt = head!.indexOf('time');
  const kept = rows
    .filter((row) => between(Number(row[timeAt]) * 1_000, injected - beforeMs, injected + afterMs))
    .sort((a, b) => Number(a[timeAt]) - Number(b[timeAt]));
  const from = Number(kept[0]?.[timeAt]) * 1_000;
  const stepMs = stepOf(kept.map((row) => Number(row[timeAt]) * 1_000));
  const steps = Math.round((Number(kept.at(-1)?.[timeAt]) * 1_000 - from) / stepMs) + 1;
  const window = { from, to: from + (steps - 1) * stepMs };
  const evidence = new EvidenceList(window);
  const series = head!.flatMap((column, at): Series[] => {
    const cut = column.indexOf('_');
    if (at === timeAt || cut <= 0) {
      return [];
    }
    const values = Array<number | null>(steps).fill(null);
    kept.forEach(
      (row) =>
        (values[Math.round((Number(row[timeAt]) * 1_000 - from) / stepMs)] = numberIn(row[at])),
    );
    const source = evidence.add('metric', 'rcaeval', column);
    return [
      {
        id: column,
        evidence: source,
        node: column.slice(0, cut),
        metric: column.slice(cut + 1),
        ...kindOf(column.slice(cut + 1)),
        from,
        step_ms: stepMs,
        values,
      },
    ];
  });
  const edges = existsSync(join(folder, 'traces.csv'))
    ? await edgesOf(join(folder, 'traces.csv'))
    : [];
  const logs = existsSync(join(folder, 'logs.csv'))
    ? await logsOf(join(folder, 'logs.csv'), window, evidence)
    : [];
  const names = new Set([
    ...series.map(({ node }) => node),
    ...edges.flatMap((edge) => [edge.from, edge.to]),
    ...logs.map(({ node }) => node),
  ]);
  const symptom = worstAnswer(series, injected, edges);
  return {
    id,
    truth: { kind: 'fault', nodes: [service], fault },
    snapshot: snapshotOf({
      window,
      baseline: { from, to: injected - stepMs },
      symptom: {
        ...(symptom && { node: symptom.node, series: symptom.id }),
        metric: symptom?.metric ?? 'unknown',
        kind: symptom?.kind ?? 'other',
        direction: 'up',
        labels: {},
        fired_at: injected + stepMs,
      },
      nodes: [...names].map((name) => ({ id: name, kind: 'service', name })),
      edges,
      series,
      logs,
      evidence: evidence.items,
    }),
  };
}

const between = (value: number, low: number, high: number): boolean =>
  value >= low && value <= high;

/** The commonest distance of two rows. */
function stepOf(times: readonly number[]): number {
  const gaps = times
    .slice(1)
    .map((time, at) => time - times[at]!)
    .filter((gap) => gap > 0)
    .sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 1_000;
}

function truthOf(folder: string): { readonly service: string; readonly fault: string } {
  for (const name of [basename(folder), basename(dirname(folder))]) {
    const parts = name.split(name.includes('_') ? '_' : '-');
    const at = parts.findIndex((part, index) => index > 0 && faults.includes(part));
    if (at > 0) {
      // With dashes the system comes first, where there is one.
      const service = name.includes('_')
        ? parts.slice(0, at).join('_')
        : parts.slice(at > 1 ? 1 : 0, at).join('-');
      return { service, fault: parts[at]! };
    }
  }
  return { service: basename(dirname(folder)), fault: 'unknown' };
}

/**
 * Returns the worst answer of services that nobody calls, since the data set names no alert: a
 * person would be called for what users of the entry see.
 */
function worstAnswer(
  series: readonly Series[],
  injected: number,
  edges: readonly Edge[],
): Series | undefined {
  const called = new Set(edges.map(({ to }) => to));
  const answers = series.filter(({ kind }) => kind === 'latency' || kind === 'error_ratio');
  const entries = answers.filter(({ node }) =>
    edges.length > 0 ? !called.has(node) : /front|ui|gateway|edge|web/i.test(node),
  );
  const [worst] = (entries.length > 0 ? entries : answers)
    .map((one) => ({ one, off: shift(one, injected) }))
    .sort((a, b) => b.off - a.off);
  return worst?.one;
}

function shift({ values, from, step_ms: step }: Series, at: number): number {
  const cut = Math.round((at - from) / step);
  const middle = (part: readonly (number | null)[]): number => {
    const known = part.filter((value) => value !== null).sort((a, b) => a - b);
    return known[Math.floor(known.length / 2)] ?? 0;
  };
  const before = middle(values.slice(0, cut));
  return (middle(values.slice(cut)) - before) / Math.max(before, 1e-3);
}

/** Reads the call graph from spans and their parents. */
async function edgesOf(path: string): Promise<readonly Edge[]> {
  const service = new Map<string, string>();
  const parents: (readonly [child: string, parent: string])[] = [];
  for await (const row of csvRecords(path)) {
    const name = row['serviceName'] ?? row['service_name'] ?? '';
    service.set(row['spanID'] ?? row['span_id'] ?? '', name);
    parents.push([name, row['parentSpanID'] ?? row['parent_span_id'] ?? '']);
  }
  const pairs = new Set(
    parents.flatMap(([to, parent]) =>
      service.has(parent) && service.get(parent) !== to ? [`${service.get(parent)!}\n${to}`] : [],
    ),
  );
  return [...pairs].map((pair) => {
    const [from, to] = pair.split('\n');
    return { from: from!, to: to!, relation: 'calls', origin: 'trace' };
  });
}

const bucketMs = 60_000;

async function logsOf(
  path: string,
  window: { readonly from: number; readonly to: number },
  evidence: EvidenceList,
): Promise<LogTemplate[]> {
  const source = evidence.add('log', 'rcaeval', 'logs.csv', 'untrusted');
  const counts = new Map<
    string,
    { readonly node: string; readonly template: string; readonly counts: number[] }
  >();
  const buckets = Math.floor((window.to - window.from) / bucketMs) + 1;
  for await (const row of csvRecords(path)) {
    const time =
      Number(row['time'] ?? row['timestamp']) *
      (Number(row['time'] ?? row['timestamp']) > 1e11 ? 1 : 1_000);
    if (!between(time, window.from, window.to)) {
      continue;
    }
    const node = row['container_name'] ?? row['service_name'] ?? '';
    const template =
      row['log_template'] ||
      (row['message'] ?? '').slice(0, 300).replaceAll(/0x[\da-f]+|[\da-f]{8,}|\d+/gi, '<*>');
    const entry = counts.get(`${node}\n${template}`) ?? {
      node,
      template,
      counts: Array<number>(buckets).fill(0),
    };
    entry.counts[Math.floor((time - window.from) / bucketMs)]! += 1;
    counts.set(`${node}\n${template}`, entry);
  }
  return [...counts.values()].map((entry, at) => ({
    id: `${source}.${at}`,
    evidence: source,
    ...entry,
    severity: 'unknown',
    from: window.from,
    bucket_ms: bucketMs,
    samples: [],
  }));
}

function foldersWith(dir: string, name: string): string[] {
  const entries = readdirSync(dir, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  const here = entries.some((entry) => entry.isFile() && entry.name === name) ? [dir] : [];
  return [
    ...here,
    ...entries
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => foldersWith(join(dir, entry.name), name)),
  ];
}
