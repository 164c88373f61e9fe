import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';

import type { Case } from '../../plugins/investigate/cli/bench/case.ts';
import { nezhaCases } from '../../plugins/investigate/cli/bench/nezha.ts';
import { openrcaCases } from '../../plugins/investigate/cli/bench/openrca.ts';
import { petshopCases } from '../../plugins/investigate/cli/bench/petshop.ts';
import { rcaevalCases } from '../../plugins/investigate/cli/bench/rcaeval.ts';
import { simulated } from '../../plugins/investigate/cli/bench/simulator/simulate.ts';
import { shown, type Table, tableOf } from '../../plugins/investigate/cli/bench/table.ts';
import { shownWorlds, type WorldTable } from '../../plugins/investigate/cli/bench/worlds/score.ts';
import { svc } from './launcher.ts';

/** A folder with these files, gone after the test. */
function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-rca-'));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

const wave = (at: number): number => 0.1 + 0.002 * (at % 5);

async function only(cases: Iterable<Case> | AsyncIterable<Case>): Promise<Case> {
  const all: Case[] = [];
  for await (const one of cases) {
    all.push(one);
  }
  assert.equal(all.length, 1);
  return all[0]!;
}

async function firstIs(one: Case, node: string): Promise<void> {
  assert.deepEqual(one.truth.nodes, [node]);
  const { rows } = await tableOf([one]);
  assert.deepEqual([rows[0]!.method, rows[0]!.cases, rows[0]!.ac1], ['svc', 1, 1]);
}

test('PetShop: three rows of heads, an adjacency matrix, the quiet day before the incident', async (t) => {
  const head =
    'microservice,front,back\nmetric,latency,latency\nstatistic,Average,Average\nunix_timestamp,,\n';
  const rows = (count: number, from: number, value: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => `${from + at * 300},${value(at)}`).join('\n');
  const dir = folder(t, {
    'low/graph.csv': ',front,back\nfront,0.0,1.0\nback,0.0,0.0\n',
    'low/noissue/metrics.csv': head + rows(100, 9_000_000, (at) => `${wave(at)},${wave(at + 2)}`),
    'low/test/issue_0/metrics.csv':
      head +
      rows(5, 1_000_000, (at) =>
        at < 2 ? `${wave(at)},${wave(at)}` : `${0.9 + at / 50},${0.85 + at / 50}`,
      ),
    'low/test/issue_0/target.json': JSON.stringify({
      target: { node: 'front', metric: 'latency', agg: 'Average', timestamp: 1_000_605 },
      root_cause: { node: 'back', metric: null },
    }),
  });
  const one = await only(petshopCases(dir));
  assert.equal(
    one.snapshot.symptom.series,
    one.snapshot.series.find(({ node }) => node === 'front')!.id,
  );
  assert.deepEqual(
    one.snapshot.edges.map(({ from, to }) => [from, to]),
    [['front', 'back']],
  );
  await firstIs(one, 'back');
});

test('RCAEval: columns of services, the time of the fault, spans and lines', async (t) => {
  const injected = 1_700_003_600;
  const times = Array.from({ length: 600 }, (_, at) => injected - 3_600 + at * 7);
  const late = (time: number, value: number, more: number): number =>
    time >= injected ? value + more : value;
  const dir = folder(t, {
    'RE2-OB/cart_cpu/1/inject_time.txt': `${injected}\n`,
    'RE2-OB/cart_cpu/1/simple_metrics.csv': `time,frontend_latency-90,cart_latency-90,cart_cpu,shop_cpu\n${times.map((time, at) => [time, late(time, wave(at), 0.8), late(time, wave(at + 1), 0.75), late(time, 1 + wave(at), 6), 2 + wave(at)].join(',')).join('\n')}`,
    'RE2-OB/cart_cpu/1/traces.csv':
      'time,traceID,spanID,serviceName,parentSpanID\n1,t,a,frontend,\n1,t,b,cart,a\n1,t,c,shop,a\n',
    'RE2-OB/cart_cpu/1/logs.csv': `time,container_name,message\n${injected + 5},cart,"took 17 ms, slow"\n${injected + 6},cart,"took 19 ms, slow"\n`,
  });
  const one = await only(rcaevalCases(dir));
  assert.equal(one.truth.fault, 'cpu');
  assert.equal(one.snapshot.symptom.node, 'frontend');
  assert.deepEqual(
    one.snapshot.logs.map(({ node, template, counts }) => [
      node,
      template,
      counts.reduce((sum, count) => sum + count, 0),
    ]),
    [['cart', 'took <*> ms, slow', 2]],
  );
  await firstIs(one, 'cart');
});

