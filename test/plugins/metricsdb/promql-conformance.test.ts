import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { test } from 'node:test';

import { budget, formatFloat, type Labels, labelsOf, labelsRecord } from 'svc/query';
import { ProtoReader, snappyDecode } from 'svc/store';

import { instant, range } from '../../../plugins/metricsdb/promql/index.ts';
import { httpEngine } from '../../golden/promql-test/runner/http-engine.ts';
import { MemoryStore } from '../../golden/promql-test/runner/memory.ts';
import { runScript } from '../../golden/promql-test/runner/run.ts';
import { readScript } from '../../golden/promql-test/runner/script.ts';
import { isHistogram, readSeriesLine } from '../../golden/promql-test/runner/series-line.ts';

test('a line of series values reads as numbers, gaps, runs and ends', () => {
  assert.deepEqual(
    readSeriesLine('a{b="} 1", c="d"} 1 _ 2x2 0+10x3 5-1x1 _x2 stale -Inf 0x2').items,
    [1, undefined, 2, 2, 2, 0, 10, 20, 30, 5, 4, undefined, undefined, 'stale', -Infinity, 0, 0, 0],
  );
  assert.deepEqual(readSeriesLine('{"a b", c="d"} 1').labels, ['__name__', 'a b', 'c', 'd']);
  assert.deepEqual(readSeriesLine('{} 3').labels, []);
  const { histogram, items } = readSeriesLine(
    'h {{schema:1 sum:3}}x4 {{count:1 buckets:[1]}}-{{count:1 counter_reset_hint:gauge buckets:[1]}}x1 _',
  );
  assert.deepEqual(
    [histogram, items.length, items.map((item) => isHistogram(item) && item.hinted)],
    [true, 8, [false, false, false, false, false, true, true, false]],
  );
});

test('a script is read with its expectations, old and new ones', () => {
  const commands = readScript(
    'load 5m\n  a 1\n\n# a remark\neval_fail instant at 1h30m a\n  expected_fail_message no\n\neval range from 0 to 2m step 1m a\n  expect warn regex: ^x\n  expect ordered\n  a 1 2 3\n\nclear',
  );
  assert.deepEqual(
    commands.map(({ kind, line }) => [kind, line]),
    [
      ['load', 1],
      ['eval', 5],
      ['eval', 8],
      ['clear', 13],
    ],
  );
  const [, first, second] = commands;
  assert.ok(first?.kind === 'eval' && second?.kind === 'eval');
  assert.deepEqual(first.at, { instant: 5_400_000 });
  assert.equal(first.remarks[0]!.matches('no'), true);
  assert.equal(first.remarks[0]!.matches('yes'), false);
  assert.deepEqual(second.at, { start: 0, end: 120_000, step: 60_000 });
  assert.equal(second.ordered, true);
});

test('a wrong answer is found, not passed over', async () => {
  const outcomes = await runScript(
    'load 1m\n  a 1 2\n\neval instant at 1m a\n  a 1\n\neval instant at 1m a\n\neval instant at 1m a\n  a 2\n  b 2\n\neval instant at 1m a\n  expect fail\n\neval instant at 1m rate(a[2m])\n  expect no_info\n  {} 0.016666666',
    httpEngine({ ...(await server()), epoch: 0 }),
  );
  assert.deepEqual(
    outcomes.map(({ failed }) => failed?.split(':')[0]),
    [
      '{"__name__"',
      'unexpected series {"__name__"',
      'expected series {"__name__"',
      'expected an error, got an answer',
      'expected no_info, got ["PromQL info',
    ].map((text) =>
      text.startsWith('expected no_info') ? 'expected no info, got ["PromQL info' : text,
    ),
  );
});

test('scripts run against a server by remote write and the query API, moved to other times', async (t) => {
  const urls = await server(t);
  for (const name of ['operators', 'selectors', 'subqueries', 'over-time']) {
    const text = readFileSync(
      new URL(`../../golden/promql-test/cases/${name}.test`, import.meta.url),
      'utf8',
    );
    const outcomes = await runScript(text, httpEngine({ ...urls, epoch: 2_000 * 7 * 86_400_000 }));
    assert.deepEqual(
      outcomes.filter(({ failed }) => failed !== undefined),
      [],
    );
    assert.ok(outcomes.some(({ skipped }) => skipped === undefined));
  }
});

