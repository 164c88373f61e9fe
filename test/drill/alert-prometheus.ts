import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import type { Outcome } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { numbers } from '../plugins/alert/random.ts';
import { edgeFleet, PretendFleet } from '../plugins/ingest/house.ts';
import { freePort } from '../plugins/ingest/nginx.ts';

const evaluationMs = 5_000;
/** What remote write and a look at the clock may take beyond one evaluation. */
const lateMs = 2_000;
/** How long a value stays: some evaluations, so that neither side can miss one. */
const holdMs = 20_000;
const units = 12;
const rules = [
  { key: 'at_once', expr: 'temperature > 50', for: '0s' },
  { key: 'ten_seconds', expr: 'temperature > 40', for: '10s' },
  { key: 'half_a_minute', expr: 'temperature > 30', for: '30s' },
];

/** From the first evaluation that fires to the first that is clear. */
interface Span {
  readonly from: number;
  readonly to: number;
}
type Spans = ReadonlyMap<string, readonly Span[]>;

/** A real Prometheus scrapes, evaluates, and writes what it has scraped to a real house, which evaluates the same rules: both must fire and clear together. */
export async function run({ seconds = 240 }: { readonly seconds?: number } = {}): Promise<Outcome> {
  const program = findPeer('prometheus');
  if (program === undefined) {
    return { ok: false, why: 'prometheus is not installed (Debian: apt-get install prometheus)' };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const environment = { SVC_ALERT_EVAL_INTERVAL: '5s', SVC_ALERT_COOLDOWN: '0s' };
    const plugins = ['iam', 'session', 'ingest', edgeFleet, 'metricsdb', 'alert'];
    const house = await startTestHost(t, { plugins, environment, services: { 'test.fleet': new PretendFleet() } });
    await addRules(house);
    const target = await exporter(t);
    const prometheus = await startPrometheus(t, program, house, target);
    const began = Date.now();
    await pause(seconds * 1_000);
    const window = { from: began + holdMs, to: Date.now() - holdMs };
    const theirs = await theirSpans(prometheus, window);
    const ours = await ourSpans(house);
    return { ok: true, seconds, rules: rules.length, units, ...compared(ours, theirs, window) };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

async function addRules(house: TestHost): Promise<void> {
  for (const { key, expr, for: sustained } of rules) {
    await house.json('/api/v1/alert-rules', {
      method: 'POST',
      body: JSON.stringify({
        rule_key: key,
        name: key,
        kind: 'metric_raw',
        source_type: 'svc_builtin',
        scope_type: 'global',
        join_mode: 'all',
        severity: 'warning',
        dimensions: ['unit'],
        conditions: [{ expr, ...(sustained !== '0s' && { for: sustained }) }],
      }),
    });
  }
}

/** Wandering values, each of which stays for a while. */
async function exporter(t: { after(end: () => unknown): void }): Promise<string> {
  const random = numbers(7);
  const values = Array.from({ length: units }, () => Array.from({ length: 1_000 }, () => random(80)));
  const began = Date.now();
  const server = createServer((_request, response) => {
    // Units change one after another, so that evaluations are compared at all of their phases.
    const lines = values.map((of, unit) => `temperature{unit="${unit}"} ${of[Math.floor((Date.now() - began + (unit * holdMs) / units) / holdMs)]}\n`);
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(lines.join(''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startPrometheus(t: { after(end: () => unknown): void }, program: string, house: TestHost, target: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  const address = `127.0.0.1:${await freePort()}`;
  const seconds = `${evaluationMs / 1_000}s`;
  const write = { url: `${house.url}/api/v1/write`, basic_auth: { username: 'svc_ak_seven', password: 'svc_sk_seven' } };
  writeFileSync(
    join(folder, 'rules.yml'),
    JSON.stringify({ groups: [{ name: 'g', interval: seconds, rules: rules.map(({ key, expr, for: sustained }) => ({ alert: key, expr, for: sustained })) }] }),
  );
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: seconds },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'units', static_configs: [{ targets: [target] }] }],
      remote_write: [
        {
          ...write,
          queue_config: { batch_send_deadline: '200ms' },
          // Its own alerts stay with it: ours are what is compared.
          write_relabel_configs: [{ source_labels: ['__name__'], regex: 'temperature', action: 'keep' }],
        },
      ],
    }),
  );
  const child = spawn(program, [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://${address}`;
}

async function theirSpans(url: string, { from, to }: Span): Promise<Spans> {
  const spans = new Map<string, Span[]>();
  const ask = new URLSearchParams({
    query: 'ALERTS{alertstate="firing"}',
    start: String(Math.floor(from / 1_000) - holdMs / 1_000),
    end: String(to / 1_000 + holdMs / 1_000),
    step: '1',
  });
  const answer = (await (await fetch(`${url}/api/v1/query_range?${ask.toString()}`)).json()) as {
    data: { result: { metric: { alertname: string; unit: string }; values: [number, string][] }[] };
  };
  for (const { metric, values } of answer.data.result) {
    const key = `${metric.alertname} ${metric.unit}`;
    const times = values.map(([time]) => time * 1_000);
    const starts = times.filter((time, at) => at === 0 || time - times[at - 1]! > 1_500);
    const found = starts.map((start, at) => ({ from: start, to: times.findLast((time) => at === starts.length - 1 || time < starts[at + 1]!)! + 1_000 }));
    spans.set(
      key,
      [...(spans.get(key) ?? []), ...found].sort((a, b) => a.from - b.from),
    );
  }
  return spans;
}

async function ourSpans(house: TestHost): Promise<Spans> {
  const spans = new Map<string, readonly Span[]>();
  const { items } = await house.json<{ items: { id: number; rule: string; dedupe_key: string }[] }>('/api/v1/alerts/incidents?limit=200&scope=global');
  for (const { id, rule, dedupe_key: key } of items) {
    const events = await house.json<{ items: { type: string; created_at: string }[] }>(`/api/v1/alerts/incidents/${id}/events?order=asc&limit=200`);
    const times = (type: string): readonly number[] => events.items.filter((row) => row.type === type).map(({ created_at: at }) => Date.parse(at));
    const over = times('resolved');
    spans.set(
      `${rule} ${key.split('unit=')[1]}`,
      // Resolved is what two evaluations in a row find clear; Prometheus takes the first for it.
      times('firing').map((from, at) => ({ from, to: over[at] === undefined ? Infinity : over[at] - evaluationMs })),
    );
  }
  return spans;
}

/** Spans that lie within the window, one beside the other. */
function compared(ours: Spans, theirs: Spans, { from, to }: Span): { spans: number; 'furthest apart, ms': number; 'on average, ms': number } {
  const apart: number[] = [];
  const within = (spans: Spans, key: string): readonly Span[] => (spans.get(key) ?? []).filter((span) => span.from > from && span.to < to);
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const [mine, yours] = [within(ours, key), within(theirs, key)];
    const shown = JSON.stringify({ key, ours: mine, theirs: yours });
    // One at an edge of the window may count for one side only.
    const near = (span: Span, others: readonly Span[]): Span | undefined => others.find((other) => Math.abs(other.from - span.from) <= evaluationMs + lateMs);
    const inner = (spans: readonly Span[]): readonly Span[] => spans.filter((span) => span.from > from + holdMs && span.to < to - holdMs);
    for (const [some, others] of [
      [inner(mine), yours],
      [inner(yours), mine],
    ] as const) {
      for (const span of some) {
        const other = near(span, others);
        assert.ok(other !== undefined && Math.abs(other.to - span.to) <= evaluationMs + lateMs, `no counterpart of ${JSON.stringify(span)}: ${shown}`);
        apart.push(Math.abs(other.from - span.from), Math.abs(other.to - span.to));
      }
    }
  }
  assert.ok(apart.length > 40, `only ${apart.length} instants to compare`);
  return {
    spans: apart.length / 4,
    'furthest apart, ms': Math.max(...apart),
    'on average, ms': Math.round(apart.reduce((sum, ms) => sum + ms, 0) / apart.length),
  };
}