test('OpenRCA: records of faults, long and wide metric files, spans', async (t) => {
  // 10:00 at UTC+8.
  const at = Date.UTC(2021, 2, 4, 2, 0) / 1_000;
  const minutes = Array.from({ length: 250 }, (_, minute) => at - 235 * 60 + minute * 60);
  const late = (time: number, value: number, more: number): number =>
    time >= at ? value + more : value;
  const dir = folder(t, {
    'Bank/record.csv': `level,component,timestamp,datetime,reason\npod,Tomcat01,${at},2021-03-04 10:00:00,high CPU usage\n`,
    'Bank/telemetry/2021_03_04/metric/metric_app.csv': `timestamp,rr,sr,cnt,mrt,tc\n${minutes.map((time, index) => `${time},100,100,20,${late(time, wave(index), 1)},Gate`).join('\n')}`,
    'Bank/telemetry/2021_03_04/metric/metric_container.csv': `timestamp,cmdb_id,kpi_name,value\n${minutes.flatMap((time, index) => [`${time},Tomcat01,CPULoad,${late(time, 1 + wave(index), 9)}`, `${time},Tomcat02,CPULoad,${1 + wave(index)}`]).join('\n')}`,
    'Bank/telemetry/2021_03_04/trace/trace_span.csv': `timestamp,cmdb_id,parent_id,span_id,trace_id,duration\n${at},Gate,,s1,t,9\n${at},Tomcat01,s1,s2,t,8\n${at},Tomcat02,s1,s3,t,1\n`,
  });
  const one = await only(openrcaCases(dir));
  assert.equal(one.truth.fault, 'high CPU usage');
  assert.deepEqual(one.snapshot.edges.map(({ from, to }) => `${from} ${to}`).sort(), [
    'Gate Tomcat01',
    'Gate Tomcat02',
  ]);
  await firstIs(one, 'Tomcat01');
});

