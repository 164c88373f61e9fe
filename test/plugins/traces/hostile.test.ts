import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test, type TestContext } from 'node:test';

import { TraceIngest, TraceQueries } from 'svc/contracts/traces';
import type { TestHost } from 'svc/testing';

import { bait, evil } from '../evil.ts';
import { bodyOf, type Sent, spanId, startMs, traceId } from './bodies.ts';
import { openHouse, type Told, text } from './house.ts';

const patient = { timeout: 60_000 };

interface TracesHouse {
  readonly house: TestHost;
  get(path: string, parameters?: Readonly<Record<string, string>>): Promise<Told>;
  give(...spans: readonly Sent[]): Promise<unknown>;
}

async function tracesHouse(
  t: TestContext,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<TracesHouse> {
  const house = await openHouse(t, { plugins: ['traces', 'setting'] });
  for (const [key, value] of Object.entries({ query_timeout: '3s', ...settings })) {
    await house.json(`/api/v1/system-settings/traces/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  }
  const parts: TracesHouse = {
    house,
    get: (path, parameters = {}) =>
      text(house, `/tempo/api/${path}?${new URLSearchParams(parameters).toString()}`),
    give: (...spans) =>
      house
        .service(TraceIngest)
        .push('otlp-proto', bodyOf({ 'service.name': 'shop' }, ...spans), {}),
  };
  await parts.give({ trace: traceId(1), id: spanId(1), name: 'small' });
  return parts;
}

/** An answer, or a refusal that says why. */
async function plain(ask: Promise<Told>): Promise<Told> {
  const answer = await ask;
  assert.ok(
    [200, 400, 422, 504].includes(answer.status),
    `${answer.status} ${answer.body.slice(0, 200)}`,
  );
  assert.ok(answer.body.length > 0);
  return answer;
}

/** Repeats a small request of another person while `work` runs. */
async function served<T>({ house }: TracesHouse, work: Promise<T>): Promise<T> {
  let done = false;
  const ends = work.finally(() => (done = true));
  while (!done) {
    const window = { start: Date.now() - 3_600_000, end: Date.now() };
    const answer = await house
      .service(TraceQueries)
      .search('{ name = "small" }', window, { asker: 'another person' });
    assert.equal(answer.partial, false);
  }
  return await ends;
}

/** Returns traces with spans, each span a child of the previous one. */
function chains(traces: number, spans: number, from = 100): Sent[] {
  return Array.from({ length: traces * spans }, (_, at) => {
    const [trace, span] = [Math.floor(at / spans), at % spans];
    const id = from * 100_000 + at + 1;
    return {
      trace: traceId(from + trace),
      id: spanId(id),
      ...(span > 0 && { parent: spanId(id - 1) }),
      name: `op${span % 7}`,
      startMs: startMs + (trace % 1_000),
      ms: 1 + (at % 50),
      attributes: { bait, number: at },
    };
  });
}

test(
  'forty evil regular expressions are matched in linear time, or refused with the reason',
  patient,
  async (t) => {
    const parts = await tracesHouse(t);
    await parts.give(...chains(20, 10));
    const answers = new Map<string, Told>();
    const ask = async (): Promise<void> => {
      for (const pattern of evil) {
        const literal = JSON.stringify(pattern);
        const [first] = await Promise.all([
          plain(parts.get('search', { q: `{ span.bait =~ ${literal} }` })),
          plain(parts.get('search', { q: `{ .bait !~ ${literal} }` })),
          plain(parts.get('metrics/query_range', { q: `{ span.bait =~ ${literal} } | rate()` })),
          plain(parts.get('v2/search/tag/span.bait/values', { q: `{ name =~ ${literal} }` })),
        ]);
        answers.set(pattern, first);
      }
    };
    await served(parts, ask());
    assert.equal(answers.size, 40);
    for (const pattern of ['(', '[', '(?=a)', '\\1(a)', '((a{50}){50}){50}', 'x'.repeat(5_000)]) {
      const { status, body } = answers.get(pattern)!;
      assert.equal(status, 400, pattern.slice(0, 40));
      assert.match(body, /invalid TraceQL query/);
    }
    assert.equal(answers.get(evil[0]!)!.status, 200, 'what RE2 can do it does');
  },
);

test(
  'ten years, small steps, and times that are none are refused before anything is read',
  patient,
  async (t) => {
    const { get } = await tracesHouse(t);
    const seconds = Math.floor(startMs / 1_000);
    const years = { start: String(seconds - 10 * 365 * 86_400), end: String(seconds + 5) };
    for (const path of ['search', 'metrics/query_range', 'metrics/query']) {
      const answer = await get(path, { q: path === 'search' ? '{ }' : '{ } | rate()', ...years });
      assert.equal(answer.status, 400, answer.body);
      assert.match(answer.body, /range specified by start and end exceeds/);
    }
    const week = {
      q: '{ } | rate()',
      start: String(seconds - 6 * 86_400),
      end: String(seconds + 5),
    };
    assert.match(
      (await get('metrics/query_range', { ...week, step: '1ms' })).body,
      /points of a series are too many/,
    );
    for (const odd of [
      { step: 'Inf' },
      { step: 'NaN' },
      { step: '0' },
      { step: '-1s' },
      { start: 'yesterday' },
      { end: 'Inf' },
      { start: '-1e300' },
      { end: '99999999999999999999999' },
      { start: String(seconds), end: String(seconds - 5) },
    ]) {
      const answer = await get('metrics/query_range', { ...week, ...odd });
      assert.equal(answer.status, 400, `${JSON.stringify(odd)}: ${answer.body.slice(0, 200)}`);
    }
    for (const odd of [
      { limit: '-1' },
      { limit: '1e9' },
      { limit: '99999999999' },
      { spss: '-1' },
      { spss: '99999999999' },
    ]) {
      const answer = await get('search', { q: '{ }', ...odd });
      assert.ok(
        [200, 400].includes(answer.status),
        `${JSON.stringify(odd)}: ${answer.body.slice(0, 200)}`,
      );
    }
  },
);

test(
  'structures of structures, and groups without end, cost what they cost, and no more than is allowed',
  patient,
  async (t) => {
    const parts = await tracesHouse(t);
    // One trace is a chain of ten thousand spans, the others are short.
    for (let part = 0; part < 5; part++) {
      await parts.give(...chains(1, 10_000, 1_000 + part));
    }
    await parts.give(...chains(1_000, 10, 2_000));
    const queries = [
      '{ } >> { } >> { } >> { } >> { }',
      '{ } << { } << { } << { }',
      '{ } &>> { } &>> { } &>> { }',
      '{ } ~ { } ~ { } ~ { }',
      '({ } >> { }) && ({ } << { }) && ({ } ~ { }) || ({ } !>> { })',
      '{ } | by(span.number) | count() > 0 | by(span.bait) | count() > 0',
      Array.from({ length: 60 }, (_, n) => `({ span.number = ${n} } >> { })`).join(' || '),
    ];
    const answers = await served(
      parts,
      Promise.all([
        ...queries.map((q) => plain(parts.get('search', { q, limit: '1000', spss: '100' }))),
        plain(
          parts.get('metrics/query_range', {
            q: '{ } >> { } >> { } | quantile_over_time(duration, .1, .2, .3, .4, .5, .6, .7, .8, .9) by (name)',
          }),
        ),
      ]),
    );
    for (const [at, { status, body }] of answers.entries()) {
      assert.ok(
        status === 200 ||
          /(?:timed out after|waited) 3 s|reads more than|too many|more than/.test(body),
        `${at}: ${status} ${body.slice(0, 200)}`,
      );
      assert.ok(body.length < 64 * 1024 * 1024, `${at}: ${body.length}`);
    }
    const groups = await parts.get('metrics/query_range', {
      q: '{ } | rate() by (span.number, span:id)',
    });
    assert.match(groups.body, /more than \d+ series/);
  },
);

test(
  'a question that looks at more spans than it may is refused, and a search answers with what it has',
  patient,
  async (t) => {
    const parts = await tracesHouse(t, { max_query_spans: 1_000 });
    await parts.give(...chains(200, 10));
    const search = await parts.get('search', { q: '{ duration > 0s }', limit: '1000' });
    assert.equal(search.status, 200);
    const { traces, metrics } = JSON.parse(search.body) as {
      traces: unknown[];
      metrics: { completedJobs?: number; totalJobs: number };
    };
    assert.ok(traces.length > 50 && traces.length < 150, String(traces.length));
    assert.ok((metrics.completedJobs ?? 0) < metrics.totalJobs, 'and says that this is not all');
    const rate = await parts.get('metrics/query_range', { q: '{ } | rate()' });
    assert.equal(rate.status, 422, rate.body);
    assert.match(rate.body, /reads more than 1000/);
  },
);

test(
  'texts that are too long, too deep or too many are refused at the door',
  patient,
  async (t) => {
    const { get } = await tracesHouse(t);
    for (const deep of [
      `{ }${' '.repeat(65 * 1024)}`,
      '('.repeat(4_000),
      '{'.repeat(4_000),
      `{ ${'('.repeat(2_000)}true${')'.repeat(2_000)} }`,
      `{ ${'-'.repeat(4_000)}1 > 0 }`,
      `{ ${'!'.repeat(4_000)}true }`,
      `${'('.repeat(2_000)}{ }${')'.repeat(2_000)}`,
      `{ }${' >> { }'.repeat(2_100)}`,
      `{ 1${' + 1'.repeat(2_100)} > 0 }`,
      `{ } | avg(duration)${' + 1'.repeat(2_100)} > 0`,
      `{ } | select(${Array.from({ length: 700 }, (_, n) => `.a${n}`).join(',')})`,
      `{ .a = "${'{ .a = "'.repeat(900)}`,
      `{ } | rate() by (${Array.from({ length: 600 }, (_, n) => `.b${n}`).join(',')})`,
    ]) {
      const answer = await get(deep.includes('rate()') ? 'metrics/query_range' : 'search', {
        q: deep,
      });
      assert.equal(
        answer.status,
        400,
        `${deep.slice(0, 30)}: ${answer.status} ${answer.body.slice(0, 200)}`,
      );
    }
    for (const long of [
      `{ 1${' + 1'.repeat(1_900)} > 0 }`,
      `{ }${' >> { }'.repeat(1_900)}`,
      `{ }${' | count() > 0'.repeat(550)}`,
    ]) {
      assert.ok([200, 400].includes((await get('search', { q: long })).status), long.slice(0, 30));
    }
    assert.equal((await get('search', { q: '{ name = "small" }' })).status, 200);
  },
);

test('whoever leaves takes the question along', patient, async (t) => {
  const { house, give, get } = await tracesHouse(t, { query_timeout: '5m' });
  for (let part = 0; part < 5; part++) {
    await give(...chains(500, 20, 1_000 * (part + 1)));
  }
  const q = Array.from(
    { length: 60 },
    (_, n) => `({ span.number = ${n} } >> { span.bait =~ "(a|aa)+${n}" })`,
  ).join(' || ');
  const path = `/tempo/api/search?${new URLSearchParams({ q, limit: '1000' }).toString()}`;
  // As many as are worked on at a time: while they are, nobody else has a turn.
  const leavers = Array.from({ length: 4 }, () =>
    request(house.url + path, {
      agent: false,
      headers: { authorization: `Bearer ${house.token}` },
    }),
  );
  for (const leaver of leavers) {
    leaver.on('error', () => undefined).end();
    await once(leaver, 'finish');
  }
  const next = get('search', { q: '{ name = "small" }' });
  leavers.forEach((leaver) => leaver.destroy());
  assert.equal((await next).status, 200, 'their places are free for the next');
});
