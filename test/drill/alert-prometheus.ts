import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import type { Outcome } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { edgeFleet, PretendFleet } from '../plugins/ingest/house.ts';
import { freePort } from '../plugins/ingest/nginx.ts';
import { comparedGroups, grouping, Heard, startAlertmanager } from './alert-prometheus-groups.ts';
import { type Ends, exporter, holdMs, units } from './alert-prometheus-units.ts';

const evaluationMs = 5_000;

/**
 * Rule file to be imported: plain series, rates, groups, absence, templated labels, series that
 * come and go.
 */
const rules = [
  { alert: 'AtOnce', expr: 'temperature > 50' },
  {
    alert: 'TenSeconds',
    expr: 'temperature > 40',
    for: '10s',
    labels: { level: '{{ if gt $value 60.0 }}high{{ else }}low{{ end }}', team: 'infra' },
  },
  { alert: 'HalfAMinute', expr: 'temperature > 30', for: '30s' },
  { alert: 'Kept', expr: 'temperature > 60', keep_firing_for: '15s' },
  { alert: 'ByZone', expr: 'max by (zone) (temperature) > 70', for: '10s' },
  { alert: 'Busy', expr: 'rate(work_total[15s]) > 5', for: '5s' },
  {
    alert: 'Failing',
    expr: 'sum by (zone) (rate(errors_total[15s])) / sum by (zone) (rate(work_total[15s])) > 0.3',
  },
  { alert: 'Gone', expr: 'absent(temperature{unit="3"})' },
  { alert: 'Run', expr: 'run_failed == 1' },
  // For the groups: now and then, seldom, and always.
  { alert: 'Unit', expr: 'temperature{unit="5"} > 40' },
  { alert: 'Seldom', expr: 'temperature > 77' },
  { alert: 'Always', expr: 'temperature{unit="7"} >= 0' },
];

/** Times at which an alert fires, one for each evaluation, by its name and labels. */
type Cells = ReadonlyMap<string, ReadonlySet<number>>;

/**
 * Compares alerting with Prometheus: a real one scrapes, evaluates, and writes its samples to svc,
 * which has imported the same rule file: for each alert the same label sets must fire at the same
 * evaluations. It also alerts a real Alertmanager with the same grouping as our channel: both
 * receivers must get the same groups at the same times.
 */
