import type { Change, Period } from 'svc/rca';

import { askingsOf, type Discovered, queryOf } from './discovered-signals.ts';
import type { Found, Gatherer } from '../fetch/gatherer.ts';
import { type Grid, metricsSource } from '../fetch/metrics-source.ts';

const versionLabels = ['version', 'revision', 'commit'] as const;
const mostChanges = 60;

/** Changes that nobody has told of and that measurements show: processes that began again, and versions that took the place of others. */
export async function measuredChanges(
  gatherer: Gatherer,
  { bindings, entities, nodes, window }: Discovered,
): Promise<readonly Change[]> {
  const places = new Map(nodes.map(({ id }, at) => [id, at]));
  const found = bindings
    .filter(({ convention: { kind } }) => kind === 'start' || kind === 'version')
    .flatMap((binding) => askingsOf(binding, entities, places))
    .slice(0, 8)
    .map(async (asking) => {
      const { binding, label, nodes: named } = asking;
      const answer = await gatherer.ask({
        kind: 'change',
        source: metricsSource(),
        query: queryOf(asking),
        window,
      });
      const read = binding.convention.kind === 'start' ? startsOf : versionsOf;
      return answer === undefined
        ? []
        : read(answer, (labels) => named.get(labels[label] ?? ''), window);
    });
  return (await Promise.all(found)).flat().slice(0, mostChanges);
}

type NodeOf = (labels: Readonly<Record<string, string>>) => string | undefined;

/** A time of start that moves is a restart, at the time that it says. */
export function startsOf({ id, value }: Found, nodeOf: NodeOf, window: Period): readonly Change[] {
  const { from, step_ms: step, series } = value as Grid;
  return series.flatMap(({ labels, values }, which) => {
    const node = nodeOf(labels);
    let last: number | undefined;
    return values.flatMap((start, at): Change[] => {
      const before = last;
      last = start ?? last;
      if (node === undefined || start === null || before === undefined || start - before <= 1) {
        return [];
      }
      const told = start * 1_000;
      const seen = from + at * step;
      const time = told > window.from && told <= seen ? told : seen;
      return [
        {
          id: `${id}:${which}:${at}`,
          evidence: id,
          at: Math.round(time),
          kind: 'restart',
          node,
          title: `its process restarted`,
        },
      ];
    });
  });
}

/** A version that is there from a time on, where another was before, is a deploy. */
export function versionsOf({ id, value }: Found, nodeOf: NodeOf): readonly Change[] {
  const { from, step_ms: step, series } = value as Grid;
  const known = series.map(({ labels, values }, which) => ({
    which,
    node: nodeOf(labels),
    version: versionLabels
      .map((name) => labels[name])
      .find((text) => text !== undefined && text !== ''),
    first: values.findIndex((sample) => sample !== null),
  }));
  return known.flatMap(({ which, node, version, first }): Change[] => {
    const before = known.filter(
      (other) => other.node === node && other.version !== version && other.first < first,
    );
    const former = before.toSorted((a, b) => b.first - a.first)[0]?.version;
    return node === undefined || version === undefined || former === undefined
      ? []
      : [
          {
            id: `${id}:${which}`,
            evidence: id,
            at: from + first * step,
            kind: 'deploy',
            node,
            title: `version ${version} in place of ${former}`,
          },
        ];
  });
}
