import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { startTestHost } from 'svc/testing';

import { peer } from '../../peers.ts';
import { HandClock, interval } from './engine-house.ts';
import { numbers } from './random.ts';

const steps = 60;
const devices = 12;
const rules = [
  { key: 'at_once', expr: 'temperature > 50', for: '0s' },
  { key: 'a_minute', expr: 'temperature > 40', for: '1m' },
  { key: 'five_minutes', expr: 'temperature > 30', for: '5m' },
];

/**
 * Wandering values, so that conditions come and go, some for long; null: no sample. Each stays for two steps: what is clear
 * for one evaluation only is clear to Prometheus, and still the same firing to us.
 */
function samples(): readonly (readonly (number | null)[])[] {
  const random = numbers(42);
  return Array.from({ length: devices }, () => {
    let value = 35;
    return Array.from({ length: steps }, (_, step) => {
      value = step % 2 === 1 ? value : Math.max(0, Math.min(80, value + random(21) - 10));
      return random(40) === 0 ? null : value;
    });
  });
}

test('fires and clears at the evaluations at which a real Prometheus does, with the same rules over the same samples', async (t) => {
  const prometheus = peer(t, 'prometheus');
  if (prometheus === undefined) {
    return;
  }
  const values = samples();
  const ours = await firingOf(t, values);
  const dir = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(
    join(dir, 'rules.yml'),
    JSON.stringify({
      groups: [
        {
          name: 'g',
          rules: rules.map(({ key, expr, for: sustained }) => ({
            alert: key,
            expr,
            for: sustained,
          })),
        },
      ],
    }),
  );
  const inputSeries = values.map((series, device) => ({
    series: `temperature{device_id="${device}"}`,
    values: series.map((value) => value ?? '_').join(' '),
  }));
  const expected = rules.flatMap(({ key }) =>
    Array.from({ length: steps }, (_, step) => ({
      eval_time: `${(step * interval) / 1_000}s`,
      alertname: key,
      exp_alerts: ours(key, step).map((device) => ({ exp_labels: { device_id: device } })),
    })),
  );
  writeFileSync(
    join(dir, 'test.yml'),
    JSON.stringify({
      rule_files: ['rules.yml'],
      evaluation_interval: '30s',
      tests: [{ interval: '30s', input_series: inputSeries, alert_rule_test: expected }],
    }),
  );
  const promtool = join(dirname(prometheus), 'promtool');
  const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', 'test.yml'], {
    cwd: dir,
  }).catch((error: { stdout: string; stderr: string }) => {
    assert.fail(`${error.stdout}${error.stderr}`.replaceAll(/\n\s*\n+/g, '\n').slice(0, 3_000));
  });
  assert.match(stdout, /SUCCESS/);
  assert.ok(
    expected.filter(({ exp_alerts: firing }) => firing.length > 0).length > steps,
    'there was something to compare',
  );
});

/** Which devices fire at each step, as our incidents tell: from the firing to the first evaluation that found it clear. */
async function firingOf(
  t: Parameters<typeof startTestHost>[0],
  values: readonly (readonly (number | null)[])[],
): Promise<(rule: string, step: number) => string[]> {
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'alert'],
    clock,
    environment: { SVC_ALERT_COOLDOWN: '0s' },
  });
  const ingest = house.service(MetricsIngest);
  const evaluator = house.service(AlertEvaluator);
  for (const { key, expr, for: sustained } of rules) {
    const condition = { expr, ...(sustained !== '0s' && { for: sustained }) };
    await house.json('/api/v1/alert-rules', {
      method: 'POST',
      body: JSON.stringify({
        rule_key: key,
        name: key,
        kind: 'metric_raw',
        source_type: 'svc_builtin',
        scope_type: 'host',
        join_mode: 'all',
        severity: 'warning',
        conditions: [condition],
      }),
    });
  }
  const began = clock.now();
  for (let step = 0; step < steps + 2; step++) {
    const rows = values.flatMap((series, device) => {
      const value = series[step] ?? (step >= steps ? series[steps - 1] : null);
      return value === null || value === undefined
        ? []
        : [
            {
              labels: { __name__: 'temperature', device_id: String(device) },
              time: clock.now(),
              value,
            },
          ];
    });
    await ingest.write(rows);
    // Every slot of the cycle comes, and each step's samples are there before.
    for (let second = 0; second < interval; second += 1_000) {
      await evaluator.tick();
      clock.advance(1_000);
    }
  }
  const spans = new Map<string, { device: string; from: number; to: number }[]>();
  for (const { key } of rules) {
    const { items } = await house.json(`/api/v1/alerts/incidents?rule=${key}&limit=200`);
    spans.set(key, []);
    for (const incident of items) {
      const events = await house.json(
        `/api/v1/alerts/incidents/${incident.id}/events?order=asc&limit=200`,
      );
      const turns = events.items.filter(
        ({ type }: { type: string }) => type === 'firing' || type === 'resolved',
      );
      turns.forEach(
        ({ type, created_at: at }: { type: string; created_at: string }, index: number) => {
          if (type === 'firing') {
            const end = turns[index + 1];
            // It is resolved by the second evaluation in a row that finds it clear; Prometheus takes the first for it.
            const to = end === undefined ? Infinity : stepAt(end.created_at, began) - 1;
            spans.get(key)!.push({ device: incident.device_id, from: stepAt(at, began), to });
          }
        },
      );
    }
  }
  return (rule, step) =>
    spans
      .get(rule)!
      .filter(({ from, to }) => from <= step && step < to)
      .map(({ device }) => device);
}

const stepAt = (at: string, began: number): number =>
  Math.floor((Date.parse(at) - began) / interval);
