import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { budget, labelsOf, type Matcher } from 'svc/query';

import { parse as parseLogql } from '../../plugins/logs/logql/parse.ts';
import {
  instant,
  parse as parsePromql,
  selectorsOf,
} from '../../plugins/metricsdb/promql/index.ts';
import { parse as parseTraceql } from '../../plugins/traces/traceql/parse/parser.ts';
import { MemoryStore } from '../golden/promql-test/runner/memory.ts';
import { metricNames } from './metric-names.ts';
import { exportersOf, fences, guides, playbooks } from './playbooks.ts';

test('every LogQL and TraceQL query parses', () => {
  for (const [language, parse] of [
    ['logql', parseLogql],
    ['traceql', parseTraceql],
  ] as const) {
    const queries = fences(language);
    assert.ok(queries.length > 15, `${queries.length} queries of ${language}`);
    queries.forEach(({ path, query }) =>
      assert.doesNotThrow(() => parse(query), `${path}: ${query}`),
    );
  }
});

/** Labels of streams: those of agents, of svc's own log, and of programs that push or send OTLP. */
const streamLabels = ['device_id', 'filename', 'host', 'job', 'level', 'service_name', 'unit'];

test('every LogQL query selects streams by labels that they have', () => {
  for (const { path, query } of fences('logql')) {
    for (const [, selector = ''] of query.matchAll(/\{([^{}]*)\}/g)) {
      for (const [, label = ''] of selector.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)) {
        assert.ok(streamLabels.includes(label), `${path}: no stream has ${label}: ${query}`);
      }
    }
  }
});

describe('metrics', () => {
  let known: ReadonlySet<string>;
  before(async () => {
    known = new Set([...(await metricNames()), ...exportersOf.keys()]);
  });

  test('every PromQL query asks for metrics that svc, its agents or an exporter named in the text make', () => {
    const queries = fences('promql');
    assert.ok(queries.length > 150, `${queries.length} queries`);
    for (const { path, body, query } of queries) {
      for (const { name, matchers } of selectorsOf(parsePromql(query))) {
        const names = namesOf(name, matchers, known);
        assert.ok(
          names.some((one) => known.has(one)),
          `${path} asks for ${name}, which nothing makes: ${query}`,
        );
        const exporters = names.map((one) => exportersOf.get(one));
        assert.ok(
          exporters.some((exporter) => exporter === undefined || body.includes(exporter)),
          `${path} asks for ${name} and does not say that it needs ${exporters[0]}`,
        );
      }
    }
  });

  test('every PromQL query answers on a host that has its metrics', async () => {
    const silent: string[] = [];
    for (const { path, query } of fences('promql')) {
      try {
        if (!(await isAnswered(query, known))) {
          silent.push(`${path}: ${query}`);
        }
      } catch (error) {
        silent.push(`${path}: ${query}: ${String(error)}`);
      }
    }
    assert.deepEqual(silent, []);
  });

  test('every metric that a text names in passing exists', () => {
    for (const { path, body } of [...playbooks, ...guides]) {
      for (const [, name] of body.matchAll(/`((?:node|namedprocess|svc|traces)_[a-zA-Z0-9_]+)`/g)) {
        assert.ok(known.has(name!), `${path} names ${name}`);
      }
    }
  });
});

const day = 24 * 3_600;
/** Moment of the question, in seconds: a month after the first sample could be. */
const now = 30 * day;

/** Value of a series at a second, by the place of its selector in the query. */
type Shape = (second: number, place: number) => number;

/** Hosts in different states: a query that filters answers on one of them. */
const shapes: Readonly<Record<string, Shape>> = {
  rising: (second) => second * 1e6,
  zero: () => 0,
  one: () => 1,
  falling: (second) => (now + 3_600 - second) * 1e6,
  'first one larger': (second, place) => second * 1e6 + 1e3 / (place + 1),
  'last one larger': (second, place) => second * 1e6 + 1e3 * (place + 1),
  restarting: (second) => second % 300,
};

const interval = 30;

async function isAnswered(query: string, known: ReadonlySet<string>): Promise<boolean> {
  const tried = query.startsWith('absent(') ? [undefined] : Object.values(shapes);
  for (const shape of tried) {
    if ((await answersOn(query, known, shape)) > 0) {
      return true;
    }
  }
  return false;
}

