import type { LabelRecord, ScratchRow, ScratchSeries } from 'svc/contracts/metricsdb';
import { type NativeHistogram, printHistogram } from 'svc/native-histogram';
import { formatDuration, formatFloat } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { type Sample, samplesOf } from '../queries/sample.ts';
import { withoutEmpty } from '../recording/recording.ts';
import type { RuleGroup } from '../rule-file/prometheus-file.ts';
import { labelKey } from '../rule/label-key.ts';
import { emptyContext } from '../template/template.ts';
import { errors } from './errors.ts';
import { GroupRun } from './group-run.ts';
import type { Item, NotedSeries } from './series-notation.ts';
import type { AlertTest, QueryTest, TestFile, TestGroup } from './test-file.ts';

/** Mismatch with the test: the lines that were expected and those that came instead. */
export interface Failure {
  readonly kind: 'alert' | 'query' | 'rule';
  /** Offset from the start of the test. */
  readonly at: string;
  readonly subject: string;
  readonly expected: readonly string[];
  readonly got: readonly string[];
  readonly message?: string;
}

export interface TestOutcome {
  readonly name: string;
  readonly ok: boolean;
  readonly failures: readonly Failure[];
  readonly evaluations: number;
}

const maxEvaluations = 500_000;
const maxRuleFailures = 20;

/** Runs one test: its series, the groups over them, and what is expected at its times. */
export async function runTest(
  file: TestFile,
  test: TestGroup,
  groups: readonly RuleGroup[],
  store: ScratchSeries,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const { externalLabels, externalUrl } = test;
  const runs = inOrder(groups, file.order).map(
    (group) => new GroupRun(group, store, { ...emptyContext, externalLabels, externalUrl }),
  );
  const last = Math.max(
    0,
    ...test.alerts.map(({ evalMs }) => evalMs),
    ...test.queries.map(({ evalMs }) => evalMs),
  );
  const steps = Math.floor(last / file.intervalMs) + 1;
  const evaluations = steps * runs.reduce((sum, { size }) => sum + size, 0);
  if (evaluations > maxEvaluations) {
    throw errors.test_too_long({ evaluations, max: maxEvaluations });
  }
  await store.write(test.series.flatMap((series) => rowsOf(series, test)));
  const failures: Failure[] = [];
  for (let step = 0; step < steps; step++) {
    const sinceStart = step * file.intervalMs;
    for (const run of runs) {
      const failed = await run.step(test.startMs + sinceStart, signal);
      failed.forEach(({ rule, cause }) =>
        failures.filter(({ kind }) => kind === 'rule').length < maxRuleFailures
          ? failures.push({
              kind: 'rule',
              at: formatDuration(sinceStart),
              subject: rule,
              expected: [],
              got: [],
              message: cause,
            })
          : undefined,
      );
    }
    const due = test.alerts.filter(
      ({ evalMs }) => evalMs >= sinceStart && evalMs < sinceStart + file.intervalMs,
    );
    failures.push(...due.flatMap((alert) => differingAlerts(alert, runs)));
  }
  for (const query of test.queries) {
    failures.push(...(await differingSamples(query, test, file, store, signal)));
  }
  return { name: test.name, ok: failures.length === 0, failures, evaluations };
}

/** Sorts the groups: those that `order` names come first, in its order. */
function inOrder(groups: readonly RuleGroup[], order: readonly string[]): readonly RuleGroup[] {
  const unknown = order.find((name) => !groups.some((group) => group.name === name));
  if (unknown !== undefined) {
    throw errors.unknown_group({ group: unknown });
  }
  const rank = ({ name }: RuleGroup): number =>
    order.includes(name) ? order.indexOf(name) : order.length;
  return [...groups].sort((a, b) => rank(a) - rank(b));
}

const isHistogram = (item: Item): item is NativeHistogram => typeof item === 'object';

