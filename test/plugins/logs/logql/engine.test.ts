import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { budget, labelsOf, labelsRecord, labelValue, matcher } from 'svc/query';
import {
  detectedLevel,
  instant,
  lines,
  range,
  tailer,
  withServiceName,
} from '../../../../plugins/logs/logql/index.ts';
import { memorySource } from './memory-source.ts';

const fresh = (limits: { maxSamples?: number; maxBytes?: number; signal?: AbortSignal } = {}) =>
  budget({ timeoutMs: 30_000, now: () => performance.now(), ...limits });
const now = (): number => 0;
const always = { start: { ms: 0, ns: 0 }, end: { ms: 1e15, ns: 0 } };

function many(count: number) {
  const source = memorySource({ raw: true });
  for (let i = 0; i < count; i++) {
    source.push(
      [['app', i % 2 === 0 ? 'even' : 'odd']],
      { ms: i * 10, ns: i % 3 },
      `n=${i} level=${i % 5 === 0 ? 'error' : 'info'}`,
    );
  }
  return source;
}

test('a page has the newest lines of all streams, newest first, and no more than asked for', async () => {
  const found = await lines(
    many(200),
    { query: '{app=~".+"} | logfmt', ...always, limit: 5, now },
    fresh(),
  );
  assert.deepEqual(
    found.lines.map(({ line }) => line.split(' ')[0]),
    ['n=199', 'n=198', 'n=197', 'n=196', 'n=195'],
  );
  assert.equal(found.partial, false);
  const oldest = await lines(
    many(200),
    { query: '{app=~".+"}', ...always, limit: 2, direction: 'forward', now },
    fresh(),
  );
  assert.deepEqual(
    oldest.lines.map(({ ms }) => ms),
    [0, 10],
  );
});

test('the source learns what lines must contain, and which times are still wanted', async () => {
  const source = many(200);
  await lines(
    source,
    {
      query: '{app=~".+"} |= "error" |~ "n=1.*" | line_format "x" |= "x"',
      ...always,
      limit: 3,
      now,
    },
    fresh(),
  );
  const [asked] = source.asked;
  assert.deepEqual(asked!.contains!.slice(0, 1), ['error']);
  assert.ok(
    !asked!.contains!.includes('x'),
    'what is looked for in the changed line says nothing about the original',
  );
  assert.equal(asked!.bound!()!.ms, 1850);
});

test('lines that are no better than the page has are not even parsed', async () => {
  let parsed = 0;
  const source = many(2000);
  const counting: typeof source = {
    ...source,
    select: (...args) => watched(source.select(...args)),
  };
  async function* watched(
    batches: ReturnType<typeof source.select>,
  ): ReturnType<typeof source.select> {
    for await (const { labels, entries } of batches) {
      yield {
        labels,
        entries: entries.map((entry) => ({
          ms: entry.ms,
          ns: entry.ns,
          get line() {
            parsed += 1;
            return entry.line;
          },
        })),
      };
    }
  }
  await lines(counting, { query: '{app=~".+"}', ...always, limit: 10, now }, fresh());
  assert.ok(parsed < 50, `${parsed} of 2000 lines were looked at`);
});

test('a search that runs out of budget answers what it has, and says so', async () => {
  const found = await lines(
    many(1000),
    { query: '{app=~".+"}', ...always, limit: 10, now },
    fresh({ maxBytes: 500 }),
  );
  assert.equal(found.partial, true);
  assert.ok(found.lines.length > 0);
});

test('numbers that run out of budget are no numbers', async () => {
  const query = 'quantile_over_time(0.5, {app=~".+"} | logfmt | unwrap n [1h]) by ()';
  await assert.rejects(instant(many(1000), { query, time: 1e6, now }, fresh({ maxSamples: 500 })), {
    kind: 'too_large',
  });
  await assert.rejects(
    instant(many(1000), { query, time: 1e6, now }, fresh({ signal: AbortSignal.abort() })),
    { kind: 'canceled' },
  );
});

test('what a range holds grows with its series and windows, not with its lines', async () => {
  const few = fresh();
  const lots = fresh();
  const query = 'sum by (level) (rate({app=~".+"} | logfmt [10s]))';
  await range(many(100), { query, start: 0, end: 10_000, step: 1000, now }, few);
  await range(many(1000), { query, start: 0, end: 10_000, step: 1000, now }, lots);
  assert.ok(lots.spent.samples <= 22, `${lots.spent.samples} cells for 2 series and 11 windows`);
  assert.ok(few.spent.samples > 0);
});

