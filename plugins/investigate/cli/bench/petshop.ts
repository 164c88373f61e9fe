import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { Edge, Series } from 'svc/rca';

import { type Case, EvidenceList, snapshotOf } from './case.ts';
import { csvRows, numberIn } from './csv.ts';

const stepMs = 300_000;

interface Target {
  readonly target: {
    readonly node: string;
    readonly metric: string;
    readonly agg: string;
    readonly timestamp: number;
  };
  readonly root_cause: { readonly node: string };
}

interface Column {
  readonly node: string;
  readonly metric: string;
  readonly statistic: string;
  readonly values: readonly (number | null)[];
}

/** Cases of the PetShop data set: a folder of one scenario, or of several. The quiet day is set right before each incident. */
export function* petshopCases(dir: string): Generator<Case> {
  const scenarios = existsSync(join(dir, 'graph.csv'))
    ? [dir]
    : childrenOf(dir).filter((folder) => existsSync(join(folder, 'noissue', 'metrics.csv')));
  for (const scenario of scenarios) {
    const edges = edgesOf(join(scenario, 'graph.csv'));
    const quiet = columnsOf(join(scenario, 'noissue', 'metrics.csv'));
    for (const folder of ['train', 'test'].flatMap((part) => childrenOf(join(scenario, part)))) {
      yield caseOf(
        folder,
        `${basename(scenario)}/${basename(join(folder, '..'))}/${basename(folder)}`,
        edges,
        quiet,
      );
    }
  }
}

function caseOf(
  folder: string,
  id: string,
  edges: readonly Edge[],
  quiet: readonly Column[],
): Case {
  const { target, root_cause: cause } = JSON.parse(
    readFileSync(join(folder, 'target.json'), 'utf8'),
  ) as Target;
  const rows = csvRows(join(folder, 'metrics.csv'));
  const columns = columnsOf(join(folder, 'metrics.csv'));
  const incidentFrom = Number(rows.at(-columns[0]!.values.length)![0]) * 1_000;
  const quietLength = quiet[0]!.values.length;
  const from = incidentFrom - quietLength * stepMs;
  const window = { from, to: incidentFrom + (columns[0]!.values.length - 1) * stepMs };
  const evidence = new EvidenceList(window);
  const before = new Map(quiet.map((column) => [keyOf(column), column.values]));
  const series = columns.map((column) =>
    seriesOf(
      column,
      before.get(keyOf(column)) ?? Array<null>(quietLength).fill(null),
      from,
      evidence,
    ),
  );
  const known = new Set([
    ...series.map(({ node }) => node),
    ...edges.flatMap((edge) => [edge.from, edge.to]),
  ]);
  const symptomKey = `${target.node}\n${target.metric}\n${target.agg}`;
  return {
    id,
    truth: { kind: 'fault', nodes: [cause.node], fault: target.metric },
    snapshot: snapshotOf({
      window,
      baseline: { from, to: incidentFrom - stepMs },
      symptom: {
        node: target.node,
        series: series[columns.findIndex((column) => keyOf(column) === symptomKey)]?.id,
        metric: `${target.metric} ${target.agg}`,
        kind: kindOfMetric(target.metric).kind,
        direction: target.metric === 'availability' ? 'down' : 'up',
        labels: {},
        fired_at: target.timestamp * 1_000,
      } as Case['snapshot']['symptom'],
      nodes: [...known].map((name) => ({
        id: name,
        kind: name.endsWith('_remote') ? 'remote' : 'service',
        name,
      })),
      edges: edges.map((edge) => edge),
      series,
      evidence: evidence.items,
    }),
  };
}

const keyOf = ({ node, metric, statistic }: Column): string => `${node}\n${metric}\n${statistic}`;

/** Availability is said as a share of successes; the engine wants the share of failures. */
function kindOfMetric(metric: string): Pick<Series, 'kind' | 'unit'> {
  return metric === 'availability'
    ? { kind: 'error_ratio', unit: 'ratio' }
    : metric === 'latency'
      ? { kind: 'latency', unit: 'seconds' }
      : { kind: 'rate', unit: 'count' };
}

function seriesOf(
  column: Column,
  before: readonly (number | null)[],
  from: number,
  evidence: EvidenceList,
): Series {
  const { node, metric, statistic } = column;
  const name = `${metric} ${statistic}`;
  const id = evidence.add('metric', 'petshop', keyOf(column).replaceAll('\n', '/'));
  const shown =
    metric === 'availability'
      ? (value: number | null) => (value === null ? null : (100 - value) / 100)
      : (value: number | null) => value;
  return {
    id,
    evidence: id,
    node,
    metric: name,
    ...kindOfMetric(metric),
    from,
    step_ms: stepMs,
    values: [...before, ...column.values].map(shown),
  };
}

/** Three rows of heads (node, metric, statistic), one with the name of the time column, then a row a time. */
function columnsOf(path: string): readonly Column[] {
  const [nodes, metrics, statistics, ...rest] = csvRows(path);
  const rows = rest.filter(([time]) => numberIn(time) !== null);
  return nodes!.slice(1).map((node, at) => ({
    node,
    metric: metrics![at + 1]!,
    statistic: statistics![at + 1]!,
    values: rows.map((row) => numberIn(row[at + 1])),
  }));
}

/** An adjacency matrix; who calls stands at the left. */
function edgesOf(path: string): readonly Edge[] {
  const [head, ...rows] = csvRows(path);
  return rows.flatMap(([from, ...cells]) =>
    cells.flatMap((cell, at) =>
      Number(cell) > 0
        ? [{ from: from!, to: head![at + 1]!, relation: 'calls', origin: 'trace' as const }]
        : [],
    ),
  );
}

const childrenOf = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir)
        .map((name) => join(dir, name))
        .filter((path) => statSync(path).isDirectory())
        .sort()
    : [];
