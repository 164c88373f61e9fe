import type { IncidentView, InstanceView } from 'svc/contracts/alert';
import { investigate, type Snapshot } from 'svc/rca';
import { systemClock } from '../../core/boot/time.ts';

import { directionIn } from '../../plugins/alert/rule/expression.ts';
import { planOf, type Planned } from '../../plugins/alert/kinds/rule-plan.ts';
import type { Answer, NodeName } from '../../plugins/investigate/cli/bench/worlds/play.ts';
import type { MadeWorld } from '../../plugins/investigate/cli/bench/worlds/make.ts';
import { shippedConventions } from '../../plugins/investigate/conventions/known-conventions.ts';
import { Gatherer } from '../../plugins/investigate/fetch/gatherer.ts';
import { Sources } from '../../plugins/investigate/fetch/sources.ts';
import { subjectOf } from '../../plugins/investigate/fetch/symptom.ts';
import { takeSnapshot } from '../../plugins/investigate/snapshot/take-snapshot.ts';
import { openStores, type Stores } from './stores.ts';

/** Time from the last sample to the evaluation of the rule, and to the investigation. */
const evaluatedMs = 3_000;
const investigatedMs = 4_000;
const fetchMs = 120_000;
const ruleKey = 'bench_symptom';

/** Takes the snapshot that svc would take of the incident of a world's rule; nothing if the rule does not fire. */
export async function snapshotOfWorld(world: MadeWorld): Promise<Snapshot | undefined> {
  const stores = await openStores(world);
  try {
    return await taken(world, stores);
  } finally {
    await stores.close();
  }
}

async function taken(world: MadeWorld, stores: Stores): Promise<Snapshot | undefined> {
  const { kind, condition } = world.alert;
  const rule: Planned = {
    kind,
    join_mode: 'all',
    scope_type: 'global',
    dimensions: [],
    interval_seconds: 5,
    conditions: [condition],
    keep_firing_for: '',
  };
  const leg = planOf(rule).legs[0]!;
  const firedAt = world.end + evaluatedMs;
  const answer = await (leg.store === 'metrics' ? stores.metrics : stores.logs).instant(
    leg.query,
    firedAt,
  );
  const rows = answer.type === 'vector' ? answer.labels : answer.type === 'scalar' ? [{}] : [];
  if (rows.length === 0) {
    return undefined;
  }
  const found = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name !== '__name__')),
  );
  const labels = found[0]!;
  const fired = new Date(firedAt).toISOString();
  const incident = { id: 1, rule_key: ruleKey, labels, fired_at: fired } as unknown as IncidentView;
  const measure = leg.measure ?? leg.query;
  const direction = directionIn(leg.query, measure, leg.threshold);
  const subject = subjectOf(
    incident,
    leg.measure === undefined
      ? undefined
      : {
          store: leg.store,
          query: measure,
          labels,
          kind,
          ...(leg.threshold !== undefined && { threshold: leg.threshold }),
          ...(direction !== undefined && { direction }),
        },
    found.map((one) => ({ labels: one }) as unknown as InstanceView),
  );
  const now = world.end + investigatedMs;
  const clock = { ...systemClock, now: () => now, monotonic: () => performance.now() };
  const snapshot = await takeSnapshot(subject, {
    gatherer: new Gatherer({
      sources: sourcesOf(stores).of(undefined),
      clock,
      until: performance.now() + fetchMs,
      signal: new AbortController().signal,
    }),
    checks: new Map(),
    fetchers: new Map(),
    conventions: shippedConventions(),
    namesOf: async () => new Map(),
    now,
  });
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot;
}

function sourcesOf({ metrics, logs, traces, topology, changes }: Stores): Sources {
  const stores: Readonly<Record<string, object>> = {
    'metrics.queries': metrics,
    'logs.queries': logs,
    'traces.queries': traces,
    'topology.graph': topology,
    'changes.near': changes,
  };
  const maybe = ({ id }: { readonly id: string }) => ({
    available: true,
    get: () => stores[id]!,
    onChange: () => () => undefined,
  });
  return new Sources({
    services: { maybe },
    extend: { open: () => ({ list: () => [] }) },
  } as unknown as ConstructorParameters<typeof Sources>[0]);
}

/** The report on a snapshot, as far as it is judged. */
export function answerTo(snapshot: Snapshot): Answer {
  const begun = performance.now();
  const findings = investigate(snapshot);
  const nodes = new Map(snapshot.nodes.map((node) => [node.id, node]));
  const nodeOf = (id: string): NodeName => nodes.get(id) ?? { id, name: id, kind: 'unknown' };
  const { root_cause: cause } = findings;
  return {
    status: 'ready',
    verdict: findings.verdict,
    root_cause:
      cause === null
        ? null
        : { node: nodeOf(cause.node), category: cause.category, text: cause.text },
    hypotheses: findings.hypotheses.map(({ node, category, text, score }) => ({
      node: nodeOf(node),
      category,
      text,
      score,
    })),
    propagation: findings.propagation,
    confidence: findings.confidence,
    summary: findings.summary,
    usage: { seconds: (performance.now() - begun) / 1_000 },
  };
}
