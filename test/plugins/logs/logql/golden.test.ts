import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { budget, formatFloat, labelsRecord } from '../../../../core/telemetry/index.ts';
import { instant, lines, range, streamsOf } from '../../../../plugins/logs/logql/index.ts';
import { memorySource, nanosOf } from './memory-source.ts';

type Metric = Record<string, string>;
interface Answer {
  readonly stream: Metric;
  readonly metric: Metric;
  readonly values: [number, string][];
  readonly value: [number, string];
}
interface Body {
  readonly data: {
    readonly resultType: string;
    /** Of each kind of answer its own fields. */
    readonly result: readonly Answer[];
  };
}
interface Check {
  readonly kind: 'log' | 'metric' | 'bad';
  readonly q: string;
  readonly direction?: 'forward' | 'backward';
  readonly limit?: number;
  readonly start?: number;
  readonly end?: number;
  readonly step?: number;
  readonly status: number;
  readonly body: Body | string;
  readonly instant_status?: number;
  readonly instant?: Body | string;
}

const folder = new URL('../../../golden/logql/', import.meta.url);
const read = (name: string): unknown => JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString());
const input = read('logql-input.json.gz') as { push: { streams: { stream: Metric; values: [string, string, Metric?][] }[] } };
const expected = read('logql-expected-loki3.4.6.json.gz') as { start_ns: string; end_ns: string; queries: Check[] };
const skipped = readFileSync(new URL('skipped.txt', folder), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('\t')[0]!);

const source = memorySource();
for (const { stream, values } of input.push.streams) {
  for (const [at, line, metadata] of values) {
    source.push(Object.entries(stream), nanosOf(at), line, Object.entries(metadata ?? {}));
  }
}

const now = (): number => 1_795_202_940_000;
const fresh = () => budget({ timeoutMs: 30_000, now: () => performance.now() });

async function failure(work: Promise<unknown>): Promise<string> {
  const outcome = await work.then(
    () => undefined,
    (error: Error) => error.message,
  );
  return outcome ?? assert.fail('the query should have failed');
}

function close(actual: number, wanted: number, what: string): void {
  assert.ok(
    Object.is(actual, wanted) || Math.abs(actual - wanted) <= 1e-9 * Math.max(Math.abs(actual), Math.abs(wanted)),
    `${what}: ${actual} instead of ${wanted}`,
  );
}

const key = (labels: Metric): string => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

function sameSeries(actual: Map<string, [number, number][]>, wanted: readonly { metric: Metric; values: [number, string][] }[]): void {
  assert.deepEqual([...actual.keys()].sort(), wanted.map(({ metric }) => key(metric)).sort());
  for (const { metric, values } of wanted) {
    const found = actual.get(key(metric))!;
    assert.deepEqual(
      found.map(([time]) => time),
      values.map(([time]) => time),
      key(metric),
    );
    found.forEach(([time, value], i) => close(value, Number(values[i]![1]), `${key(metric)} at ${time}`));
  }
}

async function checkLines({ q, direction, limit, body }: Check): Promise<void> {
  const found = await lines(
    source,
    { query: q, start: nanosOf(expected.start_ns), end: nanosOf(expected.end_ns), direction: direction!, limit: limit!, now },
    fresh(),
  );
  const actual = streamsOf(found.lines).map(({ labels, lines: own }) => [
    key(labelsRecord(labels)),
    own.map(({ ms, ns, line }) => [`${BigInt(ms) * 1_000_000n + BigInt(ns)}`, line]),
  ]);
  const wanted = (body as Body).data.result.map((one) => [key(one.stream), one.values]);
  const byKey = (a: unknown[], b: unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
  assert.deepEqual(actual.sort(byKey), wanted.sort(byKey));
}

async function checkMetric(check: Check): Promise<void> {
  const { q, start, end, step } = check;
  const asked = range(source, { query: q, start: start! * 1000, end: end! * 1000, step: step! * 1000, now }, fresh());
  const askedNow = instant(source, { query: q, time: end! * 1000, now }, fresh());
  if (typeof check.body === 'string') {
    // Of what a server's settings forbid, only the reason is the same.
    const shown = (message: string): string => (check.status === 500 ? message.slice(0, 'approx_topk is not enabled'.length) : message);
    assert.equal(shown(await failure(asked)), shown(check.body));
    assert.equal(shown(await failure(askedNow)), shown(check.instant as string));
    return;
  }
  const { series } = await asked;
  const rows = new Map(
    series.map(({ labels, times, values }) => [key(labelsRecord(labels)), [...times].map((time, i): [number, number] => [time / 1000, values[i]!])]),
  );
  sameSeries(rows, check.body.data.result);
  const answer = await askedNow;
  const wanted = (check.instant as Body).data;
  assert.equal(answer.type, wanted.resultType);
  assert.ok(answer.type === 'vector');
  const now_ = new Map(answer.samples.map(({ labels, value }) => [key(labelsRecord(labels)), [[answer.time / 1000, value]] as [number, number][]]));
  sameSeries(
    now_,
    wanted.result.map(({ metric, value }) => ({ metric, values: [value] })),
  );
  if (answer.ordered && q.startsWith('sort')) {
    assert.deepEqual(
      answer.samples.map(({ value }) => formatFloat(value)),
      wanted.result.map(({ value }) => value[1]),
    );
  }
}

for (const check of expected.queries) {
  const name = `${check.kind} ${check.direction ?? ''} ${check.q}`;
  if (skipped.includes(check.q)) {
    continue;
  }
  test(`Loki's own answer: ${name}`, async () => {
    if (check.kind === 'log') {
      await checkLines(check);
    } else if (check.kind === 'metric') {
      await checkMetric(check);
    } else {
      const metric = instant(source, { query: check.q, time: 0, now }, fresh());
      assert.equal(await failure(metric), check.body);
    }
  });
}

test('where Loki leaves lines out of a page, ours has the newest ones, and every line of its answer matches', async () => {
  assert.deepEqual(skipped, ['{app="api"} |= "error" |= "slow"']);
  assert.equal(expected.queries.length, 167);
  const all = input.push.streams
    .filter(({ stream }) => stream.app === 'api')
    .flatMap(({ values }) => values)
    .filter(([, line]) => line.includes('error') && line.includes('slow'))
    .map(([at]) => at)
    .sort();
  for (const { q, direction, limit, body } of expected.queries.filter(({ q: query }) => skipped.includes(query))) {
    const found = await lines(
      source,
      { query: q, start: nanosOf(expected.start_ns), end: nanosOf(expected.end_ns), direction: direction!, limit: limit!, now },
      fresh(),
    );
    const times = found.lines.map(({ ms, ns }) => `${BigInt(ms) * 1_000_000n + BigInt(ns)}`);
    assert.deepEqual(times, (direction === 'backward' ? all.toReversed() : all).slice(0, limit));
    const theirs: string[] = (body as Body).data.result.flatMap(({ values }) => values.map(([at]) => String(at)));
    assert.ok(theirs.every((at) => all.includes(at)));
  }
});
