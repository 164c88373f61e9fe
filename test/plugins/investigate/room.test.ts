import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { NoticeSource } from 'svc/contracts/notify';
import { SvcError } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import type { Report } from '../../../plugins/investigate/report/markdown.ts';
import { HandClock } from '../alert/engine-house.ts';
import { type Fault, hot, type InvestigateHouse, investigateHouse, post } from './house.ts';
import { pretendDevices } from './pretend-devices.ts';
import { changedOnPurpose } from '../../on-purpose.ts';
import { storedIn } from '../../kit/stored.ts';

const cpuHot = { rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] };

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    assert.ok(tries < 10_000, 'what was waited for has not come');
    await pause(20);
  }
}

test('a report is asked again, replayed, judged; another one is started by a person and keeps the first', async (t) => {
  const house = await investigateHouse(t, {
    environment: { SVC_INVESTIGATE_MOST_PER_PERSON: '2' },
  });
  await house.rule(cpuHot);
  const incident = await house.fired('cpu_hot', hot(3));
  const first = await house.report(incident);
  assert.equal(first.status, 'ready', first.summary);
  const one = `/api/v1/investigations/${first.id}`;

  const others: string[] = [];
  for (const { again, id, query } of first.evidence) {
    const answer = await house.json(again);
    assert.equal(answer.error, null, id);
    others.push(...(answer.same ? [] : [`${id} ${query}`]));
  }
  assert.deepEqual(others, []);
  assert.equal((await house.fetch(`${one}/evidence/E999/again`)).status, 404);

  const replay = await house.json(`${one}/replay`);
  assert.deepEqual([replay.same, replay.differences], [true, []]);
  assert.match(await (await house.fetch(`${one}/markdown`)).text(), /^# Incident \d+: /);

  const judged: Report = await house.json(
    `${one}/feedback`,
    post({ verdict: 'partly', true_cause: 'a batch job' }),
  );
  await house.json(
    `${one}/feedback`,
    post({ verdict: 'right', true_cause: 'a batch job on host-3' }),
  );
  assert.equal(judged.feedback.length, 1);
  assert.match(
    await (await house.fetch(`${one}/markdown`)).text(),
    /\n## What people say of this report\n\n- \*\*right\*\*, says .*; in truth a batch job on host-3\n/,
  );
  assert.deepEqual(
    (await house.json(one)).feedback.map(({ verdict, true_cause }: Report['feedback'][number]) => [
      verdict,
      true_cause,
    ]),
    [['right', 'a batch job on host-3']],
  );
  const calibration = await house.json('/api/v1/investigations/calibration');
  assert.deepEqual([calibration.labelled, calibration.calibrated], [1, false]);

  const begun = await house.fetch(`/api/v1/alerts/incidents/${incident}/investigation`, post());
  assert.equal(begun.status, 202);
  const second = await house.report(
    incident,
    ({ id, status }) => id !== first.id && status === 'ready',
  );
  assert.equal(second.started_by, 'person');
  assert.equal((await house.json(`/api/v1/investigations?incident_id=${incident}`)).total, 2);
  assert.equal((await house.fetch('/api/v1/alerts/incidents/999/investigation')).status, 404);
  assert.equal(
    (await house.fetch('/api/v1/alerts/incidents/999/investigation', post())).status,
    404,
  );

  const ask = () => house.fetch(`/api/v1/alerts/incidents/${incident}/investigation`, post());
  assert.equal((await ask()).status, 202);
  await house.report(incident, ({ id, status }) => id !== second.id && status === 'ready');
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '600']);
  house.clock.advance(600_000);
  assert.equal((await ask()).status, 202, 'after ten minutes');
});

test('a report is found among the documents, where there is a room for those', async (t) => {
  const house = await investigateHouse(t, {
    plugins: ['metricsdb', 'alert', 'topology', 'changes', 'investigate', 'knowledge'],
  });
  await house.rule(cpuHot);
  const incident = await house.fired('cpu_hot', hot(3));
  const { id } = await house.report(incident);
  const path = `reports/incident-${incident}-report-${id}.md`;
  await until(async () => {
    const { items }: { items: { path: string }[] } = await house.json(
      '/api/v1/knowledge/search?q=host-3%20processor%20cpu&limit=20',
    );
    return items.find((item) => item.path === path);
  });
  const { items } = await house.json<{ items: { id: number; title: string; tags: string[] }[] }>(
    `/api/v1/knowledge/docs?path=${path}`,
  );
  assert.match(items[0]!.title, new RegExp(`^Incident ${incident}: `));
  assert.deepEqual(items[0]!.tags, ['report', 'cpu_hot']);
  const { content } = await house.json<{ content: string }>(
    `/api/v1/knowledge/docs/${items[0]!.id}`,
  );
  assert.equal(content, await (await house.fetch(`/api/v1/investigations/${id}/markdown`)).text());
});

