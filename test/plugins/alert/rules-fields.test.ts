import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { unitOf } from '../../../plugins/alert/rule/unit.ts';
import { draft, rows, rulesHouse, StoppedClock } from './rules-house.ts';

const minute = 60_000;

test('labels, annotations, runbook, severity, threshold and name of a rule are those of its incident', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest, evaluator } = await rulesHouse(t, { clock });
  const rule = draft({
    severity: 'critical',
    labels: { team: 'ops', job: 'of the rule' },
    annotations: {
      summary:
        '{{ $labels.device_id }} of {{ $labels.team }} at {{ printf "%.1f" $value }} > {{ $threshold }}',
      link: '{{ $externalURL }}/x',
      broken: '{{ humanize $labels.team }}',
    },
    runbook_url: 'playbook://hosts/cpu-high.md',
    dimensions: ['core'],
  });
  assert.equal((await call('POST', 'alert-rules', rule)).status, 201);
  await evaluator.tick();
  for (let round = 0; round < 4; round++) {
    clock.pass(minute / 2);
    await ingest.write(
      rows('node_cpu_usage_percent', { device_id: '7', core: '0', job: 'node' }, [
        [clock.now(), 97.25],
      ]),
    );
    await evaluator.tick();
  }
  const [incident] = (await call('GET', 'alerts/incidents')).body.items.filter(
    (one: { rule: string }) => one.rule === 'cpu_busy',
  );
  assert.deepEqual(
    [
      incident.rule_name,
      incident.severity,
      incident.runbook_url,
      incident.threshold,
      incident.value,
    ],
    ['CPU is busy', 'critical', 'playbook://hosts/cpu-high.md', 90, 97.25],
  );
  assert.deepEqual(
    [incident.dedupe_key, incident.labels],
    ['cpu_busy:host:7:core=0', { device_id: '7', core: '0', team: 'ops', job: 'of the rule' }],
  );
  assert.equal(incident.annotations.summary, '7 of ops at 97.2 > 90');
  assert.match(incident.annotations.link, /^http:\/\/127\.0\.0\.1:\d+\/x$/);
  assert.match(incident.annotations.broken, /^<error expanding template: /);
});

test('a summary tells a value with as many digits as it takes to read it beside its threshold', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest, evaluator } = await rulesHouse(t, { clock });
  assert.equal((await call('POST', 'alert-rules', draft({}))).status, 201);
  const told = {
    97.777_78: '97.78 %',
    90.004_4: '90.004 %',
    90.000_44: '90.0004 %',
    123_456.78: '123457 %',
    100: '100 %',
  };
  await evaluator.tick();
  for (let round = 0; round < 4; round++) {
    clock.pass(minute / 2);
    for (const [device, value] of Object.keys(told).entries()) {
      await ingest.write(
        rows('node_cpu_usage_percent', { device_id: String(device) }, [
          [clock.now(), Number(value)],
        ]),
      );
    }
    await evaluator.tick();
  }
  const { items } = (await call('GET', 'alerts/incidents?rule=cpu_busy')).body;
  const summaries = Object.entries(told).map(
    (_, device) =>
      items.find((one: { device_id: string }) => one.device_id === String(device))?.summary,
  );
  assert.deepEqual(
    summaries,
    Object.values(told).map(
      (value, device) => `CPU is busy on device ${device}: ${value}, threshold 90 %`,
    ),
  );
});

test('a forecast says when its bound will be reached: in its summary, its annotations, its timeline and its preview', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest, evaluator } = await rulesHouse(t, { clock });
  const condition = { metric: 'free', window: '5m', forecast_for: '20m', below: 100 };
  const rule = draft({
    rule_key: 'filling',
    name: 'It fills up',
    kind: 'metric_forecast',
    conditions: [condition],
    annotations: {
      left: 'full {{ with $eta }}in {{ humanizeDuration . }}{{ else }}some time{{ end }}',
    },
  });
  assert.equal((await call('POST', 'alert-rules', rule)).status, 201);
  // Ten less in each half minute: from 400 to 100 it is a quarter of an hour.
  const began = clock.now();
  for (let round = 0; round < 20; round++) {
    clock.pass(minute / 2);
    await ingest.write(
      rows('free', { device_id: '7' }, [[clock.now(), 610 - (clock.now() - began) / 3_000]]),
    );
    await evaluator.tick();
  }
  const [incident] = (await call('GET', 'alerts/incidents?rule=filling')).body.items;
  const [firing] = (await call('GET', `alerts/incidents/${incident.id}/events?order=asc`)).body
    .items;
  const fullAt = began + 510 * 3_000;
  const near = (time: string): boolean => Math.abs(Date.parse(time) - fullAt) <= minute / 2;
  assert.ok(
    near(firing.data.eta_at),
    `${firing.data.eta_at} is about ${new Date(fullAt).toISOString()}`,
  );
  const minutes = Math.round(
    (Date.parse(firing.data.eta_at) - Date.parse(incident.last_fired_at)) / minute,
  );
  assert.match(
    incident.summary,
    new RegExp(
      `^It fills up on device 7: -?[0-9.]+, threshold 100, reached in ${minutes}m \\(forecast on 2m30s of data or more\\)$`,
    ),
  );
  assert.match(incident.annotations.left, /^full in [12][0-9]m [0-9]+s$/);
  const preview = async (below: number, more: object = {}) =>
    (
      await call('POST', 'alert-rules/preview', {
        ...rule,
        conditions: [{ ...condition, below, ...more }],
        lookback: '5m',
      })
    ).body;
  assert.ok(near((await preview(100)).eta_at));
  assert.equal(
    (await preview(-9_000)).eta_at,
    null,
    'what is not reached within forecast_for has no time',
  );
  const held = await preview(100, { from_value: 150 });
  assert.deepEqual([held.would_fire, held.eta_at], [false, null]);
  assert.match(
    held.warnings.join(),
    /1 series would reach 100 and is held back: a forecast needs 2m30s of data or more and a value of at most 150 \(min_span, from_value\)/,
  );
  assert.deepEqual((await preview(100)).warnings, []);
});

