import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import { type Bound, DeviceDirectory, type Introduction } from 'svc/contracts/device';
import type { EdgeEntry } from 'svc/contracts/edge';
import { startTestHost, type TestHostOptions } from 'svc/testing';

/** Creates a stand-in for the edge plugin. */
export function fleetOf() {
  const up = new Set<number>();
  const known = new Map<
    number,
    Pick<EdgeEntry, 'name' | 'status' | 'agent_version' | 'last_seen_at'>
  >();
  return {
    up,
    known,
    online: () => up,
    present: () => up,
    get: (id: number) => known.get(id),
    list: () => [],
  };
}

/** The n-th machine. */
export const machine = (n: number): string =>
  `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

export async function deviceHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
) {
  const fleet = fleetOf();
  const house = await startTestHost(t, {
    plugins: ['device', 'topology'],
    services: { 'edge.fleet': fleet },
    ...options,
  });
  const directory = house.service(DeviceDirectory);
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await house.fetch(`/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      etag: answer.headers.get('etag') ?? '',
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  /** The edge connects from this machine. */
  const connect = (
    edge: number,
    from: number,
    host: object = {},
    fingerprint?: string,
    more: Partial<Introduction> = {},
  ): Promise<Bound> => {
    fleet.up.add(edge);
    return directory.bind({
      edge_id: edge,
      machine_uuid: machine(from),
      host_info: { hostname: `host-${from}`, ...host },
      fingerprint,
      ...more,
    });
  };
  const deviceOf = async (edge: number, from = edge, host: object = {}): Promise<number> => {
    const bound = await connect(edge, from, host);
    assert.equal(bound.status, 'bound');
    return bound.device_id;
  };
  return { house, fleet, directory, ask, connect, deviceOf };
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds());) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
