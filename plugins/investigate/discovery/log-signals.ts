import type { Node, Period, Series } from 'svc/rca';

import type { Gatherer } from '../fetch/gatherer.ts';
import type { Grid } from '../fetch/metrics-source.ts';
import { selectorOf, type Streams } from './log-streams.ts';

/** Words of lines that tell of trouble, whichever library wrote them. */
const complaining =
  '(?i)\\b(error|err|fatal|panic|crit|critical|exception|fail|failed|failure|refused|timeout|timed.?out|exceeded|denied|unreachable|unavailable|expired|slow|killed|oom)\\b';
const mostLabels = 4;
/** Lines count for less than what is measured: who writes them chooses how many. */
const weight = 0.85;

/** Counts the lines of each thing and those that complain: where nothing else is measured, they are how it does. */
export async function logSignals(
  gatherer: Gatherer,
  nodes: readonly Node[],
  streams: ReadonlyMap<string, Streams> | undefined,
  window: Period,
): Promise<readonly Series[]> {
  const byLabel = new Map<string, Map<string, string>>();
  // Lines that come from a host are those of what runs on it.
  for (const { id } of nodes.filter(({ kind }) => kind !== 'host')) {
    const own = streams?.get(id);
    own?.values.forEach((value) =>
      byLabel.set(own.label, (byLabel.get(own.label) ?? new Map()).set(value, id)),
    );
  }
  const found = [...byLabel].slice(0, mostLabels).map(async ([label, things]) => {
    const selector = selectorOf({ label, values: [...things.keys()].toSorted() });
    const ask = (filter: string) =>
      gatherer.ask({
        kind: 'log',
        source: 'counts',
        query: `sum by (${label}) (count_over_time(${selector}${filter}[5m]))`,
        window,
      });
    const [all, bad] = await Promise.all([ask(''), ask(` |~ ${JSON.stringify(complaining)} `)]);
    if (all === undefined) {
      return [];
    }
    const lines = countsOf(all.value as Grid, label, things);
    const complaints = countsOf(
      (bad?.value ?? emptyLike(all.value as Grid)) as Grid,
      label,
      things,
    );
    return [...lines].flatMap(([node, counts]): Series[] => {
      const shared = {
        node,
        unit: 'count' as const,
        from: (all.value as Grid).from,
        step_ms: (all.value as Grid).step_ms,
      };
      return [
        {
          ...shared,
          id: `${node}/lines@${all.id}`,
          evidence: all.id,
          metric: linesMetric,
          // No work: who fails writes more.
          kind: 'other',
          worse: 'down',
          values: counts,
        },
        ...(bad === undefined
          ? []
          : [
              {
                ...shared,
                id: `${node}/complaints@${bad.id}`,
                evidence: bad.id,
                metric: 'lines that complain',
                kind: 'errors' as const,
                weight,
                values: counts.map((count, at) =>
                  count === null ? null : (complaints.get(node)?.[at] ?? 0),
                ),
              },
            ]),
      ];
    });
  });
  return (await Promise.all(found)).flat();
}

const linesMetric = 'lines written';

const emptyLike = ({ from, step_ms }: Grid): Grid => ({ from, step_ms, series: [] });

/** Returns the lines of each thing; none are none only once it has written any. */
function countsOf(
  { series }: Grid,
  label: string,
  things: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly (number | null)[]> {
  const sums = new Map<string, (number | null)[]>();
  for (const { labels, values } of series) {
    const node = things.get(labels[label] ?? '');
    if (node !== undefined) {
      const known = sums.get(node);
      sums.set(
        node,
        values.map((value, at) =>
          value === null ? (known?.[at] ?? null) : value + (known?.[at] ?? 0),
        ),
      );
    }
  }
  sums.forEach((values, node) => sums.set(node, sinceFirst(values)));
  return sums;
}

/** Puts zeros where nothing is counted after something was. */
function sinceFirst(values: readonly (number | null)[]): (number | null)[] {
  const first = values.findIndex((value) => value !== null);
  return values.map((value, at) => value ?? (first !== -1 && at > first ? 0 : null));
}

/** Puts zeros into counts of lines where their node wrote others: that none was found is a measurement. */
export function withZeros(
  measured: readonly Series[],
  signals: readonly Series[],
): readonly Series[] {
  return measured.map((one) => {
    const lines = signals.find(({ node, metric }) => node === one.node && metric === linesMetric);
    if (lines === undefined) {
      return one;
    }
    const wroteAt = (at: number): boolean => {
      const time = one.from + at * one.step_ms;
      return (lines.values[Math.round((time - lines.from) / lines.step_ms)] ?? null) !== null;
    };
    return { ...one, values: one.values.map((value, at) => value ?? (wroteAt(at) ? 0 : null)) };
  });
}
