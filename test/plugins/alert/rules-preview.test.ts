import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SampleRow } from 'svc/contracts/metricsdb';

import { draft, rows, rulesHouse, StoppedClock } from './rules-house.ts';

const minute = 60_000;
const step = 15_000;

/** A load that rises, falls, wavers and vanishes: the same for the same seed. */
function wander(seed: number): (index: number) => number | undefined {
  let state = seed;
  let level = 50;
  return (index) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    level = Math.max(0, Math.min(100, level + ((state >>> 8) % 41) - 20));
    return index % 97 > 80 && seed % 2 === 0 ? undefined : level;
  };
}

test('a preview says what the evaluator then does on the same data', async (t) => {
  const begin = Date.UTC(2026, 10, 20, 12);
  const clock = new StoppedClock(begin);
  const { call, ingest, evaluator } = await rulesHouse(t, { clock });
  const rules = [
    draft({ rule_key: 'at_once', conditions: [{ expr: 'node_load1 > 60' }] }),
    draft({ rule_key: 'lasting', conditions: [{ expr: 'node_load1 > 40', for: '2m' }] }),
    draft({
      rule_key: 'averaged',
      kind: 'metric_threshold',
      conditions: [{ metric: 'node_load1', operator: '<', threshold: 45, window: '2m', for: '1m' }],
    }),
    draft({
      rule_key: 'both',
      conditions: [{ expr: 'node_load1 > 55' }, { expr: 'node_load5 > 55', for: '30s' }],
    }),
    draft({
      rule_key: 'either',
      join_mode: 'any',
      scope_type: 'global',
      interval_seconds: 45,
      conditions: [{ expr: 'node_load1 > 80' }, { expr: 'node_load5 < 10' }],
    }),
    draft({
      rule_key: 'by_core',
      dimensions: ['core'],
      conditions: [{ expr: 'node_load5 > 70', for: '1m' }],
    }),
  ];
  for (const rule of rules) {
    const { status, body } = await call('POST', 'alert-rules', { ...rule, severity: 'info' });
    assert.equal(status, 201, JSON.stringify(body));
  }
  const series = [1, 2, 3].flatMap((device) => [
    { name: 'node_load1', labels: { device_id: String(device), core: '0' }, of: wander(device) },
    {
      name: 'node_load5',
      labels: { device_id: String(device), core: String(device % 2) },
      of: wander(device * 7),
    },
  ]);
  await evaluator.tick();
  for (let index = 0; index < 40 * 4; index++) {
    const at = clock.now() + step;
    const samples = series.flatMap(({ name, labels, of }): SampleRow[] => {
      const value = of(index);
      return value === undefined ? [] : rows(name, labels, [[at, value]]);
    });
    // What vanishes is gone, since its device is heard: a preview cannot know that of one that is not.
    samples.push(
      ...['1', '2', '3'].flatMap((device) =>
        rows('node_uptime_seconds', { device_id: device }, [[at, index]]),
      ),
    );
    // Before their time comes: the evaluator also ticks by itself, and would take a slot without them.
    await ingest.write(samples);
    clock.pass(step);
    await evaluator.tick();
  }

  for (const rule of rules) {
    const shown = (await call('POST', 'alert-rules/preview', { ...rule, lookback: '40m' })).body;
    const incidents = (await call('GET', 'alerts/incidents?limit=200')).body.items.filter(
      (incident: { rule: string }) => incident.rule === rule['rule_key'],
    );
    const happened: string[] = [];
    for (const incident of incidents) {
      const { items } = (await call('GET', `alerts/incidents/${incident.id}/events?limit=200`))
        .body;
      for (const event of items.filter(
        ({ type }: { type: string }) => type === 'firing' || type === 'resolved',
      )) {
        happened.push(
          `${event.data.evaluated_at ?? event.created_at} ${incident.dedupe_key} ${event.type}`,
        );
      }
    }
    const foretold = shown.firings.flatMap((firing: Record<string, string | null>) => [
      `${firing['fired_at']} ${firing['dedupe_key']} firing`,
      ...(firing['cleared_at'] === null
        ? []
        : [`${firing['cleared_at']} ${firing['dedupe_key']} resolved`]),
    ]);
    assert.deepEqual(
      foretold.map(inSlot).sort(),
      happened.map(inSlot).sort(),
      String(rule['rule_key']),
    );
    assert.ok(shown.fire_count > 0 && shown.would_fire, `${String(rule['rule_key'])} fires at all`);
    assert.equal(shown.first_fire_at, shown.firings[0].fired_at);
  }
});

