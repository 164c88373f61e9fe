import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';
import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import type { Notice } from 'svc/contracts/notify';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { databaseName } from '../../../core/storage/index.ts';
import { HandClock, minute } from './engine-house.ts';

interface Alerting {
  readonly house: TestHost;
  readonly clock: HandClock;
  readonly notices: Notice[];
  /** Writes the sample of each second step, then lets the evaluator look. */
  pass(
    ms: number,
    samples?: () => readonly { labels: Record<string, string>; value: number }[],
  ): Promise<void>;
}

/** Starts a host with the real metrics store, in which time stands still until moved. */
async function alerting(
  t: TestContext,
  clock = new HandClock(),
  more: readonly string[] = [],
): Promise<Alerting> {
  const notices: Notice[] = [];
  const dispatcher = {
    // Rules that come with the product fire, too.
    accept: async (...given: readonly Notice[]) =>
      void notices.push(...given.filter(({ incident }) => incident.rule_key.startsWith('test_'))),
    preview: async () => [],
    unknown: async () => [],
    refusing: async () => [],
  };
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'alert', ...more],
    clock,
    services: { 'notify.dispatcher': dispatcher },
  });
  useNoLeaks(t, house);
  return {
    house,
    clock,
    notices,
    async pass(ms, samples = () => []) {
      const evaluator = house.service(AlertEvaluator);
      for (let passed = 0; passed < ms; passed += 10_000) {
        clock.advance(10_000);
        const rows = samples().map((sample) => ({ ...sample, time: clock.now() }));
        await house.service(MetricsIngest).write(rows);
        await evaluator.tick();
      }
    },
  };
}

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

test('a rule over the real metrics store fires, is acknowledged, clears and fires again, as its routes show', async (t) => {
  const { house, notices, pass } = await alerting(t);
  const rule = await house.json('/api/v1/alert-rules', {
    ...post({
      rule_key: 'test_cpu',
      name: 'CPU is hot',
      kind: 'metric_threshold',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ metric: 'node_cpu_usage_percent', operator: '>', threshold: 90, for: '1m' }],
      labels: { team: 'infra' },
      annotations: { summary: 'CPU at {{ $value }} on {{ $labels.device_id }}' },
    }),
  });
  const cpu = (value: number) => () => [
    { labels: { __name__: 'node_cpu_usage_percent', device_id: '7' }, value },
  ];
  await pass(minute, cpu(95));
  assert.equal((await house.json('/api/v1/alerts/incidents?rule=test_cpu')).total, 0);
  await pass(2 * minute, cpu(95));
  const { items } = await house.json('/api/v1/alerts/incidents?rule=test_cpu');
  assert.equal(items.length, 1);
  const [incident] = items;
  assert.deepEqual(
    [
      incident.status,
      incident.summary,
      incident.dedupe_key,
      incident.value,
      incident.threshold,
      incident.labels.team,
      incident.rule_id,
    ],
    ['open', 'CPU at 95 on 7', 'test_cpu:host:7', 95, 90, 'infra', rule.id],
  );
  const path = `/api/v1/alerts/incidents/${incident.id}`;
  await house.json(`${path}/ack`, post({ note: 'on it' }));
  await house.json(`${path}/ack`, post({}));
  await pass(3 * minute, cpu(20));
  await pass(15 * minute, cpu(97));
  const events = await house.json(`${path}/events?order=asc`);
  assert.deepEqual(
    events.items.map(({ type }: { type: string }) => type),
    ['firing', 'acknowledged', 'resolved', 'reopened', 'firing', 'repeat_suppressed'],
  );
  for (let waited = 0; notices.length < 4 && waited < 5_000; waited += 20) {
    await pause(20);
  }
  assert.deepEqual(
    notices.map(({ kind, fire_seq }) => [kind, fire_seq]),
    [
      ['firing', 1],
      ['reminder', 1],
      ['resolved', 1],
      ['firing', 2],
    ],
  );
  const info = await house.json('/api/v1/alerts/runtime-info');
  assert.deepEqual(
    [info.interval_seconds, info.cooldown_seconds, info.last_cycle.firing >= 1, info.failing],
    [30, 600, true, []],
  );
});

