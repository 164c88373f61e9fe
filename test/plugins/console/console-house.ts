import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Browser } from 'playwright-core';

import { type SimulatedFleet, startFleet } from '../../../plugins/edge/cli/sim/fleet.ts';
import { startWholeHouse, type WholeHouse } from '../../whole-house.ts';
import { openView, signIn, type View } from './browser.ts';
import { simulator } from '../../simulator.ts';

/** Account of the page's user. */
export const account = { email: 'ada@example.org', password: 'correct horse' };

/** A whole svc with one of everything that a page shows. */
export interface ConsoleHouse {
  readonly url: string;
  readonly dataDir: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  view(browser: Browser, options?: Parameters<typeof openView>[2], script?: string): Promise<View>;
  end(): Promise<void>;
}

export interface ConsoleHouseOptions {
  /** Simulated ones, with figures, logs and traces. */
  readonly hosts?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts a host for console tests; a failure on the way cleans up everything, as a test without a
 * host cannot end one.
 */
export async function startConsoleHouse({
  hosts = 2,
  environment = {},
}: ConsoleHouseOptions = {}): Promise<ConsoleHouse> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
  const simDir = mkdtempSync(join(tmpdir(), 'svc-console-hosts-'));
  const house = await startWholeHouse({ dataDir, environment });
  let fleet: SimulatedFleet | undefined;
  const end = async (): Promise<void> => {
    fleet?.stop();
    await fleet?.ended;
    await house.end();
    [dataDir, simDir].forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  };
  try {
    fleet = await startHosts(house, simDir, hosts);
    await fill(house, hosts);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    url: house.url,
    dataDir,
    fetch: house.fetch,
    async view(browser, options = {}, script) {
      const view = await openView(browser, house.url, options);
      if (script !== undefined) {
        await view.page.addInitScript(script);
      }
      await signIn(view, house.url, account.email, account.password);
      return view;
    },
    end,
  };
}

async function put<T = { id: number }>(house: WholeHouse, path: string, body: object): Promise<T> {
  const answer = await house.fetch(`/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${path} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as T;
}

async function startHosts(
  house: WholeHouse,
  simDir: string,
  hosts: number,
): Promise<SimulatedFleet> {
  const { token } = await put<{ token: string }>(house, '/edges/enrolments', { max_uses: hosts });
  return startFleet(
    {
      manager: new URL(house.url),
      token,
      count: hosts,
      ramp: 0,
      seed: 'console',
      failProb: 0,
      intervalMs: 5_000,
      metrics: 'full',
      logsPerSecond: 0.2,
      requestsPerMinute: 30,
      pastMs: 120_000,
    },
    simDir,
    simulator,
  );
}

/** Everything that pages show, at least once. */
async function fill(house: WholeHouse, hosts: number): Promise<void> {
  await put(house, '/users', { ...account, display_name: 'Ada', role: 'admin' });
  await put(house, '/alert-rules', {
    rule_key: 'always',
    name: 'Always',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'critical',
    conditions: [{ expr: 'vector(1) > 0' }],
    labels: { team: 'shop' },
    annotations: { summary: 'it is always so', description: 'nothing to do' },
  });
  await put(house, '/notification-channels', {
    name: 'far',
    channel_type: 'webhook',
    endpoint: 'https://192.0.2.1/hook',
    match_severity_min: 'critical',
  });
  await put(house, '/checks', {
    ...{ name: 'front', group: 'shop', badge: true },
    ...{ target: 'https://192.0.2.1/', interval_s: 3_600 },
  });
  await put(house, '/objectives', { name: 'shop', group: 'shop', target: 99.9 });
  await put(house, '/heartbeats', { name: 'backup', period_s: 86_400 });
  await put(house, '/alerts/silences', {
    matchers: [{ name: 'rule', value: 'nothing' }],
    duration: '1h',
    reason: 'planned',
  });
  await put(house, '/monitor/panels', {
    dashboard_uid: 'mine',
    title: 'Processor',
    type: 'timeseries',
    query: 'node_cpu_usage_percent',
  });
  const total = async (path: string): Promise<number> =>
    ((await (await house.fetch(`/api/v1${path}`)).json()) as { total: number }).total;
  for (
    const deadline = Date.now() + 60_000;
    (await total('/devices')) < hosts || (await total('/alerts/incidents')) === 0;
    await pause(100)
  ) {
    assert.ok(Date.now() < deadline, 'the hosts and the incident are there within 60 s');
  }
}
