import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { budget, kindOf, labelsKey, labelsOf, type Labels } from 'svc/query';

import { type EngineOptions, instant, range } from '../../../plugins/metricsdb/promql/index.ts';
import { MemoryStore } from '../../golden/promql-test/runner/memory.ts';

type Pair = readonly [seconds: number, value: string];
type Metric = Readonly<Record<string, string>>;

interface Expected {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly tolerance: number;
  readonly queries: readonly {
    readonly q: string;
    readonly should_fail: boolean;
    readonly errorType?: string;
    readonly error?: string;
    readonly result?: readonly { readonly metric: Metric; readonly values: readonly Pair[] }[];
    readonly instantType?: string;
    readonly instant?:
      | Pair
      | readonly {
          readonly metric: Metric;
          readonly value?: Pair;
          readonly values?: readonly Pair[];
        }[];
  }[];
}

interface Input {
  readonly t0_ms: number;
  readonly interval_ms: number;
  readonly series: readonly {
    readonly labels: Metric;
    readonly v: readonly (number | null | 'stale')[];
  }[];
}

const folder = new URL('../../golden/promql/', import.meta.url);
const read = <T>(name: string): T =>
  JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString()) as T;
const skipped = new Set(
  readFileSync(new URL('skipped.txt', folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0]!),
);

const expected = read<Expected>('promql-expected-prom2.42.json.gz');

function store(): MemoryStore {
  const { t0_ms, interval_ms, series } = read<Input>('promql-input.json.gz');
  const filled = new MemoryStore();
  for (const { labels, v } of series) {
    filled.add(
      labelsOf(Object.entries(labels)),
      interval_ms,
      v.map((value) => value ?? undefined),
      t0_ms,
    );
  }
  return filled;
}

const source = store();
const allowance = () => budget({ timeoutMs: 60_000, now: () => performance.now() });

const numberOf = (text: string): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);

function close(actual: number, wanted: number): boolean {
  return (
    (Number.isNaN(actual) && Number.isNaN(wanted)) ||
    actual === wanted ||
    Math.abs(actual - wanted) <= expected.tolerance * Math.max(Math.abs(actual), Math.abs(wanted))
  );
}

/**
 * A question as the second major version understood it: names of labels were narrower, and a range had its left edge. Samples avoid
 * the edges, but the steps of subqueries do not; a range that is a millisecond longer has them in again.
 */
function asked(query: string): EngineOptions {
  const longer = query.replace(/\[(\d+[smhd]):/g, '[$1 + 1ms:');
  return { query: longer, legacyLabelNames: true };
}

interface Points {
  readonly labels: Labels;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

function compare(
  actual: readonly Points[],
  wanted: readonly { readonly metric: Metric; readonly values: readonly Pair[] }[],
  ordered: boolean,
): void {
  const keys = (list: readonly string[]): readonly string[] => (ordered ? list : list.toSorted());
  assert.deepEqual(
    keys(actual.map(({ labels }) => labelsKey(labels))),
    keys(wanted.map(({ metric }) => labelsKey(labelsOf(Object.entries(metric))))),
  );
  const found = new Map(actual.map((points) => [labelsKey(points.labels), points]));
  for (const { metric, values } of wanted) {
    const points = found.get(labelsKey(labelsOf(Object.entries(metric))))!;
    assert.equal(points.values.length, values.length, JSON.stringify(metric));
    values.forEach(([seconds, text], index) => {
      assert.equal(points.times[index], seconds * 1000);
      assert.ok(
        close(points.values[index]!, numberOf(text)),
        `${JSON.stringify(metric)} at ${seconds}: ${points.values[index]} instead of ${text}`,
      );
    });
  }
}

test('every recorded question gets the answer that Prometheus gave', async (t) => {
  const start = expected.start * 1000;
  const end = expected.end * 1000;
  const failures: string[] = [];
  let compared = 0;
  for (const check of expected.queries) {
    if (skipped.has(check.q)) {
      continue;
    }
    compared++;
    try {
      if (check.should_fail) {
        await mustFail(check.q, start, end, check.errorType!, check.error!);
        continue;
      }
      const overTime = await range(
        source,
        { ...asked(check.q), start, end, step: expected.step * 1000 },
        allowance(),
      );
      compare(overTime.series, check.result!, false);
      await compareInstant(check, end);
    } catch (error) {
      failures.push(`${check.q}: ${(error as Error).message}`);
    }
  }
  assert.deepEqual(failures, []);
  assert.equal(compared + skipped.size, 559);
  t.diagnostic(`${compared} questions compared, ${skipped.size} skipped`);
});

async function mustFail(
  query: string,
  start: number,
  end: number,
  kind: string,
  message: string,
): Promise<void> {
  for (const ask of [
    () => range(source, { ...asked(query), start, end, step: 10_000 }, allowance()),
    () => instant(source, { ...asked(query), time: end }, allowance()),
  ]) {
    await assert.rejects(ask, (error: Error) => {
      assert.equal(kindOf(error), kind);
      assert.equal(error.message, message);
      return true;
    });
  }
}

async function compareInstant(
  { q, instantType, instant: wanted }: Expected['queries'][number],
  time: number,
): Promise<void> {
  const answer = await instant(source, { ...asked(q), time }, allowance());
  assert.equal(answer.type, instantType);
  if (answer.type === 'scalar' || answer.type === 'string') {
    const [, value] = wanted as Pair;
    assert.ok(
      answer.type === 'string' ? answer.value === value : close(answer.value, numberOf(value)),
      `${answer.value} instead of ${value}`,
    );
    return;
  }
  const points =
    answer.type === 'matrix'
      ? answer.series
      : answer.samples.map(({ labels, value }) => ({ labels, times: [time], values: [value] }));
  const series = (
    wanted as readonly { metric: Metric; value?: Pair; values?: readonly Pair[] }[]
  ).map(({ metric, value, values }) => ({
    metric,
    values: values ?? [value!],
  }));
  compare(points, series, answer.type === 'vector' && answer.ordered);
}