test('what a host measured of itself before it went away raises nothing afterwards', async (t) => {
  const { house, pass } = await alerting(t);
  await house.json('/api/v1/alert-rules', {
    ...post({
      rule_key: 'test_cpu',
      name: 'CPU is hot',
      kind: 'metric_threshold',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [
        {
          metric: 'node_cpu_usage_percent',
          operator: '>',
          threshold: 90,
          window: '5m',
          aggregator: 'avg',
          for: '2m',
        },
      ],
    }),
  });
  const of = (device: string, value: number, online: number) => [
    ...(online === 1
      ? [{ labels: { __name__: 'node_cpu_usage_percent', device_id: device }, value }]
      : []),
    { labels: { __name__: 'svc_host_online', device_id: device, store: 'prod' }, value: online },
  ];
  await pass(minute, () => [...of('7', 95, 1), ...of('8', 95, 1)]);
  await pass(3 * minute, () => [...of('7', 95, 0), ...of('8', 95, 1)]);
  const fired = async (): Promise<string[]> =>
    (await house.json('/api/v1/alerts/incidents?rule=test_cpu')).items.map(
      ({ dedupe_key: key }: { dedupe_key: string }) => key,
    );
  assert.deepEqual(await fired(), ['test_cpu:host:8']);
  // What fires when its host goes away goes on: whether it is over is not known.
  await pass(2 * minute, () => [...of('7', 95, 1), ...of('8', 95, 0)]);
  const { items } = await house.json('/api/v1/alerts/incidents?rule=test_cpu&status=active');
  assert.equal(items.length, 1);
});

const hotRule = (key: string, more: object = {}): RequestInit =>
  post({
    rule_key: key,
    name: key,
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
    severity: 'warning',
    conditions: [{ expr: 'test_heat > 1' }],
    ...more,
  });
const heat =
  (...devices: readonly string[]) =>
  () =>
    devices.map((device) => ({ labels: { __name__: 'test_heat', device_id: device }, value: 5 }));

test('an evaluator that cannot store what it finds is named by /readyz and runtime-info until it can', async (t) => {
  const { house, pass } = await alerting(t, new HandClock(), ['host']);
  await house.json('/api/v1/alert-rules', hotRule('test_hot'));
  const database = new Database(join(house.dataDir, databaseName));
  t.after(() => database.close());
  database.exec(
    "create trigger broken before insert on alert_instances begin select raise(abort, 'the table is broken'); end",
  );
  await pass(2 * minute, heat('1'));
  const unready = await house.fetch('/readyz');
  const body = (await unready.json()) as { details: { message: string }[] };
  assert.equal(unready.status, 503);
  assert.match(JSON.stringify(body.details), /storing the results of the alert evaluator/);
  assert.doesNotMatch(JSON.stringify(body.details), /the table is broken/);
  assert.match(
    JSON.stringify(await house.json('/api/v1/health')),
    /storing the results of the alert evaluator.*test_hot failed to store its results: .*the table is broken/,
  );
  const failing = async (): Promise<
    readonly { rule_key: string; error: string; failures: number }[]
  > => (await house.json('/api/v1/alerts/runtime-info')).failing;
  const [first] = await failing();
  assert.deepEqual(
    [first!.rule_key, first!.failures >= 3, /the table is broken/.test(first!.error)],
    ['test_hot', true, true],
  );
  database.exec('drop trigger broken');
  await pass(minute, heat('1'));
  assert.deepEqual(await failing(), []);
  assert.equal(
    (await house.json('/api/v1/alerts/incidents?rule=test_hot')).total,
    1,
    'what was found is found again',
  );
  assert.equal((await house.fetch('/readyz')).status, 200);
});

