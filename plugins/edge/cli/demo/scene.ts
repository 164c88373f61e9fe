import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';
import { Application } from '../sim/application.ts';
import { hostOf } from '../sim/host.ts';
import type { SimOptions } from '../sim/options.ts';

/** Asks the demo's own svc, as its operator. */
export type Ask = <T>(path: string, body?: object) => Promise<T>;

interface Host {
  readonly id: number;
  readonly hostname: string;
}

export const rule = 'demo_front_fails';

const page = 200;
const lookMs = 250;
const patienceMs = 300_000;
/** An incident whose cause was not seen is looked at again after two minutes. */
const secondLookMs = 180_000;

/** Configures who is notified of what, as an operator would. */
export async function setUp(
  ask: Ask,
  { told, service }: { readonly told: string; readonly service: string },
): Promise<void> {
  await ask('/api/v1/notification-channels', {
    name: 'this terminal',
    channel_type: 'webhook',
    endpoint: told,
    // Long enough for the cause to be in the first message.
    group_wait: '5s',
    group_interval: '10s',
  });
  await ask('/api/v1/alert-rules', {
    rule_key: rule,
    name: 'The shop fails its customers',
    kind: 'trace_error_rate',
    source_type: 'svc_builtin',
    join_mode: 'all',
    // Long enough for the first look to see more than a beginning.
    scope_type: 'global',
    severity: 'critical',
    conditions: [{ service, above_percent: 30, window: '2m' }],
  });
}

/** Resolves once every host of the fleet is a device, with their numbers. */
export async function arrived(
  ask: Ask,
  { seed, count }: SimOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Host>> {
  const numbers = new Map(
    Array.from({ length: count }, (_, at) => [hostOf(seed, at + 1).hostname, at + 1]),
  );
  return await seen(async () => {
    const devices = await all<Host>(ask, '/api/v1/devices?');
    const known = new Map(
      devices.flatMap((device) =>
        numbers.has(device.hostname) ? [[numbers.get(device.hostname)!, device] as const] : [],
      ),
    );
    return known.size === count ? known : undefined;
  }, signal);
}

/** Resolves once each host has sent what it measured in the minutes before it connected. */
export async function remembered(
  ask: Ask,
  { count, pastMs = 0 }: SimOptions,
  signal: AbortSignal,
): Promise<void> {
  const minutes = Math.floor(pastMs / 60_000);
  const query = encodeURIComponent(
    `count(count_over_time(node_cpu_usage_percent[${minutes + 1}m]) >= ${minutes})`,
  );
  await seen(async () => {
    const { data } = await ask<{
      data: { result: readonly { value: readonly [number, string] }[] };
    }>(`/prometheus/api/v1/query?query=${query}`);
    return Number(data.result[0]?.value[1] ?? 0) >= count ? true : undefined;
  }, signal);
}

/** Writes down which host needs which, as people do; resolves with how many that are. */
export async function drawTopology(
  ask: Ask,
  options: SimOptions,
  hosts: ReadonlyMap<number, Host>,
  signal: AbortSignal,
): Promise<number> {
  const nodes = await seen(async () => {
    const known = await all<{ id: number; device_id: string | number | null }>(
      ask,
      '/api/v1/topology/nodes?type=host&',
    );
    const byDevice = new Map(known.map(({ id, device_id: device }) => [String(device), id]));
    return [...hosts.values()].every(({ id }) => byDevice.has(String(id))) ? byDevice : undefined;
  }, signal);
  const nodeOf = (number: number): number => nodes.get(String(hosts.get(number)!.id))!;
  const needs = [...hosts.keys()].flatMap((number) =>
    new Application(options, number).needs(number).map((other) => [number, other] as const),
  );
  for (const [number, other] of needs) {
    await ask('/api/v1/topology/relations', {
      type: 'depends_on',
      src_id: nodeOf(number),
      dst_id: nodeOf(other),
    });
  }
  return needs.length;
}

/** The report on the first incident of the demo's rule that names its cause; the last one where none does. */
export async function reported(
  ask: Ask,
  signal: AbortSignal,
  suspected: (summary: string) => void,
): Promise<{ readonly incident: number; readonly summary: string }> {
  const incident = await seen(async () => {
    const { items } = await ask<{ items: readonly { id: number }[] }>(
      `/api/v1/alerts/incidents?rule=${rule}`,
    );
    return items[0]?.id;
  }, signal);
  let since: number | undefined;
  const summary = await seen(async () => {
    const report = await ask<{ status: string; verdict: string; summary: string }>(
      `/api/v1/alerts/incidents/${incident}/investigation`,
    ).catch(() => undefined);
    if (report?.status === 'ready' && report.verdict !== 'root_cause' && since === undefined) {
      since = performance.now();
      suspected(report.summary);
    }
    const isFound =
      report?.verdict === 'root_cause' ||
      (since !== undefined && performance.now() - since > secondLookMs);
    return report?.status === 'ready' && isFound ? report.summary : undefined;
  }, signal);
  return { incident, summary };
}

async function all<T>(ask: Ask, path: string): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor = '';
  do {
    const answer = await ask<{ items: T[]; next_cursor?: string | null }>(
      `${path}limit=${page}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    items.push(...answer.items);
    cursor = answer.next_cursor ?? '';
  } while (cursor !== '');
  return items;
}

/** Looks until there is something. While all the hosts come at once, an answer may not be there in time: then it is looked again. */
async function seen<T>(look: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  let trouble = 'it did not happen';
  for (const deadline = performance.now() + patienceMs; ;) {
    try {
      const found = await look();
      if (found !== undefined) {
        return found;
      }
    } catch (error) {
      trouble = messageOf(error);
    }
    signal.throwIfAborted();
    if (performance.now() > deadline) {
      throw new Error(`within five minutes: ${trouble}`);
    }
    await pause(lookMs, undefined, { signal });
  }
}
