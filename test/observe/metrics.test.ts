import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { SelfMetrics, type SelfMetricsOptions } from '../../core/observe/index.ts';

function open(t: TestContext, options: Partial<SelfMetricsOptions> = {}) {
  const metrics = new SelfMetrics({ version: '1.2.3', ...options });
  t.after(() => metrics.close());
  return metrics;
}

/** A scope as far as metrics know one. */
function scope() {
  const undos = new Map<string, () => unknown>();
  return {
    undos,
    own: (label: string, undo: () => unknown) => undos.set(label, undo),
    close: () => [...undos.values()].reverse().forEach((undo) => undo()),
  };
}

const samples = async (metrics: { text(): Promise<string> }, name: string) =>
  (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith(name) && /^[^ ]+ [^ ]+$/.test(line));

test('a plugin counts under its own name until its scope ends', async (t) => {
  const metrics = open(t);
  const { own, close, undos } = scope();
  const alert = metrics.forPlugin('alert-engine', own);
  alert.counter('fired_total', 'Incidents fired.', ['severity']).add(2, { severity: 'critical' });
  alert.gauge('open', 'Open incidents.').set(5);
  alert.histogram('eval_seconds', 'Evaluation.', [1, 2]).observe(1.5);
  assert.deepEqual(await samples(metrics, 'svc_alert_engine_fired'), [
    'svc_alert_engine_fired_total{severity="critical"} 2',
  ]);
  assert.deepEqual(await samples(metrics, 'svc_alert_engine_open'), ['svc_alert_engine_open 5']);
  assert.ok(
    (await samples(metrics, 'svc_alert_engine_eval')).includes(
      'svc_alert_engine_eval_seconds_bucket{le="2"} 1',
    ),
  );
  assert.deepEqual(
    [...undos.keys()],
    [
      'metric svc_alert_engine_fired_total',
      'metric svc_alert_engine_open',
      'metric svc_alert_engine_eval_seconds',
    ],
  );
  close();
  assert.deepEqual(await samples(metrics, 'svc_alert'), []);
  assert.doesNotMatch(await metrics.text(), /svc_alert/);
});

test('a reloaded plugin goes on counting where the one before stopped', async (t) => {
  const metrics = open(t);
  const [first, second] = [scope(), scope()];
  metrics.forPlugin('edge', first.own).counter('seen_total', 'Seen.').add(3);
  const counter = metrics.forPlugin('edge', second.own).counter('seen_total', 'Seen, better said.');
  first.close();
  counter.add(1);
  assert.deepEqual(await samples(metrics, 'svc_edge'), ['svc_edge_seen_total 4']);
  second.close();
  assert.deepEqual(await samples(metrics, 'svc_edge'), []);
});

test('a generation with other labels is shown, and the old one comes back when the new one fails', async (t) => {
  const metrics = open(t);
  const [first, second] = [scope(), scope()];
  metrics.forPlugin('edge', first.own).counter('seen_total', 'Seen.').add(3);
  metrics
    .forPlugin('edge', second.own)
    .counter('seen_total', 'Seen.', ['os'])
    .add(1, { os: 'linux' });
  assert.deepEqual(await samples(metrics, 'svc_edge'), ['svc_edge_seen_total{os="linux"} 1']);
  second.close();
  assert.deepEqual(await samples(metrics, 'svc_edge'), ['svc_edge_seen_total 3']);
});

test('two plugins whose names meet are told so', (t) => {
  const metrics = open(t);
  metrics.forPlugin('a', scope().own).counter('b_c', 'x');
  assert.throws(
    () => metrics.forPlugin('a-b', scope().own).counter('c', 'x'),
    /a-b and a both declare the metric svc_a_b_c/,
  );
  assert.throws(
    () => metrics.forPlugin('http', scope().own).counter('requests_total', 'x'),
    /http and core both declare/,
  );
});

test('a bad name and an undeclared label are refused with a sentence', (t) => {
  const plugin = open(t).forPlugin('edge', scope().own);
  assert.throws(() => plugin.counter('Bad Name', 'x'), /is not a valid metric name/);
  assert.throws(
    () => plugin.counter('ok', 'x', ['a']).add(1, { b: '1' }),
    /has no label "b"; declared labels: a/,
  );
});

test('nothing is registered when the scope has already ended', async (t) => {
  const metrics = open(t);
  const closed = () => assert.fail('closed');
  assert.throws(() => metrics.forPlugin('edge', closed).counter('seen', 'x'));
  assert.doesNotMatch(await metrics.text(), /svc_edge/);
});

test('label values that strangers choose cannot grow the memory', async (t) => {
  const metrics = open(t, { seriesLimit: 10 });
  const counter = metrics.forPlugin('edge', scope().own).counter('paths_total', 'x', ['path']);
  for (let at = 0; at < 100; at += 1) {
    counter.add(1, { path: `/${at}` });
  }
  counter.add(1, { path: '/3' });
  const lines = await samples(metrics, 'svc_edge_paths_total');
  assert.equal(lines.length, 11);
  assert.ok(lines.includes('svc_edge_paths_total{path="other"} 90'));
  assert.ok(lines.includes('svc_edge_paths_total{path="/3"} 2'));
  assert.deepEqual(await samples(metrics, 'svc_metrics_folded'), [
    'svc_metrics_folded_total{metric="svc_edge_paths_total"} 90',
  ]);
});

test('a label value cannot break out of its line', async (t) => {
  const metrics = open(t);
  metrics.core.pluginStrikes.add(1, { plugin: 'a"} 1\nforged 1' });
  assert.ok((await metrics.text()).split('\n').every((line) => !line.startsWith('forged')));
});

test('the process tells its memory, CPU, open files, event loop and version', async (t) => {
  const text = await open(t).text();
  assert.match(text, /svc_build_info\{version="1\.2\.3"\} 1/);
  for (const name of [
    'resident_memory_bytes',
    'heap_used_bytes',
    'cpu_seconds_total',
    'event_loop_delay_p99_seconds',
    'uptime_seconds',
  ]) {
    assert.match(text, new RegExp(`svc_process_${name} \\d`), name);
  }
  if (process.platform === 'linux') {
    assert.match(text, /svc_process_open_fds [1-9]/);
  }
});

test('core counts requests without any global registry', async (t) => {
  const [one, other] = [open(t), open(t)];
  one.core.httpRequests.add(1, { method: 'GET', route: '/x', status: '200' });
  one.core.httpSeconds.observe(0.003, { method: 'GET', route: '/x' });
  assert.match(
    await one.text(),
    /svc_http_requests_total\{method="GET",route="\/x",status="200"\} 1/,
  );
  assert.doesNotMatch(await other.text(), /route="\/x"/);
});
