import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { Edge, Series } from 'svc/rca';

import { type Case, EvidenceList, kindOf, snapshotOf } from './case.ts';
import { csvRecords } from './csv.ts';

const stepMs = 60_000;
const beforeMs = 4 * 3_600_000;
const afterMs = 15 * 60_000;
/** Dates of the folders are those of the place where the data were taken. */
const zoneMs = 8 * 3_600_000;

interface Recorded {
  readonly component: string;
  readonly at: number;
  readonly reason: string;
}

/** Cases of OpenRCA: a folder with `record.csv` and `telemetry/<date>/{metric,trace}`, or one above several of them. */
export async function* openrcaCases(dir: string): AsyncGenerator<Case> {
  const systems = existsSync(join(dir, 'record.csv'))
    ? [dir]
    : subfolders(dir)
        .flatMap((folder) => [folder, ...subfolders(folder)])
        .filter((folder) => existsSync(join(folder, 'record.csv')));
  for (const system of systems) {
    const records = await recordsOf(join(system, 'record.csv'));
    for (const day of subfolders(join(system, 'telemetry'))) {
      const faults = records.filter(({ at }) => dayOf(at) === basename(day).replaceAll('-', '_'));
      if (faults.length > 0) {
        yield* casesOf(`${basename(system)}/${basename(day)}`, day, faults);
      }
    }
  }
}

async function recordsOf(path: string): Promise<readonly Recorded[]> {
  const records: Recorded[] = [];
  for await (const { component, timestamp, reason } of csvRecords(path)) {
    records.push({
      component: component ?? '',
      at: Number(timestamp) * 1_000,
      reason: reason ?? 'unknown',
    });
  }
  return records;
}

const dayOf = (at: number): string =>
  new Date(at + zoneMs).toISOString().slice(0, 10).replaceAll('-', '_');

async function* casesOf(
  id: string,
  day: string,
  faults: readonly Recorded[],
): AsyncGenerator<Case> {
  const tracks = await tracksOf(join(day, 'metric'));
  const edges = await edgesOf(join(day, 'trace'));
  for (const [at, fault] of faults.entries()) {
    const window = { from: fault.at - beforeMs, to: fault.at + afterMs };
    const evidence = new EvidenceList(window);
    const series = [...tracks.values()].flatMap((track): Series[] => {
      const values = cut(track.samples, window);
      return values.every((value) => value === null)
        ? []
        : [
            {
              id: `${track.node}.${track.metric}`,
              evidence: evidence.add('metric', 'openrca', `${track.node} ${track.metric}`),
              node: track.node,
              metric: track.metric,
              ...track.measures,
              from: window.from,
              step_ms: stepMs,
              values,
            },
          ];
    });
    const names = new Set([
      ...series.map(({ node }) => node),
      ...edges.flatMap((edge) => [edge.from, edge.to]),
    ]);
    const symptom = series
      .filter(({ kind, metric }) => kind === 'latency' && metric === 'mrt')
      .sort((a, b) => risen(b) - risen(a))[0];
    yield {
      id: `${id}/${at}`,
      truth: { kind: 'fault', nodes: [fault.component], fault: fault.reason },
      snapshot: snapshotOf({
        window,
        baseline: { from: window.from, to: fault.at - stepMs },
        symptom: {
          ...(symptom && { node: symptom.node, series: symptom.id }),
          metric: symptom?.metric ?? 'mrt',
          kind: 'latency',
          direction: 'up',
          labels: {},
          fired_at: fault.at + 2 * stepMs,
        },
        nodes: [...names].map((name) => ({ id: name, kind: 'service', name })),
        edges,
        series,
        evidence: evidence.items,
      }),
    };
  }
}

interface Track {
  readonly node: string;
  readonly metric: string;
  readonly measures: Pick<Series, 'kind' | 'unit'>;
  /** Sum and number by minute. */
  readonly samples: Map<number, [sum: number, count: number]>;
}

/** Long files (`timestamp, cmdb_id, kpi_name, value`) and wide ones of applications (`timestamp, rr, sr, mrt, …, tc`), minute by minute. */
async function tracksOf(folder: string): Promise<ReadonlyMap<string, Track>> {
  const tracks = new Map<string, Track>();
  const add = (
    node: string,
    metric: string,
    measures: Track['measures'],
    time: number,
    value: number,
  ): void => {
    const track = tracks.get(`${node}\n${metric}`) ?? {
      node,
      metric,
      measures,
      samples: new Map(),
    };
    tracks.set(`${node}\n${metric}`, track);
    const minute = Math.floor(time / stepMs);
    const [sum, count] = track.samples.get(minute) ?? [0, 0];
    track.samples.set(minute, [sum + value, count + 1]);
  };
  for (const name of filesIn(folder)) {
    for await (const row of csvRecords(join(folder, name))) {
      const time = millis(row['timestamp']);
      if (row['kpi_name'] !== undefined) {
        add(
          row['cmdb_id'] ?? '',
          row['kpi_name'],
          kindOf(row['kpi_name']),
          time,
          Number(row['value']),
        );
      } else {
        const node = row['tc'] ?? row['service'] ?? row['serviceName'] ?? '';
        add(node, 'mrt', { kind: 'latency', unit: 'seconds' }, time, Number(row['mrt']));
        // Shares of successes in percent; the engine wants failures.
        add(node, 'sr', { kind: 'error_ratio', unit: 'ratio' }, time, 1 - Number(row['sr']) / 100);
      }
    }
  }
  return tracks;
}

/** Parses a time in milliseconds; some files use seconds. */
function millis(field: string | undefined): number {
  const value = Number(field);
  return value > 1e11 ? value : value * 1_000;
}

function cut(
  samples: Track['samples'],
  window: { readonly from: number; readonly to: number },
): (number | null)[] {
  return Array.from({ length: Math.floor((window.to - window.from) / stepMs) + 1 }, (_, at) => {
    const sample = samples.get(Math.floor((window.from + at * stepMs) / stepMs));
    return sample === undefined || !Number.isFinite(sample[0]) ? null : sample[0] / sample[1];
  });
}

function risen({ values }: Series): number {
  const split = Math.round(beforeMs / stepMs);
  const mean = (part: readonly (number | null)[]): number => {
    const known = part.filter((value) => value !== null);
    return known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  };
  const before = mean(values.slice(0, split));
  return (mean(values.slice(split)) - before) / Math.max(before, 1e-9);
}

async function edgesOf(folder: string): Promise<readonly Edge[]> {
  const owner = new Map<string, string>();
  const pairs = new Map<string, string>();
  for (const name of filesIn(folder)) {
    for await (const row of csvRecords(join(folder, name))) {
      const node = row['cmdb_id'] ?? '';
      owner.set(row['span_id'] ?? row['id'] ?? '', node);
      pairs.set(`${row['parent_id'] ?? row['parent_span'] ?? ''}\n${node}`, node);
    }
  }
  const edges = new Map<string, Edge>();
  pairs.forEach((to, key) => {
    const from = owner.get(key.slice(0, key.indexOf('\n')));
    if (from !== undefined && from !== to) {
      edges.set(`${from}\n${to}`, { from, to, relation: 'calls', origin: 'trace' });
    }
  });
  return [...edges.values()];
}

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.csv'))
        .sort()
    : [];
const subfolders = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(dir, entry.name))
        .sort()
    : [];