test('what was not seen is named and nothing fails: a store that throws, one that hangs, rooms that are away', async (t) => {
  const broken = {
    'logs.queries': {
      patterns: async () =>
        await Promise.reject(new SvcError('unavailable', 'the disk of the log store is full')),
      lines: () => new Promise(() => undefined),
    },
    'traces.queries': {
      search: async () =>
        await Promise.reject(new SvcError('upstream_error', 'the trace store does not answer')),
    },
  };
  const house = await investigateHouse(t, { services: broken });
  await house.rule(cpuHot);
  const incident = await house.fired('cpu_hot', hot(2));
  const { status, root_cause: cause, not_seen: unseen } = await house.report(incident);
  assert.deepEqual([status, cause?.node.id], ['ready', 'device:2']);
  assert.match(unseen.map(({ text }) => text).join('\n'), /the disk of the log store is full/);
  assert.match(unseen.map(({ text }) => text).join('\n'), /did not respond within/);
});

test('an incident that burns on without a cause is looked at twice more, and what is seen then is told', async (t) => {
  const house = await investigateHouse(t);
  await house.rule({
    rule_key: 'found_later',
    conditions: [{ expr: 'node_load1{device_id="3"} > 0' }],
  });
  await house.rule({
    rule_key: 'never_found',
    conditions: [{ expr: 'node_load1{device_id="4"} > 0' }],
  });
  const quiet: Fault = (_device, _at, usual) => usual;
  /** Waits until none is running: meanwhile the clock must not run past its deadlines. */
  const idle = () => {
    let looks = 0;
    return until(async () => {
      looks += 1;
      if (looks % 400 === 0) {
        // Only one that was interrupted takes so long: it goes on when its lease is over, by this clock.
        await house.pass(60_000, hot(3), 60_000);
      }
      const { items } = await house.json<{ items: { status: string }[] }>(
        '/api/v1/investigations?limit=20',
      );
      return items.every(({ status }) => status !== 'pending' && status !== 'running')
        ? true
        : undefined;
    });
  };
  const later = await house.fired('found_later', quiet);
  await house.report(later);
  await idle();
  const never = await house.fired('never_found', quiet);
  for (const incident of [later, never]) {
    const { verdict, look } = await house.report(incident);
    assert.deepEqual([verdict, look], ['no_anomaly', 1]);
  }
  const looksAt = async (incident: number) =>
    (await house.json<{ total: number }>(`/api/v1/investigations?incident_id=${incident}`)).total;
  const toldOf = async (incident: number): Promise<{ message: string }[]> =>
    (
      await house.json<{ items: { message: string }[] }>(
        `/api/v1/alerts/incidents/${incident}/events?type=ai_initial_diagnosis`,
      )
    ).items;
  /** Waits in real time: a start of the plugin looks for what is due, as timers do. */
  const passed = async (ms: number) => {
    await idle();
    await house.pass(ms, hot(3), 60_000);
    await idle();
    await house.reload('investigate');
  };
  await passed(60_000);
  assert.equal(await looksAt(later), 1);
  await passed(120_000);
  const second = await house.report(later, ({ status, look }) => status === 'ready' && look === 2);
  assert.deepEqual(
    [second.verdict === 'no_anomaly', second.root_cause?.node.id, second.started_by],
    [false, 'device:3', 'alert'],
  );
  assert.match(second.markdown, /\nSecond look\. Without a model/);
  await until(async () => ((await toldOf(later)).length === 2 ? true : undefined));
  assert.equal((await house.service(NoticeSource).background(later))?.diagnosis, second.summary);
  assert.ok((await toldOf(later)).some(({ message }) => message.startsWith(second.summary)));

  await house.report(never, ({ status, look }) => status === 'ready' && look === 2);
  for (let minutes = 0; minutes < 24; minutes += 8) {
    await passed(480_000);
    await house.report(never);
    await house.report(later);
  }
  assert.deepEqual(
    [await looksAt(later), await looksAt(never), (await house.report(never)).look],
    [2, 3, 3],
  );
  assert.equal((await toldOf(never)).length, 1);
});