function rowsOf({ labels, items }: NotedSeries, { startMs, intervalMs }: TestGroup): ScratchRow[] {
  const there = items.flatMap((item, index) =>
    item === undefined ? [] : [{ item, time: startMs + index * intervalMs }],
  );
  return there.length === 0
    ? []
    : [
        {
          labels,
          times: Float64Array.from(there, ({ time }) => time),
          values: Float64Array.from(there, ({ item }) => (typeof item === 'number' ? item : NaN)),
          ...(items.includes('stale') && {
            stale: Uint8Array.from(there, ({ item }) => (item === 'stale' ? 1 : 0)),
          }),
          ...(items.some(isHistogram) && {
            histograms: there.map(({ item }) => (isHistogram(item) ? item : undefined)),
          }),
        },
      ];
}

function differingAlerts(
  { evalMs, alertname, expected }: AlertTest,
  runs: readonly GroupRun[],
): Failure[] {
  const shown = (labels: LabelRecord, annotations: LabelRecord): string =>
    `${alertname}${labelText(labels)} annotations ${labelText(annotations)}`;
  const wanted = expected
    .map(({ labels, annotations }) => shown(withoutEmpty({ ...labels, alertname }), annotations))
    .sort();
  const got = runs
    .flatMap((run) => run.firing(alertname))
    .map(({ labels, annotations }) => shown(labels, annotations))
    .sort();
  return sameLines(wanted, got)
    ? []
    : [{ kind: 'alert', at: formatDuration(evalMs), subject: alertname, expected: wanted, got }];
}

async function differingSamples(
  { evalMs, expr, expected }: QueryTest,
  { startMs }: TestGroup,
  { fuzzy }: TestFile,
  store: ScratchSeries,
  signal: AbortSignal,
): Promise<Failure[]> {
  const failure = { kind: 'query', at: formatDuration(evalMs), subject: expr } as const;
  try {
    const got = [...samplesOf(await store.instant(expr, startMs + evalMs, { signal }))].sort(
      byLabels,
    );
    const wanted = [...expected].sort(byLabels);
    const same =
      wanted.length === got.length &&
      wanted.every(
        (one, index) =>
          labelKey(one.labels) === labelKey(got[index]!.labels) &&
          isSameSample(one, got[index]!, fuzzy),
      );
    return same ? [] : [{ ...failure, expected: wanted.map(sampleText), got: got.map(sampleText) }];
  } catch (error) {
    signal.throwIfAborted();
    return [{ ...failure, expected: expected.map(sampleText), got: [], message: messageOf(error) }];
  }
}

const byLabels = (a: Sample, b: Sample): number =>
  labelKey(a.labels) < labelKey(b.labels) ? -1 : 1;
const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);

const sampleText = ({
  labels: { __name__: name = '', ...labels },
  value,
  histogram,
}: Sample): string =>
  `${name}${labelText(labels)} ${histogram === undefined ? formatFloat(value) : printHistogram(histogram)}`;

const labelText = (labels: LabelRecord): string =>
  `{${Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ')}}`;

/**
 * Returns whether two samples are equal; histograms are compared by their text, which says how each
 * continues from the one before.
 */
function isSameSample(a: Sample, b: Sample, fuzzy: boolean): boolean {
  return a.histogram === undefined || b.histogram === undefined
    ? a.histogram === b.histogram && isSame(a.value, b.value, fuzzy)
    : printHistogram(a.histogram) === printHistogram(b.histogram);
}

function isSame(a: number, b: number, fuzzy: boolean): boolean {
  return (
    Object.is(a, b) ||
    a === b ||
    (fuzzy &&
      Number.isFinite(a) &&
      Number.isFinite(b) &&
      Math.abs(Number(orderOf(a) - orderOf(b))) <= 1)
  );
}

const bits = new DataView(new ArrayBuffer(8));

/** Numbers that are next to each other are one apart: the one unit in the last place that fuzzy_compare lets pass. */
function orderOf(value: number): bigint {
  bits.setFloat64(0, value);
  const order = bits.getBigInt64(0);
  return order < 0n ? -(order & 0x7fff_ffff_ffff_ffffn) : order;
}