test('incidents are listed by status, severity, scope, rule and words, page by page, and silenced one by one or by label', async (t) => {
  const { house, pass, notices, clock } = await alerting(t, new HandClock(), ['audit']);
  await house.json('/api/v1/alert-rules', hotRule('test_warm'));
  await house.json(
    '/api/v1/alert-rules',
    hotRule('test_hot', {
      severity: 'critical',
      labels: { team: 'infra' },
      conditions: [{ expr: 'test_heat > 2' }],
    }),
  );
  const silence = await house.json(
    '/api/v1/alerts/silences',
    post({ matchers: [{ name: 'team', value: 'infra' }], duration: '1h', reason: 'moving' }),
  );
  assert.deepEqual(
    [silence.state, silence.in_force, silence.matchers],
    ['active', true, [{ name: 'team', op: '=', value: 'infra' }]],
  );
  await pass(2 * minute, heat('1', '2', '3'));
  const count = async (query: string): Promise<number> =>
    (await house.json(`/api/v1/alerts/incidents?q=test_&${query}`)).total;
  assert.deepEqual(
    [
      await count('severity=critical'),
      await count('scope=host'),
      await count('scope=host:2'),
      await count('rule=test_warm'),
      await count('status=active'),
    ],
    [3, 6, 2, 3, 6],
  );
  const first = await house.json('/api/v1/alerts/incidents?q=test_&limit=4');
  const rest = await house.json(
    `/api/v1/alerts/incidents?q=test_&limit=4&cursor=${encodeURIComponent(first.next_cursor)}`,
  );
  const ids = [...first.items, ...rest.items].map(({ id }: { id: number }) => id);
  assert.deepEqual([new Set(ids).size, rest.next_cursor], [6, '']);
  const path = `/api/v1/alerts/incidents/${first.items[0].id}`;
  const silenced = await house.json(`${path}/silence`, post({ hours: 0.5 }));
  assert.deepEqual(
    [silenced.status, silenced.silenced_until],
    ['silenced', new Date(clock.now() + 30 * minute).toISOString()],
  );
  const longer = await house.json(`${path}/silence`, post({ hours: 2, reason: 'new disk' }));
  assert.deepEqual(
    [longer.status, longer.silenced_until],
    ['silenced', new Date(clock.now() + 120 * minute).toISOString()],
    'extended',
  );
  assert.equal(
    (await house.fetch(`${path}/silence`, post({ hours: 1 }))).status,
    409,
    'not shortened',
  );
  const { items: trail } = await house.json(
    '/api/v1/admin/audit-logs?action=incident:silence&status=success',
  );
  assert.deepEqual(
    trail.map(({ changes }: { changes: { after: unknown } }) => changes.after),
    [
      {
        status: 'silenced',
        until: longer.silenced_until,
        extended_from: silenced.silenced_until,
        reason: 'new disk',
      },
      { status: 'silenced', until: silenced.silenced_until },
    ],
  );
  assert.equal((await house.json(`${path}/silence`, { method: 'DELETE' })).status, 'open');
  assert.equal((await house.fetch(`${path}/silence`, post({ hours: 721 }))).status, 400);
  assert.equal(
    (await house.fetch('/api/v1/alerts/incidents/999999/ack', { method: 'POST' })).status,
    404,
  );
  assert.equal(
    notices.filter(({ incident }) => incident.rule_key === 'test_hot').length,
    0,
    'its team is silenced',
  );
  await house.fetch(`/api/v1/alerts/silences/${silence.id}`, { method: 'DELETE' });
  assert.deepEqual(
    (await house.json('/api/v1/alerts/silences?state=expired')).items.map(
      ({ id }: { id: number }) => id,
    ),
    [silence.id],
  );
  await pass(20 * minute, heat('1', '2', '3'));
  for (
    let waited = 0;
    notices.filter(({ incident }) => incident.rule_key === 'test_hot').length < 3 && waited < 5_000;
    waited += 20
  ) {
    await pause(20);
  }
  assert.equal(notices.filter(({ incident }) => incident.rule_key === 'test_hot').length, 3);
});

