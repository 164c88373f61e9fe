import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';

import { bait, evil } from '../evil.ts';
import { type Answered, metricsHouse, type MetricsHouse, rows } from './house.ts';

const up = { __name__: 'up', job: 'node' };
const patient = { timeout: 60_000 };
/** Fewer than may wait for their turn: on a busy machine all that are asked at once may wait at once, and those beyond are sent away. */
const askers = 8;

async function told(ask: Promise<Answered>): Promise<Answered> {
  const answer = await ask;
  assert.ok([200, 400, 422, 503].includes(answer.status), answer.text.slice(0, 200));
  assert.equal(answer.body.status, answer.status === 200 ? 'success' : 'error');
  return answer;
}

/** Repeats a small request of another person while `work` runs. */
async function served<T>({ queries }: MetricsHouse, work: Promise<T>): Promise<T> {
  let done = false;
  const ends = work.finally(() => (done = true));
  while (!done) {
    const answer = await queries.instant('sum(small)', Date.now(), { asker: 'another person' });
    assert.equal(answer.type, 'vector');
  }
  return await ends;
}

async function hostileHouse(t: Parameters<typeof metricsHouse>[0]): Promise<MetricsHouse> {
  const parts = await metricsHouse(t);
  await parts.ingest.write(rows({ __name__: 'small' }, [1], Date.now()));
  await parts.set('query_timeout', '3s');
  return parts;
}

test(
  'forty evil regular expressions are matched in linear time, or refused with the reason',
  patient,
  async (t) => {
    const parts = await hostileHouse(t);
    await parts.ingest.write(rows({ ...up, bait }, [1], Date.now()));
    const answers: Answered[] = [];
    const left = [...evil.entries()];
    const ask = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, pattern] = next;
        answers[at] = await told(
          parts.post('query', { query: `up{bait=~${JSON.stringify(pattern)}}` }),
        );
        await told(
          parts.post('query', {
            query: `label_replace(up, "x", "$1", "bait", ${JSON.stringify(pattern)})`,
          }),
        );
      }
    };
    await served(parts, Promise.all(Array.from({ length: askers }, ask)));
    assert.equal(answers.length, 40);
    for (const pattern of ['(', '[', '(?=a)', '\\1(a)', '((a{50}){50}){50}', 'x'.repeat(5_000)]) {
      const { status, body } = answers[evil.indexOf(pattern)]!;
      assert.deepEqual([status, body.errorType], [400, 'bad_data'], pattern.slice(0, 40));
      assert.match(body.error, /^invalid parameter "query": 1:\d+: parse error: /);
    }
    assert.equal(answers[0]!.status, 200, 'what RE2 can do it does');
  },
);

test('ten years in steps of a second are refused before anything is read', patient, async (t) => {
  const { get, call } = await hostileHouse(t);
  const now = Date.now() / 1000;
  const years = { query: 'up', start: now - 10 * 365 * 86_400, end: now, step: 1 };
  const range = await get('query_range', years);
  assert.deepEqual([range.status, range.body.errorType], [400, 'bad_data']);
  assert.match(range.body.error, /^exceeded maximum resolution of 11,000 points per timeseries/);
  assert.equal((await call('/api/v1/metricsdb/query_range', years)).status, 400);
  for (const odd of [
    { step: 'Inf' },
    { step: 'NaN' },
    { step: '1e-300' },
    { step: '1e300' },
    { start: '-1e300' },
    { end: 'Inf' },
    { start: 'NaN' },
    { end: '99999999999999999999' },
  ]) {
    const answer = await get('query_range', { ...years, ...odd });
    assert.deepEqual(
      [answer.status, answer.body.errorType],
      [400, 'bad_data'],
      JSON.stringify(odd),
    );
  }
});

test(
  'subqueries in subqueries cost what they cost, and no more than is allowed',
  patient,
  async (t) => {
    const parts = await hostileHouse(t);
    await parts.ingest.write(rows(up, [1, 2, 3], Date.now()));
    const nested = ['[1d:1s]', '[1d:1s]', '[1d:1s]', '[1d:1s]'].reduce(
      (query, window) => `max_over_time(${query}${window})`,
      'up',
    );
    // By itself and with time: what is to be shown is that it ends, not that it ends within three seconds beside six others.
    await parts.set('query_timeout', '1m');
    assert.equal(
      (await served(parts, told(parts.post('query', { query: nested })))).status,
      200,
      'each step of the inner ones is worked out once',
    );
    await parts.set('query_timeout', '3s');
    const queries = [
      'max_over_time(up[100y:1ms])',
      'sum_over_time(rate(up[5m])[52w:1ms])',
      'max_over_time((vector(1) + vector(2))[10y:1ms])',
      'max_over_time(vector(time())[10000d:1ms])',
      'count_over_time((1 + 2 < bool vector(3))[100y:1ms])',
      Array.from({ length: 120 }, (_, n) => `max_over_time(vector(${n})[2h:10ms])`).join(' + '),
    ];
    const answers = await served(
      parts,
      Promise.all(queries.map((query) => told(parts.post('query', { query })))),
    );
    answers.forEach(({ status, body }, at) => {
      assert.notEqual(status, 200, queries[at]!.slice(0, 60));
      assert.match(
        body.error,
        /reads more than \d+ samples|timed out after 3 s|resolution|too many|steps/,
      );
    });
  },
);