test('too many series are refused with advice', async () => {
  const query = 'count_over_time({app=~".+"} | logfmt [1h])';
  await assert.rejects(instant(many(1000), { query, time: 1e6, now }, fresh()), {
    kind: 'too_large',
    message: /500.*sum\(\), count\(\) or topk\(\)/,
  });
  assert.ok(await instant(many(1000), { query, time: 1e6, now, maxSeries: 1000 }, fresh()));
  const counted = fresh();
  await assert.rejects(instant(many(100_000), { query, time: 1e6, now }, counted), {
    kind: 'too_large',
  });
  assert.equal(
    counted.spent.samples,
    500,
    'refused with the first series too many, not behind the last line',
  );
});

test('what the asker may see is added to every selector', async () => {
  const enforce = [matcher('app', '=', 'odd')];
  const found = await lines(many(20), { query: '{app=~".+"}', ...always, enforce, now }, fresh());
  assert.ok(found.lines.every(({ labels }) => labelValue(labels, 'app') === 'odd'));
  const numbers = await instant(
    many(20),
    {
      query:
        'sum(count_over_time({app=~".+"}[1h])) - sum(count_over_time({app="even"}[1h])) or vector(7)',
      time: 1e6,
      enforce,
      now,
    },
    fresh(),
  );
  assert.equal(numbers.type === 'vector' && numbers.samples[0]!.value, 7);
});

test('lines where numbers are asked for, and the other way round, are refused', async () => {
  await assert.rejects(instant(many(1), { query: '{app="a"}', time: 0, now }, fresh()), {
    message: /^log queries are not supported as an instant query type/,
  });
  await assert.rejects(lines(many(1), { query: 'vector(1)', ...always, now }, fresh()), {
    message: /only log queries have lines/,
  });
});

test('a tail uses the same stages', () => {
  const { matchers, contains, process } = tailer({
    query: '{app="a"} |= "x" | logfmt | n > 1 | line_format "{{.n}}"',
    now,
  });
  const labels = labelsOf([['app', 'a']]);
  assert.deepEqual([matchers.length, contains], [1, ['x']]);
  assert.equal(process(labels, { ms: 1, ns: 0, line: 'x n=1' }), undefined);
  assert.equal(process(labels, { ms: 1, ns: 0, line: 'x n=2' })!.line, '2');
  assert.equal(process(labels, { ms: 1, ns: 0, line: 'n=2' }), undefined);
});

test('equal label sets are one object', async () => {
  const { lines: found } = await lines(
    many(100),
    { query: '{app=~".+"} | logfmt | keep level', ...always, now },
    fresh(),
  );
  assert.equal(new Set(found.map(({ labels }) => labels)).size, 2);
});

