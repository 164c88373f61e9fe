import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';
import { budget } from 'svc/query';

import { metrics, type MetricsResult, parse } from '../../../plugins/traces/traceql/index.ts';
import { keyOf } from '../../../plugins/traces/traceql/search/values.ts';
import type { Attribute, Span, Value } from '../../../plugins/traces/traceql/spans/span.ts';
import { memorySource, spanOf } from '../../plugins/traces/spans.ts';
import { functionBody } from '../go-literals.ts';
import type { Judged } from './go-evaluations.ts';

/**
 * Expected value of one series at one time; `series` is the number of series of the answer, if
 * given.
 */
interface Wanted {
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly at: number;
  readonly value: number;
}

/** The tests of engine_metrics_test.go that run a query over spans: each value of a series that they look at. */
export async function goMetrics(tempo: string): Promise<Judged[]> {
  const source = readFileSync(join(tempo, 'pkg/traceql/engine_metrics_test.go'), 'utf8');
  const judged: Judged[] = [];
  for (const [, table] of source.matchAll(/^func (Test\w+)\(/gm)) {
    const body = functionBody(source, table!).replaceAll(/\/\/.*$/gm, '');
    const query = /Query: "([^"]+)"/.exec(body)?.[1];
    const reason = reasonOf(body, query);
    judged.push(
      ...(reason === undefined
        ? await judgedTest(table!, query!, body)
        : [{ table: table!, query: query ?? '', reason }]),
    );
  }
  return judged;
}

