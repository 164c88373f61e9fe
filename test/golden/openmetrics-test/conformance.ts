/**
 * Reads texts of OpenMetrics from the tests of other parsers, which stay where they were fetched: what must be taken, as what, and what not.
 *
 *   npm run openmetrics-conformance -- <checkout of Prometheus> [<checkout of client_python>] [--verbose]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import {
  fieldsOf,
  functionBody,
  type GoField,
  type GoValue,
  literalAt,
  tableOf,
} from '../go-literals.ts';
import { read, type ReadSample } from './reading.ts';
import { judgedPython } from './python-cases.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', default: false } },
});
const [prometheus, python] = positionals;
if (prometheus === undefined) {
  console.error(
    'Which sources? npm run openmetrics-conformance -- <checkout of Prometheus> [<checkout of client_python>]',
  );
  process.exit(2);
}

const source = readFileSync(join(prometheus, 'model/textparse/openmetricsparse_test.go'), 'utf8');
let asked = 0;
let passed = 0;
told('Prometheus, texts and what is read of them', [
  ...samplesOf('TestOpenMetricsParse'),
  ...samplesOf('TestOpenMetricsParse_UTF8'),
]);
told('Prometheus, texts that are refused', refusals());
if (python !== undefined) {
  const { taken, refused, semantic } = judgedPython(
    readFileSync(join(python, 'tests/openmetrics/test_parser.py'), 'utf8'),
  );
  told('client_python, texts that are taken', taken);
  told('client_python, texts that are refused for how they are written', refused);
  // A store takes what Prometheus takes: it holds samples, not families, and asks of none whether its type allows it.
  console.log(
    `client_python, texts that are refused for what they mean: not asked for, ${semantic.length} are refused all the same`,
  );
}
console.log(`${passed} of ${asked}`);
process.exitCode = passed === asked ? 0 : 1;

function told(what: string, wrong: readonly (string | undefined)[]): void {
  const bad = wrong.filter((one) => one !== undefined);
  asked += wrong.length;
  passed += wrong.length - bad.length;
  console.log(`${what}: ${wrong.length - bad.length} of ${wrong.length}`);
  bad.forEach((line) => console.log(`  ${line}`));
}

/** Compares each sample that the test expects with the one parsed; returns the differences. */
function samplesOf(test: string): (string | undefined)[] {
  const body = functionBody(source, test);
  const input = [...body.matchAll(/input :?\+?= (`[^`]*`|"(?:\\.|[^"\\])*")/g)]
    .map(([, text]) => goText(text!))
    .join('');
  const found = read(input);
  if (typeof found === 'string') {
    return [found];
  }
  // Times of creation are samples here; that test has them left out.
  const samples = found.filter(
    ({ labels }) =>
      !(labels['__name__'] ?? '').endsWith('_created') || labels['__name__'] === 'fizz_created',
  );
  const expected = literalAt(body, /exp := \[\]parsedEntry\{/)
    .map(({ value }) => fieldsOf(value))
    .filter((fields) => field(fields, 'lset') !== undefined);
  return expected.map((fields, at) => {
    const [wanted, got] = [
      shown(wantedOf(fields)),
      samples[at] === undefined ? 'nothing' : shown(samples[at]),
    ];
    return wanted === got ? undefined : `${got} instead of ${wanted}`;
  });
}

function refusals(): (string | undefined)[] {
  return tableOf(source, 'TestOpenMetricsParseErrors').map((fields) => {
    const input = field(fields, 'input') as string;
    const found = read(input, input.includes('\xff'));
    const taken = field(fields, 'err') === 'EOF';
    if (values.verbose) {
      console.log(`  ${JSON.stringify(input)}: ${typeof found === 'string' ? found : 'taken'}`);
    }
    return (typeof found !== 'string') === taken
      ? undefined
      : `${JSON.stringify(input)}: ${typeof found === 'string' ? found : 'taken'}`;
  });
}

function wantedOf(fields: readonly GoField[]): ReadSample {
  const exemplars = field(fields, 'es');
  const [first] =
    exemplars === undefined ? [] : fieldsOf(exemplars).map(({ value }) => fieldsOf(value));
  return {
    labels: labelsOf(field(fields, 'lset')!),
    value: numberOf(field(fields, 'v') ?? 0),
    time: field(fields, 't') === undefined ? undefined : numberOf(argsOf(field(fields, 't')!)[0]!),
    exemplar:
      first === undefined
        ? undefined
        : {
            labels: labelsOf(field(first, 'Labels')!),
            value: numberOf(field(first, 'Value') ?? 0),
            time: field(first, 'Ts') as number | undefined,
          },
  };
}

/** `labels.FromStrings(…)`, or the last of them among the arguments of another call. */
function labelsOf(value: GoValue): Readonly<Record<string, string>> {
  const args = argsOf(value);
  const last = args.findLast(
    (one) => typeof one === 'object' && 'call' in one && one.call === 'labels.FromStrings',
  );
  if (last !== undefined) {
    return labelsOf(last);
  }
  return Object.fromEntries(
    Array.from({ length: args.length / 2 }, (_, at) => [
      args[at * 2] as string,
      args[at * 2 + 1] as string,
    ]),
  );
}

function field(fields: readonly GoField[], name: string): GoValue | undefined {
  return fields.find(({ key }) => typeof key === 'object' && 'name' in key && key.name === name)
    ?.value;
}

function argsOf(value: GoValue): readonly GoValue[] {
  return typeof value === 'object' && 'args' in value ? value.args : [];
}

function numberOf(value: GoValue): number {
  // The only other one is NaN, by its bits.
  return typeof value === 'number' ? value : NaN;
}

/** Bounds stay here as they are written; there, `1` becomes `1.0`. */
function shown({ labels, value, time, exemplar }: ReadSample): string {
  const bounds = ['le', 'quantile'].flatMap((name) =>
    labels[name] === undefined || Number.isNaN(Number(labels[name]))
      ? []
      : [[name, Number(labels[name])]],
  );
  const sorted = (one: object): object =>
    Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({
    labels: sorted({ ...labels, ...Object.fromEntries(bounds) }),
    value: String(value),
    time,
    exemplar: exemplar && { ...exemplar, labels: sorted(exemplar.labels) },
  });
}

function goText(text: string): string {
  const [only] = literalAt(`x{${text}}`, /x\{/);
  return only!.value as string;
}
