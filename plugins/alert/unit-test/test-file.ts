import { type NativeHistogram, readHistogram } from 'svc/native-histogram';
import { parseDuration } from 'svc/query';

import type { Sample } from '../queries/sample.ts';
import { fieldsOf, readYaml, textOf, textsOf, wrong } from '../rule-file/prometheus-file.ts';
import { type NotedSeries, readMetric, readNumber, readSeries } from './series-notation.ts';

/** A file of rule tests, as Prometheus' own tool reads it. */
export interface TestFile {
  readonly ruleFiles: readonly string[];
  readonly intervalMs: number;
  /** Names of groups that are evaluated in this order. */
  readonly order: readonly string[];
  /** True if a difference in the last place of a value is tolerated. */
  readonly fuzzy: boolean;
  readonly tests: readonly TestGroup[];
}

export interface TestGroup {
  readonly name: string;
  readonly intervalMs: number;
  /** Time of the first sample. */
  readonly startMs: number;
  readonly series: readonly NotedSeries[];
  readonly alerts: readonly AlertTest[];
  readonly queries: readonly QueryTest[];
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly externalUrl: string;
}

export interface AlertTest {
  readonly evalMs: number;
  readonly alertname: string;
  readonly expected: readonly ExpectedAlert[];
}

export interface ExpectedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface QueryTest {
  readonly evalMs: number;
  readonly expr: string;
  readonly expected: readonly Sample[];
}

type Fields = ReadonlyMap<string, unknown>;

const known = {
  file: ['rule_files', 'evaluation_interval', 'group_eval_order', 'tests', 'fuzzy_compare'],
  test: [
    'name',
    'interval',
    'start_timestamp',
    'input_series',
    'alert_rule_test',
    'promql_expr_test',
    'external_labels',
    'external_url',
  ],
  series: ['series', 'values'],
  alert: ['eval_time', 'alertname', 'exp_alerts'],
  expected: ['exp_labels', 'exp_annotations'],
  query: ['expr', 'eval_time', 'exp_samples'],
  sample: ['labels', 'value', 'histogram'],
} as const;

export function readTestFile(text: string): TestFile {
  const fields = closed(readYaml(text, 'the test file'), 'the test file', known.file);
  const intervalMs = spanOf(fields, 'evaluation_interval', '') ?? 60_000;
  if (intervalMs <= 0) {
    throw wrong('evaluation_interval', 'must be above zero');
  }
  return {
    ruleFiles: listOf(fields, 'rule_files', '').map(String),
    intervalMs,
    order: listOf(fields, 'group_eval_order', '').map(String),
    fuzzy: fields.get('fuzzy_compare') === true,
    tests: listOf(fields, 'tests', '').map((test, index) =>
      readTest(test, `tests[${index}]`, intervalMs),
    ),
  };
}

function readTest(value: unknown, path: string, evaluationMs: number): TestGroup {
  const fields = closed(value, path, known.test);
  return {
    name: textOf(fields, 'name', path) ?? '',
    intervalMs: spanOf(fields, 'interval', path) ?? evaluationMs,
    startMs: startOf(fields, path),
    series: listOf(fields, 'input_series', path).map((one, index) => {
      const at = `${path}.input_series[${index}]`;
      const series = closed(one, at, known.series);
      return readSeries(required(series, 'series', at), textOf(series, 'values', at) ?? '', at);
    }),
    alerts: listOf(fields, 'alert_rule_test', path).map((one, index) =>
      readAlertTest(one, `${path}.alert_rule_test[${index}]`),
    ),
    queries: listOf(fields, 'promql_expr_test', path).map((one, index) =>
      readQueryTest(one, `${path}.promql_expr_test[${index}]`),
    ),
    externalLabels: textsOf(fields, 'external_labels', path),
    externalUrl: textOf(fields, 'external_url', path) ?? '',
  };
}

function readAlertTest(value: unknown, path: string): AlertTest {
  const fields = closed(value, path, known.alert);
  return {
    evalMs: spanOf(fields, 'eval_time', path) ?? 0,
    alertname: required(fields, 'alertname', path),
    expected: listOf(fields, 'exp_alerts', path).map((one, index) => {
      const at = `${path}.exp_alerts[${index}]`;
      const alert = closed(one ?? new Map(), at, known.expected);
      return {
        labels: textsOf(alert, 'exp_labels', at),
        annotations: textsOf(alert, 'exp_annotations', at),
      };
    }),
  };
}

function readQueryTest(value: unknown, path: string): QueryTest {
  const fields = closed(value, path, known.query);
  return {
    evalMs: spanOf(fields, 'eval_time', path) ?? 0,
    expr: required(fields, 'expr', path),
    expected: listOf(fields, 'exp_samples', path).map((one, index) => {
      const at = `${path}.exp_samples[${index}]`;
      const sample = closed(one, at, known.sample);
      const text = textOf(sample, 'labels', at) ?? '';
      const labels = text.trim() === '' ? {} : readMetric(text, at);
      const noted = textOf(sample, 'histogram', at) ?? '';
      return noted === ''
        ? { labels, value: readNumber(textOf(sample, 'value', at) ?? '0', at) }
        : { labels, value: 0, histogram: expectedHistogram(noted, at) };
    }),
  };
}

function expectedHistogram(text: string, path: string): NativeHistogram {
  const found = readHistogram(text);
  if (typeof found === 'string') {
    throw wrong(`${path}.histogram`, found);
  }
  return found.histogram;
}

function closed(value: unknown, path: string, names: readonly string[]): Fields {
  const fields = fieldsOf(value, path);
  const unknown = [...fields.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw wrong(
      path,
      `has a field ${unknown.slice(0, 60)}, which is not supported; supported are ${names.join(', ')}`,
    );
  }
  return fields;
}

function listOf(fields: Fields, name: string, path: string): readonly unknown[] {
  const value = fields.get(name);
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value)) {
    throw wrong(path === '' ? name : `${path}.${name}`, 'must be a list');
  }
  return value;
}

function required(fields: Fields, name: string, path: string): string {
  const text = textOf(fields, name, path);
  if (text === undefined || text.trim() === '') {
    throw wrong(`${path}.${name}`, 'is missing');
  }
  return text;
}

function spanOf(fields: Fields, name: string, path: string): number | undefined {
  const text = textOf(fields, name, path);
  return text === undefined || text === '' ? undefined : parseDuration(text);
}

/** Seconds since 1970, or RFC 3339. */
function startOf(fields: Fields, path: string): number {
  const text = textOf(fields, 'start_timestamp', path) ?? '0';
  const ms = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  if (Number.isNaN(ms)) {
    throw wrong(
      `${path}.start_timestamp`,
      'must be seconds since 1970, or a time such as 2026-01-01T00:00:00Z',
    );
  }
  return ms;
}