/** Number of series in the answer on two hosts that have what the query asks for, or on none. */
async function answersOn(
  query: string,
  known: ReadonlySet<string>,
  shape: Shape | undefined,
): Promise<number> {
  const store = new MemoryStore();
  const expr = parsePromql(query);
  const from = now - 30 * 60;
  const offset = offsetIn(query);
  const grouping = [...query.matchAll(/\b(?:by|on|group_left|group_right) ?\(([^()]*)\)/g)]
    .flatMap(([, names]) => names!.split(','))
    .map((name) => [name.trim(), 'x'] as const)
    .filter(([name]) => name !== '' && name !== 'le' && !name.startsWith('__'));
  const selectors = shape === undefined ? [] : selectorsOf(expr);
  selectors.forEach(({ name, matchers }, place) => {
    for (const metric of namesOf(name, matchers, known)) {
      const pinned = matchers.find((one) => one.name === 'device_id' && one.op === '=');
      for (const host of pinned === undefined ? ['7', '8'] : [pinned.value]) {
        for (const labels of labelSets(matchers, metric, host)) {
          for (const begin of new Set([from, from - offset])) {
            store.add(
              labelsOf([...new Map([...grouping, ...labels])]),
              interval * 1_000,
              Array.from({ length: (now - from) / interval + 1 }, (_, index) =>
                shape!(begin + index * interval, place),
              ),
              begin * 1_000,
            );
          }
        }
      }
    }
  });
  const answer = await instant(
    store,
    { query, time: now * 1_000 },
    budget({ timeoutMs: 30_000, maxSamples: 10_000_000, now: () => performance.now() }),
  );
  return answer.type === 'vector'
    ? answer.samples.length
    : answer.type === 'matrix'
      ? answer.series.length
      : 1;
}

/** Seconds by which a query looks back with `offset`. */
function offsetIn(query: string): number {
  const [, count, unit] = /offset (\d+)([hdw])/.exec(query) ?? [];
  return count === undefined ? 0 : Number(count) * { h: 3_600, d: day, w: 7 * day }[unit as 'h'];
}

/** Labels that a metric of one host has for these matchers to select it: one set per alternative. */
function labelSets(
  matchers: readonly Matcher[],
  metric: string,
  host: string,
): readonly ReadonlyMap<string, string>[] {
  let sets: readonly ReadonlyMap<string, string>[] = [
    new Map([
      ['__name__', metric],
      ['device_id', host],
      ['instance', `host-${host}`],
      ['job', 'node'],
    ]),
  ];
  if (metric.endsWith('_bucket')) {
    sets = ['0.1', '1', '+Inf'].flatMap((le) => sets.map((set) => new Map([...set, ['le', le]])));
  }
  for (const { name, op, value, matches } of matchers) {
    if (name === '__name__') {
      continue;
    }
    const candidates =
      op === '='
        ? [value]
        : [...alternatives(value), 'x', '/x'].filter((candidate) => matches(candidate));
    sets = candidates
      .slice(0, 3)
      .flatMap((candidate) => sets.map((set) => new Map([...set, [name, candidate]])));
  }
  return sets;
}

/** Literal readings of a pattern such as `a|b.*` or `svc_(a|b)`. */
function alternatives(pattern: string): readonly string[] {
  const [, head = '', inner, tail = ''] = /^([^(|]*)\(([^()]*)\)(.*)$/.exec(pattern) ?? [];
  const texts =
    inner === undefined
      ? pattern.split('|')
      : inner.split('|').map((choice) => `${head}${choice}${tail}`);
  return texts.map((text) => text.replaceAll(/\.[*+]/g, 'x').replaceAll('\\', ''));
}

function namesOf(
  name: string,
  matchers: readonly Matcher[],
  known: ReadonlySet<string>,
): readonly string[] {
  if (name !== '') {
    return [name];
  }
  const named = matchers.filter((matcher) => matcher.name === '__name__');
  // A selector without a name asks for whatever has its labels.
  return named.length === 0
    ? ['up']
    : [...known].filter((one) => named.every(({ matches }) => matches(one)));
}