test('a cause that is only suspected is looked at again where a source was too slow, and not where all was seen', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-investigate-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new HandClock();
  const first = await investigateHouse(t, { dataDir, clock });
  await first.rule({ rule_key: 'load', conditions: [{ expr: 'node_load1{device_id="3"} > 0' }] });
  const incident = await first.fired('load', (_device, _at, usual) => usual);
  const { id } = await first.report(incident);
  await first.stop();
  /**
   * Returns the number of investigations of an incident, two minutes after a start before which the
   * report lacked a source for this reason.
   */
  const looks = async (reason: string): Promise<number> => {
    const database = storedIn(dataDir);
    const report = {
      not_seen: [{ kind: 'trace', node: null, reason, text: 'traces did not answer' }],
    };
    database
      .prepare(
        "update investigate_runs set verdict = 'suspected', report = json_patch(report, ?) where id = ?",
      )
      .run(JSON.stringify(report), id);
    database.close();
    changedOnPurpose(dataDir);
    clock.advance(120_000);
    const house = await startTestHost(t, {
      plugins: ['metricsdb', 'alert', 'topology', 'changes', 'investigate'],
      dataDir,
      clock,
      services: { 'device.directory': pretendDevices(5).directory },
    });
    await pause(500);
    const { total } = await house.json<{ total: number }>(
      `/api/v1/investigations?incident_id=${incident}`,
    );
    await house.stop();
    return total;
  };
  assert.equal(await looks('absent'), 1);
  assert.equal(await looks('timeout'), 2);
});

test('a storm of 200 incidents is a handful of investigations, which the others name', async (t) => {
  const house = await investigateHouse(t, { hosts: 40, hours: 1 });
  for (let rule = 1; rule <= 5; rule += 1) {
    await house.rule({ ...cpuHot, rule_key: `storm_${rule}` });
  }
  const all: Fault = (_device, _at, usual) => ({ ...usual, node_cpu_usage_percent: 99 });
  await house.fired('storm_5', all);
  await house.pass(30_000, all);
  const storm = await until(async () => {
    const { items, total } = await house.json<{
      items: { rule: string; status: string; id: number; incident_id: number }[];
      total: number;
    }>('/api/v1/investigations?limit=200');
    return total >= 200 && items.every(({ status }) => status !== 'pending' && status !== 'running')
      ? items
      : undefined;
  });
  const looked = storm.filter(({ status }) => status === 'ready');
  assert.ok(looked.length >= 5 && looked.length <= 15, `${looked.length} were investigated`);
  const skipped = storm.find(({ status, rule }) => status === 'skipped' && rule === 'storm_1')!;
  const report: Report = await house.json(`/api/v1/investigations/${skipped.id}`);
  assert.match(
    report.summary,
    /^Not investigated automatically, because 3 incidents of this rule were within the hour; see the investigations of incident \d+, \d+, \d+\.$/,
  );
  assert.ok(
    report.related_incidents.some(({ investigation_id: id }) =>
      looked.some((one) => one.id === id),
    ),
  );
  const { items } = await house.json(
    `/api/v1/alerts/incidents/${skipped.incident_id}/events?type=ai_initial_diagnosis`,
  );
  assert.match(items[0].message, /see the investigations of incident/);
  const other: Report = await house.json(`/api/v1/investigations/${looked[0]!.id}`);
  assert.ok(other.related_incidents.length > 0);
});

test('an investigation that was interrupted by the end of svc is begun again, and ends', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-investigate-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const asked = new Set<string>();
  const hanging = {
    'topology.graph': {
      neighbourhood: (): Promise<never> => (asked.add('topology'), new Promise(() => undefined)),
    },
  };
  const plugins = ['metricsdb', 'alert', 'changes', 'investigate'];
  const before: InvestigateHouse = await investigateHouse(t, {
    plugins,
    dataDir,
    services: hanging,
    leaky: true,
  });
  await before.rule(cpuHot);
  const incident = await before.fired('cpu_hot', hot(1));
  await until(async () => (asked.size > 0 ? true : undefined));
  assert.equal(
    (await before.json(`/api/v1/alerts/incidents/${incident}/investigation`)).status,
    'running',
  );
  await before.stop();

  const after = await investigateHouse(t, {
    plugins,
    dataDir,
    hours: 0,
    leaky: true,
    clock: before.clock,
  });
  const report = await after.report(incident);
  assert.deepEqual([report.status, report.root_cause?.node.id], ['ready', 'device:1']);
});
