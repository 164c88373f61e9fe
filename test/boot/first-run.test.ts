import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { agentsOf } from '../local-agents.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';

const asked = (path: string, parameters: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(parameters).toString()}`;
const aMinute = (): Record<string, string> => ({
  start: String(Date.now() / 1_000 - 60),
  end: String(Date.now() / 1_000 + 60),
  step: '5',
});

async function until(
  house: WholeHouse,
  path: () => string,
  holds: (text: string) => boolean,
): Promise<void> {
  for (const deadline = Date.now() + 100_000; ; await pause(200)) {
    const answer = await house.fetch(path());
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    if (holds(text)) {
      return;
    }
    assert.ok(
      Date.now() < deadline,
      `${path()} returned no data within 100 s; last answer: ${text.slice(0, 500)}`,
    );
  }
}

test(
  'with nothing but an empty data folder, PromQL, LogQL, TraceQL and a dashboard tell about the manager itself',
  { timeout: 120_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-first-run-'));
    const house = await startWholeHouse({ dataDir, environment: { SVC_LOG_LEVEL: 'info' } });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const has = (part: string) => (text: string) => text.includes(part);
    await Promise.all([
      until(
        house,
        () => asked('/prometheus/api/v1/query', { query: 'svc_process_uptime_seconds' }),
        has('"job":"svc"'),
      ),
      until(
        house,
        () =>
          asked('/prometheus/api/v1/query_range', {
            query: 'svc_process_uptime_seconds',
            ...aMinute(),
          }),
        has('"values":[['),
      ),
      until(
        house,
        () => asked('/loki/api/v1/query_range', { query: '{service_name="svc"}' }),
        has('"values":[['),
      ),
      until(
        house,
        () => asked('/api/v1/logs/query_range', { query: '{service_name="svc"}' }),
        has('"values":[['),
      ),
      until(
        house,
        () => asked('/tempo/api/search', { q: '{ resource.service.name = "svc" }' }),
        has('"traceID"'),
      ),
      until(
        house,
        () => asked('/api/v1/traces/search', { q: '{ resource.service.name = "svc" }' }),
        has('"traceID"'),
      ),
      until(
        house,
        () => '/api/v1/observability/dashboards/manager',
        (text) => {
          const { panels } = JSON.parse(text) as {
            panels: { title: string; error?: unknown; missing?: unknown }[];
          };
          return ['Up for', 'Active plugins', 'Event loop delay, p99'].every((title) => {
            const panel = panels.find((one) => one.title === title)!;
            return panel.error === undefined && panel.missing === undefined;
          });
        },
      ),
    ]);
  },
);

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly missing?: unknown;
  readonly error?: unknown;
  readonly data: { readonly result: readonly { readonly value?: readonly [number, string] }[] };
}

test(
  'the machine of the manager is watched from the first start, and the dashboards that come along show it, once, until somebody deletes its edge',
  { timeout: 120_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-first-host-'));
    const house = await startWholeHouse({ dataDir, environment: { SVC_EDGE_LOCAL: 'true' } });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const filled = (text: string): boolean =>
      (JSON.parse(text) as { panels: Panel[] }).panels
        .filter(({ type }) => type !== 'logs')
        .every(({ missing, error }) => missing === undefined && error === undefined);
    await until(house, () => '/api/v1/observability/dashboards/device', filled);
    await until(house, () => '/api/v1/observability/dashboards/overview', filled);

    const overview = (await (
      await house.fetch('/api/v1/observability/dashboards/overview')
    ).json()) as { panels: Panel[] };
    assert.equal(
      overview.panels.find(({ title }) => title === 'Devices that report')!.data.result[0]!
        .value![1],
      '1',
    );
    const series = await house.fetch(
      asked('/prometheus/api/v1/series', { 'match[]': 'node_load1' }),
    );
    const { data } = (await series.json()) as { data: Record<string, string>[] };
    assert.deepEqual(
      data.map(({ instance, ...labels }) => ({ ...labels, hasInstance: instance === hostname() })),
      [{ __name__: 'node_load1', job: 'node', edge_id: '1', device_id: '1', hasInstance: true }],
    );

    assert.equal(agentsOf(dataDir).length, 1);
    assert.equal((await house.fetch('/api/v1/edges/1', { method: 'DELETE' })).status, 204);
    for (const deadline = Date.now() + 20_000; agentsOf(dataDir).length > 0; await pause(100)) {
      assert.ok(Date.now() < deadline, 'the agent of an edge that was deleted ends');
    }
  },
);