test('Nezha: a list of faults, metrics of pods, spans with the time of their children, lines in an envelope', async (t) => {
  const at = 1_700_000_040;
  const times = Array.from({ length: 90 }, (_, minute) => at - 86 * 60 + minute * 60);
  const pod = (service: string, latency: number, cpu: number): string =>
    `TimeStamp,PodName,CpuUsageRate(%),PodServerLatencyP95(s)\n${times.map((time, index) => `${time},${service}-5f6585d649-fnmft,${time > at ? cpu : 10 + 10 * wave(index)},${time > at ? latency : wave(index)}`).join('\n')}`;
  const nano = (ms: number): string => `${at * 1_000 + ms}000000`;
  const dir = folder(t, {
    'rca_data/2023-11-14/2023-11-14-fault_list.json': JSON.stringify({
      '22': [
        {
          inject_timestamp: String(at),
          inject_pod: 'cart-5f6585d649-fnmft',
          inject_type: 'cpu_contention',
        },
      ],
    }),
    'rca_data/2023-11-14/metric/dependency.csv':
      'Source,Target,Weight\nfrontend,cart,1\nfrontend,shop,1\ncart,10.0.0.1,1\nloadgenerator,10.0.0.2,1\n',
    'rca_data/2023-11-14/metric/front_service.csv': `TimeStamp,ServiceName,SuccessRate(%),LatencyP95(s)\n${times.map((time, index) => `${time},Frontend,100,${time > at ? 2 : wave(index)}`).join('\n')}`,
    'rca_data/2023-11-14/metric/cart_metric.csv': pod('cart', 1.8, 95),
    'rca_data/2023-11-14/metric/shop_metric.csv': pod('shop', 0.1, 11),
    'rca_data/2023-11-14/trace/22_14_trace.csv': `TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration\nt,a,root,frontend-579b9bff58-t2dbm,Recv,${nano(0)},${nano(900)},1\nt,b,a,cart-5f6585d649-fnmft,Get,${nano(10)},${nano(810)},1\n`,
    'rca_data/2023-11-14/log/22_14_log.csv': `Timestamp,TimeUnixNano,Node,PodName,Container,TraceID,SpanID,Log\nx,${nano(5)},n,cart-5f6585d649-fnmft,server,t,b,"{""log"":""{\\""message\\"":\\""TraceID: t SpanID: b got 17 items\\"",\\""severity\\"":\\""info\\""}"",""stream"":""stdout""}"\n`,
  });
  const one = await only(nezhaCases(dir));
  assert.equal(one.truth.fault, 'cpu_contention');
  assert.equal(one.snapshot.symptom.node, 'frontend');
  assert.deepEqual(
    one.snapshot.spans.map(({ node, operation, self_ms: self }) => [
      node,
      operation,
      Math.max(...self.map((value) => value ?? 0)),
    ]),
    [
      ['frontend', 'Recv', 100],
      ['cart', 'Get', 800],
    ],
  );
  assert.deepEqual(
    one.snapshot.logs.map(({ node, template }) => [node, template]),
    [['cart', 'got <*> items']],
  );
  await firstIs(one, 'cart');
});

test('simulated incidents are the same from the same seed, and others from another', () => {
  const text = (from: number): string => JSON.stringify([...simulated(from, 1)]);
  assert.equal(text(8), text(8));
  assert.notEqual(text(8), text(12));
  assert.equal([...simulated(8, 1)].length, 4);
});

test('the command prints the table, or all of it as JSON, and says what a format needs', async () => {
  const told = await svc([
    'bench',
    'rca',
    '--seeds',
    '1',
    '--from',
    '8',
    '--drop-edges',
    '0.3',
    '--json',
  ]);
  assert.equal(told.code, 0, told.stderr);
  const table = JSON.parse(told.stdout) as Table;
  assert.deepEqual(
    table.rows.map(({ method }) => method),
    ['svc', 'flat z-score', 'N-sigma', 'BARO-like', 'random walk'],
  );
  assert.match(shown(table).join('\n'), /AC@1[^]+evidence withheld: 1 cases/);
  const refused = await svc(['bench', 'rca', '--format', 'petshop']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--format petshop needs the folder of the data set/);
});

test('worlds are sent to an svc of their own, and the report on their rule is judged', async () => {
  // One world: each takes a minute of a busy machine, and the drills of CI have many.
  const told = await svc(['bench', 'rca', '--worlds', '1', '--kind', 'logs', '--json']);
  assert.equal(told.code, 0, told.stderr);
  const table = JSON.parse(told.stdout) as WorldTable;
  assert.deepEqual([table.worlds, table.not_fired], [1, []]);
  const [first] = table.outcomes;
  assert.deepEqual([first!.seed, first!.sees, first!.fault], [1, 'logs', 'full disk']);
  // Which cause it names is no matter here: on a busy machine deadlines decide what is seen.
  assert.ok(first!.answer !== '' && first!.summary !== '', JSON.stringify(first));
  assert.match(shownWorlds(table).join('\n'), /^WORLDS[^]+logs +\d+ [^]+full disk/m);
  const refused = await svc(['bench', 'rca', '--worlds', '1', '--kind', 'smells']);
  assert.match(refused.stderr, /--kind must be one of metrics, spans, logs, traces, mixed/);
});