test(
  'everything at once, over many series, is refused when it is more than one question may read',
  patient,
  async (t) => {
    const parts = await hostileHouse(t);
    const now = Date.now();
    for (let part = 0; part < 10; part++) {
      await parts.ingest.write(
        Array.from({ length: 2_000 }, (_, n) => ({
          labels: { __name__: `m${part}`, n: String(n) },
          time: now,
          value: n,
        })),
      );
    }
    await parts.set('max_samples', 10_000);
    await parts.set('query_timeout', '1m');
    const range = { start: now / 1000 - 60, end: now / 1000, step: 1 };
    const answers = await served(
      parts,
      Promise.all([
        told(parts.get('query', { query: '{__name__=~".+"}' })),
        told(parts.get('query_range', { query: '{__name__=~".+"}', ...range })),
        told(
          parts.get('query', { query: '{__name__=~".+"} * on (n) group_left () {__name__="m1"}' }),
        ),
        told(parts.get('query', { query: 'count_values("v", {__name__=~".+"})' })),
        told(parts.get('series', { 'match[]': '{__name__=~".+"}' })),
      ]),
    );
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.errorType], [422, 'execution']);
      assert.match(body.error, /^the query reads more than 10000 samples/);
    }
    await parts.unset('max_samples');
    assert.equal(
      (await parts.get('query', { query: 'count({__name__=~".+"})' })).body.data.result[0].value[1],
      '20001',
      'what is allowed is answered',
    );
  },
);

test(
  'texts that are too long, too deep or too many are refused at the door',
  patient,
  async (t) => {
    const { post, get, house } = await hostileHouse(t);
    const long = await post('query', { query: `up${' '.repeat(65 * 1024)}` });
    assert.deepEqual([long.status, long.body.errorType], [400, 'bad_data']);
    assert.match(long.body.error, /the query is longer than 65536 bytes/);
    for (const deep of [
      '('.repeat(4_000),
      '-'.repeat(8_000),
      `${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
      `1${' + 1'.repeat(2_500)}`,
      `${'abs('.repeat(1_500)}up${')'.repeat(1_500)}`,
      `up${'[1s:1s]'.repeat(1_000)}`,
      '{a="'.repeat(1_000),
    ]) {
      const answer = await post('query', { query: deep });
      assert.deepEqual(
        [answer.status, answer.body.errorType],
        [400, 'bad_data'],
        deep.slice(0, 20),
      );
    }
    const many = await get('series', { 'match[]': Array.from({ length: 200 }, () => 'up') });
    assert.equal(many.status, 400);
    const form = await house.fetch('/prometheus/api/v1/query', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1&'.repeat(60_000),
    });
    assert.equal(form.status, 400);
    const large = await house.fetch('/prometheus/api/v1/query', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `query=${'x'.repeat(300 * 1024)}`,
    });
    assert.deepEqual(
      [large.status, ((await large.json()) as { errorType: string }).errorType],
      [413, 'bad_data'],
    );
    const broken = await house.fetch('/prometheus/api/v1/query', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from([0x71, 0x3d, 0xff, 0xfe, 0x25]),
    });
    assert.equal(broken.status, 400);
    assert.equal((await get('query', { query: 'sum(small)' })).status, 200);
  },
);

test('whoever leaves takes the question along', patient, async (t) => {
  const { house, ingest, set, get } = await hostileHouse(t);
  const now = Date.now();
  await ingest.write(
    Array.from({ length: 300 }, (_, n) => ({
      labels: { ...up, n: String(n) },
      time: now,
      value: n,
    })),
  );
  await set('concurrency', 1);
  await set('query_timeout', '5m');
  const sums = Array.from({ length: 150 }, (_, n) => `sum(up ^ 1.${n + 100})`).join('+');
  const path = `/prometheus/api/v1/query?${new URLSearchParams({ query: `max_over_time((${sums})[4m:100ms])`, time: String(now / 1000 + 240) }).toString()}`;
  const leaver = request(house.url + path, {
    agent: false,
    headers: { authorization: `Bearer ${house.token}` },
  });
  leaver.on('error', () => undefined).end();
  await once(leaver, 'finish');
  const next = get('query', { query: 'sum(small)' });
  leaver.destroy();
  assert.equal((await next).status, 200, 'its place is free for the next');
});
