import { investigate, type Series, type Snapshot } from 'svc/rca';

import { simulate } from '../../plugins/investigate/cli/bench/simulator/simulate.ts';
import type { Outcome, Row } from '../exercise.ts';

/** Time and processor of one investigation against the number of nodes and of series, from a simulated incident to a hundred times it. */
export async function run({
  rounds = 5,
  seed = 7,
}: { readonly rounds?: number; readonly seed?: number } = {}): Promise<Outcome> {
  const one = simulate(seed, { suite: 'known', fault: 'cpu hog' });
  const cases: Row[] = [];
  for (const [nodes, series] of [
    [1, 1],
    [1, 10],
    [1, 100],
    [10, 1],
    [100, 1],
  ] as const) {
    const snapshot = grown(one.snapshot, nodes, series);
    investigate(snapshot);
    const cpu = process.cpuUsage();
    const begun = performance.now();
    let right = 0;
    for (let round = 0; round < rounds; round += 1) {
      right += one.truth.nodes.includes(
        investigate(snapshot, { nodes: snapshot.nodes.length }).hypotheses[0]?.node ?? '',
      )
        ? 1
        : 0;
    }
    const ms = (performance.now() - begun) / rounds;
    const { user, system } = process.cpuUsage(cpu);
    cases.push({
      'times the nodes': nodes,
      'times the series of each': series,
      nodes: snapshot.nodes.length,
      series: snapshot.series.length,
      'samples, thousands': Math.round(
        snapshot.series.reduce((sum, { values }) => sum + values.length, 0) / 1_000,
      ),
      'ms an investigation': Math.round(ms * 10) / 10,
      'CPU ms': Math.round((user + system) / rounds / 100) / 10,
      'right cause': right === rounds,
    });
  }
  return { ok: cases.every((row) => row['right cause'] === true), rounds, sizes: cases };
}

/**
 * Enlarges a snapshot: copies of the fleet in which nothing happens, and copies of each series with
 * other names.
 */
function grown(snapshot: Snapshot, nodes: number, series: number): Snapshot {
  const quietLength = Math.floor(snapshot.series[0]!.values.length / 2);
  const calm = (one: Series): Series => ({
    ...one,
    values: one.values.map((_, at) => one.values[at % quietLength]!),
  });
  const copies = Array.from(
    { length: nodes - 1 },
    (_, at) =>
      (id: string): string =>
        `${id}~${at}`,
  );
  const names = Array.from({ length: series - 1 }, (_, at) => `~${at}`);
  const wide = snapshot.series.flatMap((one) => [
    one,
    ...names.map((name) => ({
      ...calm(one),
      id: `${one.id}${name}`,
      metric: `${one.metric}${name}`,
      kind: 'other' as const,
    })),
  ]);
  return {
    ...snapshot,
    nodes: [
      ...snapshot.nodes,
      ...copies.flatMap((name) =>
        snapshot.nodes.map((node) => ({ ...node, id: name(node.id), name: name(node.name) })),
      ),
    ],
    edges: [
      ...snapshot.edges,
      ...copies.flatMap((name) =>
        snapshot.edges.map((edge) => ({ ...edge, from: name(edge.from), to: name(edge.to) })),
      ),
    ],
    series: [
      ...wide,
      ...copies.flatMap((name) =>
        wide.map((one) => ({ ...calm(one), id: name(one.id), node: name(one.node) })),
      ),
    ],
  };
}