/** Starts as much of a server as the scripts need, over a store that is never emptied. */
async function server(t?: {
  after(work: () => void): void;
}): Promise<{ query: string; write: string }> {
  const store = new MemoryStore();
  const http = createServer((request, response) => {
    void answer(store, request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: Error) =>
        response.writeHead(400).end(JSON.stringify({ status: 'error', error: error.message })),
    );
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  http.unref();
  t?.after(() => http.close());
  const { port } = http.address() as { port: number };
  return {
    query: `http://127.0.0.1:${port}/api/v1`,
    write: `http://127.0.0.1:${port}/api/v1/write`,
  };
}

async function answer(store: MemoryStore, request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const body = Buffer.concat(chunks);
  if (request.url!.endsWith('/write')) {
    readWrite(store, snappyDecode(body, { maxBytes: 1e7 }));
    return {};
  }
  const parameters = new URLSearchParams(body.toString());
  const ms = (name: string): number => Math.round(Number(parameters.get(name)) * 1000);
  const options = { query: parameters.get('query')!, delayedNameRemoval: true };
  const purse = budget({ timeoutMs: 10_000, now: () => performance.now() });
  const pair = (time: number, value: number): [number, string] => [time / 1000, formatFloat(value)];
  const matrix = (
    series: readonly { labels: Labels; times: Float64Array; values: Float64Array }[],
  ) => ({
    resultType: 'matrix',
    result: series.map(({ labels, times, values }) => ({
      metric: labelsRecord(labels),
      values: [...values].map((value, i) => pair(times[i]!, value)),
    })),
  });
  if (request.url!.endsWith('/query_range')) {
    const { series, ...rest } = await range(
      store,
      { ...options, start: ms('start'), end: ms('end'), step: ms('step') },
      purse,
    );
    return { status: 'success', ...rest, data: matrix(series) };
  }
  const result = await instant(store, { ...options, time: ms('time') }, purse);
  const data =
    result.type === 'matrix'
      ? matrix(result.series)
      : result.type === 'vector'
        ? {
            resultType: 'vector',
            result: result.samples.map(({ labels, value, time }) => ({
              metric: labelsRecord(labels),
              value: pair(time, value),
            })),
          }
        : {
            resultType: result.type,
            result:
              result.type === 'scalar'
                ? pair(result.time, result.value)
                : [result.time / 1000, result.value],
          };
  return { status: 'success', warnings: result.warnings, infos: result.infos, data };
}

function readWrite(store: MemoryStore, bytes: Uint8Array): void {
  each(bytes, (series) => {
    const pairs: [string, string][] = [];
    const samples: { time: number; value: number | 'stale' }[] = [];
    const reader = new ProtoReader(series);
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) {
        pairs.push(readPair(reader.bytes()));
      } else {
        samples.push(readSample(reader.bytes()));
      }
    }
    for (const { time, value } of samples) {
      store.add(labelsOf(pairs), 0, [value], time);
    }
  });
}

function each(bytes: Uint8Array, work: (part: Uint8Array) => void): void {
  for (const reader = new ProtoReader(bytes); reader.next() !== 0;) {
    work(reader.bytes());
  }
}

function readPair(bytes: Uint8Array): [string, string] {
  const parts: string[] = [];
  each(bytes, (part) => parts.push(Buffer.from(part).toString()));
  return [parts[0]!, parts[1]!];
}

function readSample(bytes: Uint8Array): { time: number; value: number | 'stale' } {
  const reader = new ProtoReader(bytes);
  let value: number | 'stale' = 0;
  let time = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      const stale = reader.staleNext();
      const number = reader.double();
      value = stale ? 'stale' : number;
    } else {
      time = reader.int64();
    }
  }
  return { time, value };
}