test('every window sum agrees with counting by hand', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: -50, max: 50 })), {
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 90 }),
      fc.constantFrom('sum', 'min', 'max', 'avg', 'last', 'stdvar', 'quantile'),
      async (samples, step, width, op) => {
        const source = memorySource({ raw: true });
        samples.forEach(([at, value], i) =>
          source.push([['app', 'a']], { ms: at, ns: i % 2 }, `v=${value} i=${i}`),
        );
        const call = op === 'quantile' ? 'quantile_over_time(0.5, ' : `${op}_over_time(`;
        const query = `max by () (${call}{app="a"} | logfmt | keep v | unwrap v [${width}ms]))`;
        const { series } = await range(source, { query, start: 0, end: 240, step, now }, fresh());
        const found = new Map(
          series.flatMap(({ times, values }) =>
            [...times].map((time, i) => [time, values[i]!] as const),
          ),
        );
        for (let time = 0; time <= 240; time += step) {
          const inside = samples
            .map(([at, value], i) => ({ at: at + (i % 2) * 1e-6, value }))
            .filter(({ at }) => at > time - width && at <= time)
            .sort((a, b) => a.at - b.at)
            .map(({ value }) => value);
          const wanted = summary(op, inside);
          const actual = found.get(time);
          assert.ok(
            wanted === undefined ? actual === undefined : Math.abs(actual! - wanted) < 1e-9,
            `${op} at ${time}: ${actual} instead of ${wanted}`,
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

function summary(op: string, values: readonly number[]): number | undefined {
  if (values.length === 0) {
    return undefined;
  }
  const sum = values.reduce((a, b) => a + b, 0);
  const mean = sum / values.length;
  const sorted = values.toSorted((a, b) => a - b);
  switch (op) {
    case 'sum':
      return sum;
    case 'avg':
      return mean;
    case 'min':
      return sorted[0];
    case 'max':
      return sorted.at(-1);
    case 'last':
      return values.at(-1);
    case 'stdvar':
      return values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
    default:
      return (
        (sorted[Math.floor((sorted.length - 1) / 2)]! +
          sorted[Math.ceil((sorted.length - 1) / 2)]!) /
        2
      );
  }
}

const hostile = [
  '(a+)+$',
  '(a|a)*b',
  '(.*.*.*.*)*x',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(x+x+)+y',
] as const;

test('expressions that drive other engines mad are harmless', async () => {
  const source = memorySource({ raw: true });
  source.push([['app', 'a'.repeat(2000)]], { ms: 1, ns: 0 }, `${'a'.repeat(30_000)}!`);
  for (const pattern of hostile) {
    const query = `{app=~"a+"} |~ ${JSON.stringify(pattern)} | regexp ${JSON.stringify(`(?P<x>${pattern})`)} | app!~${JSON.stringify(pattern)}`;
    assert.ok(await lines(source, { query, ...always, now }, fresh()));
  }
  await assert.rejects(
    lines(source, { query: `{app=~"a+"} |~ "((a{100}){100}){100}"`, ...always, now }, fresh()),
    { kind: 'bad_data' },
  );
});

test('whatever a line holds, every parser gets through it', async () => {
  const stages = [
    'json',
    'json a="b[0].c"',
    'logfmt',
    'logfmt --strict --keep-empty',
    'unpack',
    'decolorize',
    'pattern "<a>=<b>,<_>"',
    'regexp "(?P<a>.)=(?P<b>.)"',
    'line_format "{{ .a | upper }}{{ __line__ }}"',
    'a=ip("::1")',
  ];
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ':',
    ',',
    '=',
    ' ',
    'a',
    'b',
    '1',
    '-',
    '.',
    'null',
    'true',
    '\u001b[0m',
    'é',
    '\ud800',
    '\0',
    '{"a":',
    '"__proto__":',
    '\n',
    '_entry',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(pieces, { maxLength: 40 }),
      fc.constantFrom(...stages),
      async (parts, stage) => {
        const source = memorySource({ raw: true });
        source.push([['app', 'a']], { ms: 1, ns: 0 }, parts.join(''));
        const found = await lines(
          source,
          { query: `{app="a"} | ${stage}`, ...always, now },
          fresh(),
        );
        assert.ok(found.lines.length <= 1);
        found.lines.forEach(({ labels }) =>
          assert.equal(Object.getPrototypeOf(labelsRecord(labels)), null),
        );
      },
    ),
    { numRuns: 3000 },
  );
});

test('objects nested without end are an error of the line', async () => {
  const source = memorySource({ raw: true });
  source.push([['app', 'a']], { ms: 1, ns: 0 }, '{"a":'.repeat(100_000));
  source.push([['app', 'a']], { ms: 2, ns: 0 }, `{"a":${'['.repeat(100_000)}`);
  const found = await lines(
    source,
    { query: '{app="a"} | json | __error__="JSONParserErr"', ...always, now },
    fresh(),
  );
  assert.equal(found.lines.length, 2);
});

test('the level of a line comes from its labels, its metadata, its fields or its words', () => {
  const none = labelsOf([]);
  const level = (line: string): string => detectedLevel(line, none);
  assert.equal(detectedLevel('level=info', labelsOf([['level', 'WARNING']])), 'warn');
  assert.equal(detectedLevel('level=info', none, labelsOf([['severity', 'Err']])), 'error');
  assert.equal(level('{"level":"Debug","msg":"an error"}'), 'debug');
  assert.equal(level('ts=1 lvl="crit" level=fatal'), 'fatal');
  assert.equal(level('ts=1 level=wrn error=x'), 'warn');
  assert.equal(level('2026 [ERROR] broken'), 'error');
  assert.equal(level('something informative'), 'unknown');
});

test('the service of a stream is named by the best of its labels', () => {
  assert.equal(
    labelValue(
      withServiceName(
        labelsOf([
          ['job', 'j'],
          ['app', 'a'],
        ]),
      ),
      'service_name',
    ),
    'a',
  );
  assert.equal(
    labelValue(
      withServiceName(
        labelsOf([
          ['service_name', 's'],
          ['app', 'a'],
        ]),
      ),
      'service_name',
    ),
    's',
  );
  assert.equal(labelValue(withServiceName(labelsOf([])), 'service_name'), 'unknown_service');
});