test('a silence is previewed, edited and says whom it mutes; one that recurs keeps to the clocks of its zone when they change', async (t) => {
  // Clocks in Berlin go back in the night of the next day.
  const { house, pass, clock } = await alerting(t, new HandClock(Date.UTC(2026, 9, 24)));
  await house.json('/api/v1/alert-rules', hotRule('test_warm'));
  await pass(2 * minute, heat('1', '2', '3'));
  const silences = '/api/v1/alerts/silences';
  const draft = {
    matchers: [
      { name: 'device_id', op: '=~', value: '1|2' },
      { name: 'rule', op: '=', value: 'test_warm' },
    ],
    duration: '20d',
    reason: 'moving',
  };
  const preview = await house.json(`${silences}/preview`, post(draft));
  assert.match(preview.summary, /^mutes 2 of \d+ now, 2 of \d+ in the last 24 h$/);
  const { id, name } = await house.json(silences, post({ ...draft, name: 'moving house' }));
  const twice = await house.fetch(silences, post({ ...draft, name }));
  assert.deepEqual(
    [twice.status, ((await twice.json()) as { message: string }).message],
    [
      409,
      `A silence named "moving house" already exists: choose another name, or update the existing one.`,
    ],
  );
  const muted = async (): Promise<readonly string[]> =>
    (await house.json(`${silences}/${id}/muted`)).items.map(
      ({ labels }: { labels: Record<string, string> }) => labels['device_id'],
    );
  assert.deepEqual(await muted(), ['1', '2']);
  const recurrence = { days: [], start: '04:00', duration: '1h', time_zone: 'Europe/Berlin' };
  const matchers = [draft.matchers[1]!, { name: 'device_id', op: '=', value: '3' }];
  const edited = await house.json(`${silences}/${id}`, {
    ...post({ ...draft, matchers, recurrence }),
    method: 'PUT',
  });
  assert.deepEqual(
    [edited.recurrence.time_zone, edited.in_force, edited.name],
    ['Europe/Berlin', false, 'moving house'],
  );
  assert.match(
    (await house.json(silences, post(draft))).name,
    /^silence-\d+-[0-9a-z]+$/,
    'one that was given no name has one all the same',
  );
  assert.deepEqual(await muted(), [], 'outside of its hours');
  const hours: string[] = [];
  for (let passed = 0; passed < 60; passed++) {
    clock.advance(60 * minute);
    hours.push(
      ...((await house.json(`${silences}/${id}`)).in_force
        ? [new Date(clock.now()).toISOString().slice(8, 13)]
        : []),
    );
  }
  assert.deepEqual(hours, ['24T02', '25T03', '26T03']);
});

test('a reload in the middle of it all loses nothing and fires nothing again', async (t) => {
  const { house, pass } = await alerting(t);
  await house.json('/api/v1/alert-rules', hotRule('test_warm'));
  await pass(2 * minute, heat('1'));
  await house.reload('alert');
  const evaluator = house.service(AlertEvaluator);
  assert.equal((await house.json('/api/v1/alerts/incidents?q=test_&status=open')).total, 1);
  await pass(minute, heat('1'));
  await evaluator.tick();
  const [incident] = (await house.json('/api/v1/alerts/incidents?q=test_')).items;
  assert.equal(incident.event_count, 1);
});

test('a rule whose store is gone says so in runtime-info, and keeps its state until it is back', async (t) => {
  const { house, pass, clock } = await alerting(t);
  const rule = await house.json('/api/v1/alert-rules', hotRule('test_warm'));
  await pass(2 * minute, () => [...heat('1')(), { labels: { __name__: 'test_heat' }, value: 5 }]);
  const { warnings } = await house.json('/api/v1/alerts/runtime-info');
  assert.deepEqual(warnings, [
    {
      rule_id: rule.id,
      rule_key: 'test_warm',
      message:
        '1 series have no device_id and raise no incidents, because the scope of the rule is host',
    },
  ]);
  await house.host.disable('metricsdb');
  await house.settled();
  const evaluator = house.service(AlertEvaluator);
  const clockOn = async (): Promise<void> => {
    for (let passed = 0; passed < 3 * minute; passed += 10_000) {
      clock.advance(10_000);
      await evaluator.tick();
    }
  };
  await clockOn();
  const info = await house.json('/api/v1/alerts/runtime-info');
  const [failing] = info.failing.filter(({ rule_id: id }: { rule_id: number }) => id === rule.id);
  assert.match(failing.error, /The metrics store is not running/);
  assert.ok(
    failing.failures >= 3 &&
      info.last_cycle.rules_failed > 0 &&
      info.back_ends.some(
        ({ name, ok }: { name: string; ok: boolean }) => name === 'metrics' && !ok,
      ),
  );
  const states = async (): Promise<string[]> =>
    (await house.json('/api/v1/alerts/incidents')).items.map(
      ({ rule: key, status }: Record<string, string>) => `${key} ${status}`,
    );
  assert.deepEqual((await states()).sort(), ['alert_back_end_down open', 'test_warm open']);
  await house.host.enable('metricsdb');
  await house.settled();
  await pass(6 * minute, heat('1'));
  assert.deepEqual((await states()).sort(), ['alert_back_end_down resolved', 'test_warm open']);
  assert.deepEqual((await house.json('/api/v1/alerts/runtime-info')).failing, []);
});

