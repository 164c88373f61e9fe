import type { ApiClient, Reachable } from 'svc/cli';

import { samplesOf } from './samples.ts';
import { exportsOf } from './spans.ts';
import { offsetOf, timesOf, type World } from './world.ts';

/** Sends a world to a svc as its owners would: metrics, logs, traces, changes, topology, documents, rules. */
export async function loadWorld(
  client: ApiClient,
  { url, token = '' }: Reachable,
  world: World,
  now: number,
): Promise<void> {
  const push = async (path: string, type: string, body: string): Promise<void> => {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body,
    });
    const text = await reply.text();
    if (!reply.ok) {
      throw new Error(`${path} was answered ${reply.status}: ${text.slice(0, 300)}`);
    }
  };
  if ((world.metrics ?? []).length > 0) {
    await push('/api/v1/import/prometheus', 'text/plain', samplesOf(world, now));
  }
  if ((world.logs ?? []).length > 0) {
    await push('/loki/api/v1/push', 'application/json', JSON.stringify(streamsOf(world, now)));
  }
  for (const body of exportsOf(world, now)) {
    await push('/v1/traces', 'application/json', JSON.stringify(body));
  }
  for (const { at, ...change } of world.changes ?? []) {
    await client.post('/api/v1/changes', {
      ...change,
      at: new Date(now + offsetOf(at)).toISOString(),
    });
  }
  await drawTopology(client, world);
  for (const { path, content } of world.documents ?? []) {
    await client.post('/api/v1/knowledge/docs', { path, content: content.join('\n') });
  }
  for (const { key, name, expr, severity = 'critical' } of world.rules ?? []) {
    await client.post('/api/v1/alert-rules', {
      rule_key: key,
      name,
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity,
      interval_seconds: 5,
      conditions: [{ expr }],
    });
  }
}

const streamsOf = ({ logs = [] }: World, now: number): object => ({
  streams: logs.map(([stream, lines]) => ({
    stream,
    values: lines
      .flatMap(([at, line]) => timesOf(at).map((time) => [now + time, line] as const))
      .toSorted(([a], [b]) => a - b)
      .map(([time, line]) => [`${time}000000`, line]),
  })),
});

async function drawTopology(
  client: ApiClient,
  { topology = { nodes: [], relations: [] } }: World,
): Promise<void> {
  const ids = new Map<string, number>();
  for (const [type, name] of topology.nodes) {
    const { id } = await client.post<{ id: number }>('/api/v1/topology/nodes', { type, name });
    ids.set(name, id);
  }
  for (const [from, type, to] of topology.relations) {
    await client.post('/api/v1/topology/relations', {
      type,
      src_id: ids.get(from),
      dst_id: ids.get(to),
    });
  }
}
