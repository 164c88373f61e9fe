import type { Snapshot } from 'svc/rca';

import { type Case } from '../../../../plugins/investigate/cli/bench/case.ts';
import {
  simulate,
  type SimulationOptions,
  type Suite,
} from '../../../../plugins/investigate/cli/bench/simulator/simulate.ts';

const made = new Map<string, Case>();

/** Returns an incident with a known cause; made once for all tests of a file. */
export function known(
  seed: number,
  suite: Suite = 'known',
  options: Omit<SimulationOptions, 'suite'> = {},
): Case {
  const key = JSON.stringify([seed, suite, options]);
  const one = made.get(key) ?? simulate(seed, { suite, ...options });
  made.set(key, one);
  return one;
}

/** The same incident when one piece of evidence could not be fetched, and the snapshot says so. */
export function without(snapshot: Snapshot, id: string): Snapshot {
  const stays = ({ evidence }: { readonly evidence: string }): boolean => evidence !== id;
  const { kind, source } = snapshot.evidence.find((one) => one.id === id)!;
  const node = [...snapshot.series, ...snapshot.logs, ...snapshot.spans, ...snapshot.checks].find(
    ({ evidence }) => evidence === id,
  )?.node;
  return {
    ...snapshot,
    series: snapshot.series.filter(stays),
    logs: snapshot.logs.filter(stays),
    spans: snapshot.spans.filter(stays),
    checks: snapshot.checks.filter(stays),
    changes: snapshot.changes.filter(stays),
    edges: snapshot.edges.filter(({ evidence }) => evidence !== id),
    evidence: snapshot.evidence.filter((one) => one.id !== id),
    missing: [
      ...snapshot.missing,
      {
        kind,
        source,
        ...(node === undefined ? {} : { node }),
        reason: 'timeout',
        text: `${source} did not answer.`,
      },
    ],
  };
}

/** The same incident with other names for its nodes. */
export function renamed(snapshot: Snapshot, name: (id: string) => string): Snapshot {
  const moved = <T extends { readonly node: string }>(one: T): T => ({
    ...one,
    node: name(one.node),
  });
  const { node, ...symptom } = snapshot.symptom;
  return {
    ...snapshot,
    symptom: node === undefined ? symptom : { ...symptom, node: name(node) },
    nodes: snapshot.nodes.map((one) => ({ ...one, id: name(one.id), name: name(one.name) })),
    edges: snapshot.edges.map((edge) => ({ ...edge, from: name(edge.from), to: name(edge.to) })),
    series: snapshot.series.map(moved),
    logs: snapshot.logs.map(moved),
    spans: snapshot.spans.map(moved),
    checks: snapshot.checks.map(moved),
    changes: snapshot.changes.map((change) =>
      change.node === undefined ? change : { ...change, node: name(change.node) },
    ),
    missing: snapshot.missing.map((one) =>
      one.node === undefined ? one : { ...one, node: name(one.node) },
    ),
  };
}

/** The same incident so much later. */
export function shifted(snapshot: Snapshot, ms: number): Snapshot {
  const later = <T extends { readonly from: number }>(one: T): T => ({
    ...one,
    from: one.from + ms,
  });
  return {
    ...snapshot,
    taken_at: snapshot.taken_at + ms,
    window: { from: snapshot.window.from + ms, to: snapshot.window.to + ms },
    symptom: { ...snapshot.symptom, fired_at: snapshot.symptom.fired_at + ms },
    series: snapshot.series.map(later),
    logs: snapshot.logs.map(later),
    spans: snapshot.spans.map(later),
    changes: snapshot.changes.map((change) => ({ ...change, at: change.at + ms })),
  };
}
