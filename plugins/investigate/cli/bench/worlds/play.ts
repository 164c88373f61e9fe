import { setTimeout as pause } from 'node:timers/promises';

import type { ApiClient, Reachable } from 'svc/cli';

import { type MadeWorld, makeWorld } from './make.ts';

import type { WorldKind } from './world/world-kind.ts';

/** Rooms of svc that data, a rule and its investigation pass through. */
export const playedPlugins = [
  'iam',
  'session',
  'setting',
  'ingest',
  'device',
  'metricsdb',
  'logs',
  'traces',
  'alert',
  'topology',
  'changes',
  'investigate',
];

export interface NodeName {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

/** The parts of a report that are judged. */
export interface Answer {
  readonly status: string;
  readonly verdict: string | null;
  readonly root_cause: {
    readonly node: NodeName;
    readonly category: string;
    readonly text: string;
  } | null;
  readonly hypotheses: readonly {
    readonly node: NodeName;
    readonly category: string;
    readonly text: string;
    readonly score: number;
  }[];
  readonly propagation: readonly { readonly from: string; readonly to: string }[];
  readonly confidence: { readonly value: number } | null;
  readonly summary: string;
  readonly usage: { readonly seconds: number };
}

const ruleKey = 'bench_symptom';
/** Shortest interval of a rule: nobody learns anything while a bench waits. */
const shortestIntervalSeconds = 5;
const patienceMs = 120_000;
const lookMs = 50;

/** Sends a world to an empty svc as its owners would, writes their rule, and waits for the report on the incident. */
export async function play(
  client: ApiClient,
  { url, token = '' }: Reachable,
  seed: number,
  kind: WorldKind,
): Promise<{ readonly world: MadeWorld; readonly answer: Answer | undefined }> {
  // Spans of hours arrive in one moment here; what svc would have counted of them meanwhile comes with the metrics.
  await client.put('/api/v1/system-settings/traces/span_metrics', { value: false });
  const world = makeWorld(seed, kind, Date.now());
  const push = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | string,
  ): Promise<void> => {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
    });
    const text = await reply.text();
    if (!reply.ok) {
      throw new Error(`${path} was answered ${reply.status}: ${text.slice(0, 300)}`);
    }
  };
  for (const body of world.metrics.bodies(world.end)) {
    await push(
      '/api/v1/write',
      { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
      body,
    );
  }
  const json = { 'content-type': 'application/json' };
  if (world.logs.length > 0) {
    await push(
      '/loki/api/v1/push',
      json,
      JSON.stringify({ streams: world.logs.filter(({ values }) => values.length > 0) }),
    );
  }
  for (const body of world.spans) {
    await push('/v1/traces', json, JSON.stringify(body));
  }
  await draw(client, world.topology);
  for (const change of world.changes) {
    await client.post('/api/v1/changes', change);
  }
  const { title, kind: ruleKind, condition } = world.alert;
  await client.post('/api/v1/alert-rules', {
    rule_key: ruleKey,
    name: title,
    kind: ruleKind,
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'critical',
    interval_seconds: shortestIntervalSeconds,
    conditions: [condition],
  });
  return { world, answer: await answered(client) };
}

async function draw(client: ApiClient, { nodes, relations }: MadeWorld['topology']): Promise<void> {
  const ids = new Map<string, number>();
  for (const node of nodes) {
    ids.set(node.name, (await client.post<{ id: number }>('/api/v1/topology/nodes', node)).id);
  }
  for (const [from, to, type] of relations) {
    await client.post('/api/v1/topology/relations', {
      type,
      src_id: ids.get(from),
      dst_id: ids.get(to),
    });
  }
}

/** The report on the incident of the rule; nothing if the rule does not fire. */
async function answered(client: ApiClient): Promise<Answer | undefined> {
  const incident = await seen(async () => {
    const { items } = await client.get<{ items: readonly { id: number }[] }>(
      `/api/v1/alerts/incidents?rule=${ruleKey}`,
    );
    return items[0]?.id;
  }, patienceMs / 2);
  return incident === undefined
    ? undefined
    : await seen(async () => {
        const report = await client
          .get<Answer>(`/api/v1/alerts/incidents/${incident}/investigation`)
          .catch(() => undefined);
        return report !== undefined && ['ready', 'failed', 'skipped'].includes(report.status)
          ? report
          : undefined;
      }, patienceMs);
}

async function seen<T>(
  look: () => Promise<T | undefined>,
  withinMs: number,
): Promise<T | undefined> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await pause(lookMs);
  }
  return undefined;
}