test('several questions to the metrics store are answered together, each error in the place of its answer', async (t) => {
  const { house, pass, clock } = await alerting(t);
  await pass(10_000, heat('1', '2'));
  const answers = await house.service(MetricsQueries).instants!(
    ['test_heat > 1', 'test_heat > 9', 'rate(', 'count(test_heat)'],
    clock.now(),
  );
  const shown = answers.map((answer) =>
    answer instanceof Error ? 'error' : answer.type === 'vector' ? [...answer.values] : answer.type,
  );
  assert.deepEqual(shown, [[5, 5], [], 'error', [2]]);
});

test('rules, alerts and targets are shown as Prometheus shows them', async (t) => {
  const { house, clock, pass } = await alerting(t);
  const rule = {
    kind: 'metric_threshold',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
    severity: 'warning',
  };
  const conditions = [
    { metric: 'node_cpu_usage_percent', operator: '>', threshold: 90, for: '1m' },
  ];
  await house.json('/api/v1/alert-rules', {
    ...post({
      ...rule,
      rule_key: 'test_cpu',
      name: 'CPU is hot',
      conditions,
      labels: { team: 'infra' },
      annotations: { summary: 'CPU at {{ $value }}' },
    }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any
  const ask = async (path: string): Promise<any> =>
    (await house.json(`/prometheus/api/v1/${path}`)).data;
  // oxlint-disable-next-line typescript/no-explicit-any
  const shown = async (more = ''): Promise<any> =>
    (await ask(`rules?rule_name[]=CPU+is+hot${more}`)).groups[0].rules[0];
  assert.deepEqual(
    [
      (await shown()).health,
      (await shown()).lastEvaluation,
      (await shown()).state,
      (await shown()).alerts,
    ],
    ['unknown', '0001-01-01T00:00:00Z', 'inactive', []],
  );

  const began = clock.now();
  const series = { __name__: 'node_cpu_usage_percent', device_id: '7' };
  const hot = () => [
    { labels: series, value: 95 },
    { labels: { __name__: 'up', job: 'node', instance: 'a:9100' }, value: 1 },
    { labels: { __name__: 'up', job: 'node', instance: 'b:9100' }, value: 0 },
  ];
  await pass(minute, hot);
  assert.deepEqual(
    [(await shown()).state, (await shown()).alerts[0].state],
    ['pending', 'pending'],
  );
  await pass(2 * minute, hot);
  const firing = await shown();
  assert.deepEqual(
    [firing.type, firing.duration, firing.health, firing.state, firing.labels.team],
    ['alerting', 60, 'ok', 'firing', 'infra'],
  );
  assert.match(firing.query, /node_cpu_usage_percent.* > 90/);
  const [alert] = firing.alerts;
  assert.deepEqual(
    [alert.state, alert.value, alert.annotations.summary],
    ['firing', '9.5e+01', 'CPU at 95'],
  );
  assert.deepEqual(
    [alert.labels.alertname, alert.labels.device_id, alert.labels.__name__],
    ['CPU is hot', '7', undefined],
  );
  assert.ok(Date.parse(alert.activeAt) > began && Date.parse(alert.activeAt) <= began + minute);
  assert.ok(
    (await ask('alerts')).alerts.some(
      ({ labels }: { labels: Record<string, string> }) => labels['rule_key'] === 'test_cpu',
    ),
  );
  assert.deepEqual(
    [(await shown('&exclude_alerts=true')).alerts, (await ask('rules?type=record')).groups],
    [[], []],
  );
  assert.equal((await house.fetch('/prometheus/api/v1/rules?type=both')).status, 400);
  const targets = (await ask('targets')).activeTargets as readonly {
    labels: Record<string, string>;
    health: string;
    scrapePool: string;
  }[];
  const shownTargets = targets.map(
    ({ labels, health, scrapePool }) => `${scrapePool} ${labels['instance']} ${health}`,
  );
  assert.deepEqual(
    shownTargets.toSorted((a, b) => (a < b ? -1 : 1)),
    ['node a:9100 up', 'node b:9100 down'],
  );
  assert.deepEqual((await ask('targets?state=dropped')).activeTargets, []);
});
