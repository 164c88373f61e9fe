import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { peer } from '../../peers.ts';
import { settled } from '../imbridge/office.ts';
import { listening, sourceHouse } from './house.ts';

/**
 * Starts Debian's Alertmanager, which re-sends every two seconds; returns how to give it alerts.
 */
async function alertmanager(
  t: TestContext,
  program: string,
  url: string,
): Promise<(alerts: readonly object[]) => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-alertmanager-'));
  const probe = createServer();
  const port = await listening(probe);
  await new Promise((resolve) => probe.close(resolve));
  const config = {
    route: {
      receiver: 'svc',
      group_by: ['alertname'],
      group_wait: '0s',
      group_interval: '1s',
      repeat_interval: '2s',
    },
    receivers: [{ name: 'svc', webhook_configs: [{ url, send_resolved: true }] }],
  };
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${port}`;
  const args = [
    `--config.file=${join(folder, 'config.yml')}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
  ];
  const child = spawn(program, args, { stdio: 'ignore' });
  t.after(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const isReady = (): Promise<boolean> =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await settled(isReady);
  return async (alerts) => {
    const answer = await fetch(`http://${address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    assert.equal(answer.status, 200, await answer.text());
  };
}

test(
  'alerts of a real Alertmanager are incidents: told once, in hand, silenced, and over when it says so',
  { timeout: 90_000 },
  async (t) => {
    const program = peer(t, 'prometheus-alertmanager');
    if (program === undefined) {
      return;
    }
    const { house, sent, make, incidents, timeline } = await sourceHouse(t);
    const { url } = await make({ key: 'prod' });
    const tell = await alertmanager(t, program, url);
    const hot = (instance: string, more: object = {}) => ({
      labels: { alertname: 'TooHot', instance, severity: 'page' },
      annotations: {
        summary: `${instance} is too hot`,
        runbook_url: 'https://runbooks.example/hot',
      },
      ...more,
    });
    await tell([hot('db-1:9100'), hot('db-2:9100')]);
    await settled(async () => (await incidents()).length === 2);
    await settled(() => sent.length === 2);
    const [first, second] = (await incidents()).toSorted((a, b) => a.id - b.id);
    assert.deepEqual(
      [
        first.rule,
        first.rule_name,
        first.severity,
        first.status,
        first.scope_type,
        first.labels.instance,
        first.summary,
        first.runbook_url,
      ],
      [
        'prod/TooHot',
        'TooHot',
        'critical',
        'open',
        'global',
        'db-1:9100',
        'db-1:9100 is too hot',
        'https://runbooks.example/hot',
      ],
    );
    assert.match(first.annotations.generator_url ?? '', /^http|^$/);

    // It repeats itself every two seconds: the counters say that it has, the timelines that nothing came of it.
    const told = async (): Promise<number> => {
      const text = await (await house.fetch('/metrics')).text();
      return Number(/alerts_total\{[^}]*result="firing"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    await settled(async () => (await told()) >= 6, told);
    assert.deepEqual(await timeline(first.id), ['firing', 'notification_sent']);
    assert.equal(sent.length, 2);

    await house.json(`/api/v1/alerts/incidents/${first.id}/ack`, { method: 'POST', body: '{}' });
    await house.json(`/api/v1/alerts/incidents/${second.id}/silence`, {
      method: 'POST',
      body: JSON.stringify({ hours: 1 }),
    });
    const before = await told();
    await settled(async () => (await told()) >= before + 4);
    assert.deepEqual(
      (await incidents())
        .map(({ status }) => status as string)
        .toSorted((a, b) => a.localeCompare(b)),
      ['acknowledged', 'silenced'],
      'what is told again takes nothing out of anybody’s hand',
    );
    const endsAt = new Date(Date.now() - 1_000).toISOString();
    await tell([hot('db-1:9100', { endsAt }), hot('db-2:9100', { endsAt })]);
    await settled(async () => (await incidents()).every(({ status }) => status === 'resolved'));
    assert.deepEqual(
      (await timeline(first.id)).filter((type) => !type.startsWith('notification')),
      ['firing', 'acknowledged', 'resolved'],
    );
    await settled(
      () => sent.some(({ event, incident }) => event === 'resolved' && incident.id === first.id),
      () => sent.map(({ event }) => event),
    );
  },
);