test('a rule cannot pin a channel that is not there, or that would refuse it', async (t) => {
  const dispatcher = {
    unknown: async (ids: readonly number[]) => ids.filter((id) => id > 10),
    refusing: async (ids: readonly number[], { severity }: { readonly severity?: string }) => [
      ...(ids.includes(9) && severity === 'warning'
        ? [{ name: 'pager', reason: 'the channel takes critical and above', disabled: false }]
        : []),
      ...(ids.includes(8)
        ? [{ name: 'night', reason: 'the channel is disabled', disabled: true }]
        : []),
    ],
    accept: async () => undefined,
    preview: async () => [],
  };
  const house = await startTestHost(t, {
    plugins: ['alert', 'metricsdb'],
    services: { 'notify.dispatcher': dispatcher },
  });
  const post = async (ids: readonly number[], more: object = {}) => {
    const answer = await house.fetch('/api/v1/alert-rules', {
      method: 'POST',
      body: JSON.stringify(draft({ notify_channel_ids: ids, ...more })),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as {
        error?: string;
        message?: string;
        notify_channel_ids?: number[];
      },
    };
  };
  const refused = await post([3, 11, 12]);
  assert.deepEqual(
    [refused.status, refused.body.error, refused.body.message],
    [400, 'invalid_argument', 'notify_channel_ids: there are no channels 11, 12'],
  );
  const deaf = await post([3, 9], { severity: 'warning' });
  assert.deepEqual(
    [deaf.status, deaf.body.message],
    [
      400,
      'notify_channel_ids: the channel pager would refuse every notification of this rule (severity warning, scope host): the channel takes critical and above; change its filter, or pin another channel',
    ],
  );
  const computed = {
    rule_key: 'computed',
    severity: 'warning',
    labels: { severity: '{{ $value }}' },
  };
  assert.equal((await post([9], computed)).status, 201, 'its severity is known when it fires');
  const taken = await post([3, 4]);
  assert.deepEqual([taken.status, taken.body.notify_channel_ids], [201, [3, 4]]);

  // One that is disabled for now is no reason to refuse the rule: whoever looks after rules sees it.
  await post([8], { rule_key: 'asleep' });
  await post([8, 3], { rule_key: 'half_asleep' });
  const { warnings } = await house.json('/api/v1/alerts/runtime-info');
  assert.deepEqual(
    warnings.map(({ rule_key: key, message }: Record<string, string>) => [key, message]),
    [
      [
        'asleep',
        'incidents of the rule reach nobody, because every channel that it pins refuses them (night: the channel is disabled); change or enable them, or pin others',
      ],
      [
        'half_asleep',
        'some channels that the rule pins refuse all its incidents (night: the channel is disabled); change or enable them, or pin others',
      ],
    ],
  );
});

test('values are told in the unit that a rule has, where it has one', () => {
  const unit = (kind: string, ...conditions: object[]): string =>
    unitOf({ kind, conditions } as unknown as Parameters<typeof unitOf>[0]);
  assert.equal(unit('trace_error_rate', { service: 'shop' }), ' %');
  assert.equal(unit('trace_latency', { service: 'shop' }), ' ms');
  assert.equal(unit('metric_threshold', { metric: 'node_cpu_usage_percent' }), ' %');
  assert.equal(
    unit('metric_raw', {
      expr: 'max by (device_id) (node_memory_free_bytes{mode="x_percent"}) < 5',
    }),
    ' B',
  );
  assert.equal(
    unit('metric_raw', { expr: '100 * rate(errors_total[5m]) / rate(calls_total[5m]) > 3' }),
    ' %',
  );
  for (const expr of [
    'rate(net_bytes[5m]) > 3',
    'node_free_bytes / node_size_bytes < 0.1',
    'count(node_cpu_percent > 90) > 3',
    'up == 0',
  ]) {
    assert.equal(unit('metric_raw', { expr }), '', expr);
  }
  assert.equal(
    unit('metric_raw', { expr: 'a_percent > 1' }, { expr: 'b_bytes > 1' }),
    '',
    'of conditions that differ',
  );
});