/** An evaluation comes up to one look at the clock later than its slot. */
const inSlot = (line: string): string => {
  const [time = '', ...rest] = line.split(' ');
  return [new Date(Math.ceil(Date.parse(time) / step) * step).toISOString(), ...rest].join(' ');
};

test('a preview shows series, threshold and query, within bounds, and what is wrong', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest } = await rulesHouse(t, { clock });
  const many = Array.from({ length: 60 }, (_, index) =>
    rows('node_load1', { device_id: String(index) }, [
      [clock.now() - minute, index],
      [clock.now(), index],
    ]),
  ).flat();
  await ingest.write([...many, ...rows('queue', {}, [[clock.now(), 50]])]);
  clock.pass(40_000);
  const preview = async (more: Readonly<Record<string, unknown>>) =>
    (await call('POST', 'alert-rules/preview', { kind: 'metric_raw', scope_type: 'host', ...more }))
      .body;

  const wide = await preview({
    kind: 'metric_threshold',
    conditions: [{ metric: 'node_load1', operator: '>=', threshold: 30 }],
    lookback: '1h',
  });
  assert.deepEqual(
    [
      wide.would_fire,
      wide.fire_count,
      wide.series.length,
      wide.series_left_out,
      wide.threshold,
      wide.query,
      wide.warnings,
    ],
    [true, 30, 50, 10, 30, 'node_load1 >= 30', []],
  );
  assert.ok(
    wide.series.every(
      ({ points }: { points: unknown[] }) => points.length > 0 && points.length <= 300,
    ),
  );

  const unscoped = await preview({ conditions: [{ expr: 'queue > 1' }] });
  assert.deepEqual(
    [unscoped.would_fire, unscoped.fire_count, unscoped.first_fire_at],
    [false, 0, null],
  );
  assert.match(unscoped.warnings.join(), /1 series without a device_id cannot fire/);
  assert.match(
    (await preview({ conditions: [{ expr: 'nothing > 1' }] })).warnings.join(),
    /no data was found for nothing/,
  );
  const narrowed = await preview({
    conditions: [{ expr: 'node_load1 > 1000 and on (device_id) queue > 1' }],
  });
  assert.deepEqual(
    [narrowed.would_fire, narrowed.series.length, narrowed.threshold, narrowed.warnings],
    [false, 50, 1000, []],
    'the curve of what was compared first is there although nothing fires',
  );
  const either = await preview({ conditions: [{ expr: 'node_load1 > 1000 or queue > 1000' }] });
  assert.deepEqual([either.series.length, either.threshold], [0, null]);
  const dampened = await preview({
    conditions: [{ expr: 'node_load1 > 1' }],
    notify_min_fires: 10,
    notify_window_seconds: 60,
  });
  assert.match(dampened.warnings.join(), /cannot begin to fire 10 times within 60 s/);
  assert.match(
    (await preview({ conditions: [{ expr: 'up >' }] })).message,
    /conditions\.0\.expr: 1:5/,
  );
  assert.match(
    (await preview({ conditions: [{ expr: 'up' }], lookback: '31d' })).message,
    /lookback: must be between/,
  );
  assert.equal((await call('GET', 'alert-rules?q=preview')).body.total, 0, 'nothing is kept');
});

test('a preview of log rules asks the log store', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, lines } = await rulesHouse(t, { clock });
  const at = { ms: clock.now(), ns: 0 };
  await lines.write([
    { labels: { job: 'app', device_id: '7' }, at, line: 'error: disk' },
    { labels: { job: 'app', device_id: '8' }, at, line: 'fine' },
  ]);
  clock.pass(2 * minute);
  const match = {
    kind: 'log_match',
    scope_type: 'host',
    conditions: [{ expr: '{job="app", device_id="{{device_id}}"} |= "error"' }],
    lookback: '10m',
  };
  const { body } = await call('POST', 'alert-rules/preview', match);
  assert.deepEqual(
    body.firings?.map((firing: { dedupe_key: string }) => firing.dedupe_key),
    ['preview:host:7'],
    JSON.stringify(body),
  );
  const broken = await call('POST', 'alert-rules/preview', {
    ...match,
    conditions: [{ expr: '{job="app"} |=' }],
  });
  assert.match(broken.body.message, /^conditions\.0\.expr: /);
  const wrong = await call('POST', 'alert-rules/preview', {
    ...match,
    conditions: [{ expr: 'sum(rate({job="app"}[1m])) > 1' }],
  });
  assert.match(wrong.body.message, /answers an instant vector, and the condition needs log lines/);
});