function reasonOf(body: string, query: string | undefined): string | undefined {
  if (query === undefined || !/runTraceQLMetric\(req, in/.test(body)) {
    return 'no query that runs over spans: how its queriers divide, merge and shorten';
  }
  if (body.includes('percentileHelper(')) {
    return 'its values are worked out by the function that it tests';
  }
  return body.includes('req1') ? 'one query in two parts, for two queriers' : undefined;
}

async function judgedTest(table: string, query: string, body: string): Promise<Judged[]> {
  const names = namesIn(body);
  const spans = spansIn(body, names);
  const at = (field: string): number =>
    numberOf(new RegExp(`\\b${field}: +(.+),`).exec(body)![1]!, names);
  const [start, end, step] = [at('Start') / 1e6, at('End') / 1e6, at('Step') / 1e6];
  const first = body.includes('SetInstant(true)') ? end : Math.ceil(start / step) * step;
  try {
    const found = await metrics(
      memorySource({ traceId: '1'.padStart(32, '0'), spans }),
      parse(query),
      {
        start: first,
        end,
        step: first === end ? end - start : step,
        closed: first === end,
        exemplars: 0,
      },
      budget({ timeoutMs: 10_000 }),
    );
    const count =
      /require\.Equal\(t, (\d+), len\(result\)\)/.exec(body)?.[1] ??
      (body.includes('len(ts) == 0') ? '0' : undefined);
    const whole =
      count === undefined
        ? []
        : [
            {
              table,
              query,
              ...(found.series.length !== Number(count) && {
                wrong: `${found.series.length} series instead of ${count}`,
              }),
            },
          ];
    return [
      ...whole,
      ...wantedIn(body, names).map((wanted) => ({ table, query, ...judgedValue(found, wanted) })),
    ];
  } catch (error) {
    return [{ table, query, wrong: messageOf(error) }];
  }
}

function judgedValue(
  { series }: MetricsResult,
  { labels, at, value }: Wanted,
): { readonly wrong?: string } {
  const key = (pairs: readonly (readonly [string, string])[]): string =>
    JSON.stringify(pairs.map((pair) => pair.join('=')).sort());
  const own = series.find(
    (one) => key(one.labels.map(({ key: name, value: of }) => [name, keyOf(of)])) === key(labels),
  );
  const got = own?.values[at] ?? NaN;
  const same = Number.isNaN(value)
    ? Number.isNaN(got)
    : Math.abs(got - value) <= 1e-9 * Math.abs(value);
  return same ? {} : { wrong: `${JSON.stringify(labels)} is ${got} at ${at} instead of ${value}` };
}

type Names = ReadonlyMap<string, number>;

/** `start := …`, `_128ns = …` */
function namesIn(body: string): Names {
  const names = new Map<string, number>();
  for (const [, name, text] of body.matchAll(/^\s*(\w+)\s+:?= (.+)$/gm)) {
    const number =
      /^(?:NewStaticFloat\(|uint64\()?[\d(]|^end /.test(text!) && !/[[{"]/.test(text!)
        ? numberOf(text!, names)
        : NaN;
    if (!Number.isNaN(number)) {
      names.set(name!, number);
    }
  }
  return names;
}

function spansIn(body: string, names: Names): Span[] {
  const spans: Span[] = [];
  const add = (startNs: number, durationNs: number, attributes: readonly Attribute[]): void => {
    const id = (spans.length + 1).toString(16).padStart(16, '0');
    spans.push({
      ...spanOf({ id }),
      startMs: startNs / 1e6,
      startNs: BigInt(startNs),
      durationNs,
      attributes,
    });
  };
  for (const [line] of body.matchAll(/^\s*newMockSpan\(nil\).*$/gm)) {
    const attributes = [
      ...line.matchAll(/\.WithSpan(String|Int|Float)\("([^"]+)", ([^)]+)\)/g),
    ].map(([, type, key, text]): Attribute => ({
      key: key!,
      value:
        type === 'String'
          ? { type: 'string', value: text!.slice(1, -1) }
          : { type: type === 'Int' ? 'int' : 'float', value: numberOf(text!, names) },
    }));
    const argument = (name: string): number =>
      numberOf(
        new RegExp(`\\.${name}\\(((?:[^()]|\\([^()]*\\))*)\\)`).exec(line)?.[1] ?? '0',
        names,
      );
    add(argument('WithStartTime'), argument('WithDuration'), attributes);
  }
  for (const [, count, seconds, value] of body.matchAll(
    /generateSpans\((\d+), \[\]int\{([^}]*)\}, "(\w+)"\)/g,
  )) {
    for (let i = 0; i < Number(count); i++) {
      seconds!
        .split(',')
        .forEach((second) =>
          add(Number(second) * 1e9, 128 * (i + 1), [
            { key: 'foo', value: { type: 'string', value: value! } },
          ]),
        );
    }
  }
  return spans;
}

/** Returns expected values: from complete series, and from assertions about single ones. */
function wantedIn(body: string, names: Names): Wanted[] {
  const wanted: Wanted[] = [];
  const all = (labels: Wanted['labels'], list: string): void =>
    list
      .split(',')
      .forEach(
        (text, at) =>
          text.trim() !== '' && wanted.push({ labels, at, value: numberOf(text, names) }),
      );
  for (const [, labels, values] of body.matchAll(
    /Labels: \[\]Label\{([^]*?)\n\s*\},\s*Values: +\[\]float64\{([^}]*)\}/g,
  )) {
    const pairs = [...labels!.matchAll(/\{Name: "?([\w.]+)"?, Value: (.+)\},/g)].map(
      ([, name, value]) =>
        [
          name === 'internalLabelBucket' ? '__bucket' : name!,
          keyOf(valueOf(value!, names)),
        ] as const,
    );
    all(pairs, values!);
  }
  for (const [, name, args] of body.matchAll(/(\w+) := result\[LabelsFromArgs\(([^)]*)\)/g)) {
    const words = [...args!.matchAll(/"([^"]*)"/g)].map(([, word]) => word!);
    const labels = [[words[0]!, `string:${words[1]}`]] as const;
    for (const [, at] of body.matchAll(new RegExp(`IsNaN\\(${name}\\.Values\\[(\\d+)\\]`, 'g'))) {
      wanted.push({ labels, at: Number(at), value: NaN });
    }
    for (const [, text, at, scaled] of body.matchAll(
      new RegExp(
        `(?:Equal|InEpsilon)\\(t, ([^\\n]+), ${name}\\.Values\\[(\\d+)\\](\\*float64\\(time\\.Second\\))?`,
        'g',
      ),
    )) {
      wanted.push({
        labels,
        at: Number(at),
        value: numberOf(text!, names) / (scaled === undefined ? 1 : 1e9),
      });
    }
    for (const [, list] of body.matchAll(
      new RegExp(`Equal\\(t, \\[\\]float64\\{([^}]*)\\}, ${name}\\.Values\\)`, 'g'),
    )) {
      all(labels, list!);
    }
  }
  return wanted;
}

function valueOf(text: string, names: Names): Value {
  const word = /^NewStaticString\("([^"]*)"\)$/.exec(text)?.[1];
  return word === undefined
    ? { type: 'float', value: numberOf(text, names) }
    : { type: 'string', value: word };
}

/** Sums and products of numbers and names, as Go writes them. */
function numberOf(text: string, names: Names): number {
  const tokens =
    text
      .replaceAll(/\b(?:uint64|float64|NewStaticFloat|float64)\(/g, '(')
      .match(/math\.NaN\(\)|time\.\w+|[A-Za-z_]\w*|\d[\d_]*\.?\d*|[-+*/()]/g) ?? [];
  let next = 0;
  const units: Readonly<Record<string, number>> = {
    'time.Second': 1e9,
    'time.Millisecond': 1e6,
    'time.Microsecond': 1e3,
    'time.Nanosecond': 1,
    'math.NaN()': NaN,
  };
  const single = (): number => {
    const token = tokens[next++] ?? '';
    if (token === '(' || token === '-') {
      const inner = token === '-' ? -single() : sum();
      next += token === '(' ? 1 : 0;
      return inner;
    }
    return units[token] ?? names.get(token) ?? Number(token.replaceAll('_', ''));
  };
  const product = (): number => {
    let value = single();
    while (tokens[next] === '*' || tokens[next] === '/') {
      value = tokens[next++] === '*' ? value * single() : value / single();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[next] === '+' || tokens[next] === '-') {
      value = tokens[next++] === '+' ? value + product() : value - product();
    }
    return value;
  };
  return sum();
}