export async function run({ seconds = 240 }: { readonly seconds?: number } = {}): Promise<Outcome> {
  const [program, manager] = [findPeer('prometheus'), findPeer('prometheus-alertmanager')];
  if (program === undefined || manager === undefined) {
    return {
      ok: false,
      why: 'a peer is not installed (Debian: apt-get install prometheus prometheus-alertmanager)',
    };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const [ourHook, theirHook] = [
      await Heard.listen(t, 'svc'),
      await Heard.listen(t, 'alertmanager'),
    ];
    const environment = {
      SVC_ALERT_EVAL_INTERVAL: '5s',
      SVC_ALERT_COOLDOWN: '0s',
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
    };
    const plugins = ['iam', 'session', 'ingest', edgeFleet, 'metricsdb', 'alert', 'notify'];
    const house = await startTestHost(t, {
      plugins,
      environment,
      services: { 'test.fleet': new PretendFleet() },
    });
    await house.json('/api/v1/alert-rules/import', {
      method: 'POST',
      body: JSON.stringify({ content: ruleFile() }),
    });
    const channel = { name: 'hook', channel_type: 'webhook', endpoint: ourHook.url, ...grouping };
    await house.json('/api/v1/notification-channels', {
      method: 'POST',
      body: JSON.stringify(channel),
    });
    const alertmanager = await startAlertmanager(t, manager, theirHook.url);
    const prometheus = await startPrometheus(t, program, {
      house,
      target: await exporter(t),
      alertmanager,
      rules: ruleFile(),
      // Its own alerts stay with it: ours are what is compared.
      keep: 'temperature|work_total|errors_total|run_failed',
    });
    const began = Date.now();
    await pause(seconds * 1_000);
    // Both begin at some time, and the last evaluations may not be written yet.
    const window = { from: began + 2 * holdMs, to: Date.now() - holdMs };
    const theirs = await cellsOf(`${prometheus}/api/v1/query_range`, window, (url) => fetch(url));
    const ours = await cellsOf('/prometheus/api/v1/query_range', window, (url) => house.fetch(url));
    const cells = compared(ours, theirs);
    const groups = comparedGroups(ourHook, theirHook, window);
    return {
      seconds,
      rules: rules.length,
      units,
      load: loadavg()[0]!.toFixed(1),
      ...cells,
      ...groups,
      ok: cells.ok === true && groups.ok === true,
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

const ruleFile = (): string =>
  JSON.stringify({ groups: [{ name: 'g', interval: `${evaluationMs / 1_000}s`, rules }] });

interface Around {
  readonly house: TestHost;
  readonly target: string;
  readonly alertmanager: string;
  readonly rules: string;
  /** Metrics that are written to svc, as a regular expression. */
  readonly keep: string;
}

/** Starts a Prometheus that scrapes the target, alerts by these rules, and writes to svc. */
export async function startPrometheus(
  t: Ends,
  program: string,
  { house, target, alertmanager, rules: ruleText, keep }: Around,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  const address = `127.0.0.1:${await freePort()}`;
  const write = {
    url: `${house.url}/api/v1/write`,
    basic_auth: { username: 'svc_ak_seven', password: 'svc_sk_seven' },
  };
  writeFileSync(join(folder, 'rules.yml'), ruleText);
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: `${evaluationMs / 1_000}s` },
      rule_files: ['rules.yml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
      scrape_configs: [{ job_name: 'units', static_configs: [{ targets: [target] }] }],
      remote_write: [
        {
          ...write,
          queue_config: { batch_send_deadline: '200ms' },
          write_relabel_configs: [{ source_labels: ['__name__'], regex: keep, action: 'keep' }],
        },
      ],
    }),
  );
  const child = spawn(
    program,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ],
    {
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://${address}`;
}

/** Labels that only one of both puts on what it is given. */
const ofOneSide = new Set([
  '__name__',
  'alertstate',
  'severity',
  'rule_key',
  'device_id',
  'edge_id',
]);

async function cellsOf(
  address: string,
  { from, to }: { readonly from: number; readonly to: number },
  ask: (url: string) => Promise<Response>,
): Promise<Cells> {
  const step = evaluationMs / 1_000;
  const [start, end] = [from, to].map((time) => String(Math.floor(time / evaluationMs) * step));
  const query = new URLSearchParams({
    query: 'ALERTS{alertstate="firing"}',
    start: start!,
    end: end!,
    step: String(step),
  });
  const answer = (await (await ask(`${address}?${query.toString()}`)).json()) as {
    data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
  };
  const cells = new Map<string, Set<number>>();
  for (const { metric, values } of answer.data.result) {
    const labels = Object.entries(metric).filter(([name]) => !ofOneSide.has(name));
    const key = labels
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join(' ');
    const times = cells.get(key) ?? new Set();
    cells.set(key, times);
    values.forEach(([time]) => times.add(time * 1_000));
  }
  return cells;
}

/** Evaluations of both lie apart by less than one: a cell has its counterpart where the other side fires then, or one evaluation before or after. */
function compared(ours: Cells, theirs: Cells): Outcome {
  const counts = { theirs: 0, same: 0, near: 0, all: 0 };
  const missing = new Map<string, number>();
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const [mine, yours] = [
      ours.get(key) ?? new Set<number>(),
      theirs.get(key) ?? new Set<number>(),
    ];
    counts.theirs += yours.size;
    for (const time of new Set([...mine, ...yours])) {
      const other = mine.has(time) ? yours : mine;
      const isNear = [-1, 0, 1].some((by) => other.has(time + by * evaluationMs));
      counts.all += 1;
      counts.same += other.has(time) ? 1 : 0;
      counts.near += isNear ? 1 : 0;
      if (!isNear) {
        missing.set(key, (missing.get(key) ?? 0) + 1);
      }
    }
  }
  assert.ok(counts.theirs > 200, `only ${counts.theirs} firing cells to compare`);
  const percent = (count: number): number => Math.round((count * 10_000) / counts.all) / 100;
  const worst = [...missing].sort(([, a], [, b]) => b - a).slice(0, 5);
  return {
    ok: percent(counts.near) >= 99,
    'firing cells': counts.all,
    'with a counterpart, %': percent(counts.near),
    'at the very evaluation, %': percent(counts.same),
    ...(worst.length > 0 && {
      'without one': worst.map(([key, count]) => `${key}: ${count}`).join('; '),
    }),
  };
}
