import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test, type TestContext } from 'node:test';

import { LogIngest, LogQueries } from 'svc/contracts/logs';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { bait, evil } from '../evil.ts';
import { body, present } from './fixture.ts';

const patient = { timeout: 60_000 };

interface Told {
  readonly status: number;
  readonly text: string;
}

interface LogsHouse {
  readonly house: TestHost;
  get(path: string, parameters?: Readonly<Record<string, string>>): Promise<Told>;
  post(path: string, parameters: Readonly<Record<string, string>>): Promise<Told>;
  give(...pushed: Parameters<typeof body>): Promise<unknown>;
}

async function logsHouse(
  t: TestContext,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<LogsHouse> {
  const clock = { now: () => present + 10_000, monotonic: () => performance.now() };
  const house = await startTestHost(t, { plugins: ['logs', 'setting'], clock });
  useNoLeaks(t, house);
  for (const [key, value] of Object.entries({ query_timeout: '3s', ...settings })) {
    await house.json(`/api/v1/system-settings/logs/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  }
  const told = async (answer: Response): Promise<Told> => ({
    status: answer.status,
    text: await answer.text(),
  });
  const parts: LogsHouse = {
    house,
    get: async (path, parameters = {}) =>
      told(await house.fetch(`/loki/api/v1/${path}?${new URLSearchParams(parameters).toString()}`)),
    post: async (path, parameters) =>
      told(
        await house.fetch(`/loki/api/v1/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(parameters).toString(),
        }),
      ),
    give: (...pushed) => house.service(LogIngest).push('loki-json', body(...pushed), {}),
  };
  await parts.give({ app: 'small' }, [[1, 'a line']]);
  return parts;
}

/** An answer, or a refusal that says why. */
async function plain(ask: Promise<Told>): Promise<Told> {
  const answer = await ask;
  assert.ok(
    [200, 400, 504].includes(answer.status),
    `${answer.status} ${answer.text.slice(0, 200)}`,
  );
  assert.ok(answer.text.length > 0);
  return answer;
}

/** Repeats a small request of another person while `work` runs. */
async function served<T>({ house }: LogsHouse, work: Promise<T>): Promise<T> {
  let done = false;
  const ends = work.finally(() => (done = true));
  while (!done) {
    const window = { start: Date.now() - 3_600_000, end: Date.now() };
    const answer = await house
      .service(LogQueries)
      .lines('{app="small"} |= "line"', window, { asker: 'another person' });
    assert.equal(answer.partial, false);
  }
  return await ends;
}

test(
  'forty evil regular expressions are matched in linear time, or refused with the reason',
  patient,
  async (t) => {
    const parts = await logsHouse(t);
    const noise = Array.from({ length: 200 }, (_, n): [number, string] => [
      n,
      `${bait} ${'a'.repeat(n)}`,
    ]);
    await parts.give({ app: 'bait', bait }, noise);
    const answers = new Map<string, Told>();
    const ask = async (): Promise<void> => {
      for (const pattern of evil) {
        const text = JSON.stringify(pattern);
        const [first] = await Promise.all([
          plain(parts.post('query_range', { query: `{app="bait"} |~ ${text}` })),
          plain(parts.post('query_range', { query: `{bait=~${text}}` })),
          plain(parts.post('query_range', { query: `{app="bait"} | app=~${text}` })),
          plain(
            parts.post('query_range', {
              query: `{app="bait"} | line_format ${JSON.stringify(`{{ regexReplaceAll ${text} __line__ "x" }}`)}`,
            }),
          ),
        ]);
        answers.set(pattern, first);
      }
    };
    await served(parts, ask());
    assert.equal(answers.size, 40);
    for (const pattern of ['(', '[', '(?=a)', '\\1(a)', '((a{50}){50}){50}', 'x'.repeat(5_000)]) {
      const { status, text } = answers.get(pattern)!;
      assert.equal(status, 400, pattern.slice(0, 40));
      assert.match(text, /parse error/);
    }
    assert.equal(answers.get(evil[0]!)!.status, 200, 'what RE2 can do it does');
  },
);

test(
  'names, series and sizes cost, too: an answer that is too large is refused, and a smaller one is given',
  patient,
  async (t) => {
    const parts = await logsHouse(t, { max_query_bytes: 1_048_576 });
    const wide = Object.fromEntries(
      Array.from({ length: 13 }, (_, n) => [`wide${n}`, 'w'.repeat(2_000)]),
    );
    for (let n = 0; n < 45; n++) {
      await parts.give({ ...wide, app: 'wide', n: String(n) }, [[n, 'x']]);
    }
    const refused =
      /^the query reads more than 1048576 bytes: ask for a shorter window, or for fewer series or streams$/;
    for (const path of ['labels', 'label/n/values', 'series', 'detected_labels']) {
      const answer = await parts.get(path);
      assert.equal(answer.status, 400, path);
      assert.match(answer.text, refused);
      assert.equal(
        (await parts.get(path, path === 'series' ? { match: '{n="7"}' } : { query: '{n="7"}' }))
          .status,
        200,
        path,
      );
    }
    const own = await parts.house.fetch('/api/v1/logs/labels');
    assert.deepEqual(
      [own.status, ((await own.json()) as { error: string }).error],
      [429, 'budget_exceeded'],
    );
  },
);

test('patterns that take lines apart are bounded, too', patient, async (t) => {
  const parts = await logsHouse(t);
  await parts.give({ app: 'bait' }, [
    [1, bait],
    [2, '{"a":'.repeat(5_000)],
    [3, `{${'"k":{'.repeat(3_000)}`],
    [4, 'k='.repeat(20_000)],
    [5, `{${Array.from({ length: 3_000 }, (_, n) => `"k${n}":"v"`).join(',')}}`],
  ]);
  const stages = [
    '| json',
    '| logfmt',
    '| unpack',
    '| regexp "(?P<x>(a+)+)$"',
    `| regexp "${Array.from({ length: 300 }, (_, n) => `(?P<x${n}>a?)`).join('')}"`,
    `| pattern "${Array.from({ length: 300 }, (_, n) => `<x${n}> `).join('')}"`,
    '| line_format "{{ range $i, $e := until 1000000000 }}{{ $i }}{{ end }}"',
    '| line_format "{{ repeat 1000000000 __line__ }}"',
    '| line_format "{{ printf \\"%999999999d\\" 1 }}"',
    `| label_format ${Array.from({ length: 300 }, (_, n) => `l${n}="{{ __line__ }}"`).join(',')}`,
    '| decolorize | json | logfmt | unpack',
    '| json '.repeat(20),
    '|= "a" '.repeat(500),
  ];
  const answers = await served(
    parts,
    Promise.all(
      stages.map((stage) => plain(parts.post('query_range', { query: `{app="bait"} ${stage}` }))),
    ),
  );
  assert.deepEqual(
    answers.slice(0, 3).map(({ status }) => status),
    [200, 200, 200],
    'a line that cannot be taken apart says so in a label',
  );
  for (const { text } of answers) {
    assert.ok(text.length < 64 * 1024 * 1024);
  }
});

test('an answer that would burst is cut, and says so', patient, async (t) => {
  const parts = await logsHouse(t);
  const wide = 'w'.repeat(200_000);
  for (let part = 0; part < 4; part++) {
    await parts.give(
      { app: 'wide' },
      Array.from({ length: 40 }, (_, n): [number, string] => [
        part * 40 + n,
        `${part * 40 + n} ${wide}`,
      ]),
    );
  }
  const copies = Array.from({ length: 40 }, (_, n) => `l${n}="{{ __line__ }}${n}"`).join(',');
  const { status, text } = await served(
    parts,
    plain(
      parts.post('query_range', { query: `{app="wide"} | label_format ${copies}`, limit: '5000' }),
    ),
  );
  assert.equal(status, 200);
  assert.ok(text.length < 128 * 1024 * 1024, `${text.length} characters`);
  assert.match(
    text.slice(-500),
    /"warnings":\["the search ended before it had read the whole window/,
  );
});

test(
  'ten years in small steps, and times that are none, are refused before anything is read',
  patient,
  async (t) => {
    const parts = await logsHouse(t);
    const seconds = present / 1_000;
    const years = {
      query: 'sum(rate({app=~".+"}[1m]))',
      start: String(seconds - 10 * 365 * 86_400),
      end: String(seconds),
      step: '1',
    };
    const range = await parts.get('query_range', years);
    assert.equal(range.status, 400);
    assert.match(range.text, /exceeded maximum resolution of 11,000 points per time series/);
    for (const odd of [
      { step: 'Inf' },
      { step: 'NaN' },
      { step: '1e-300' },
      { step: '-1' },
      { step: '0' },
      { start: 'yesterday' },
      { start: 'NaN' },
      { end: 'Inf' },
      { limit: '99999999999' },
      { limit: '-1' },
      { direction: 'sideways' },
    ]) {
      const answer = await parts.get('query_range', { ...years, ...odd });
      assert.equal(answer.status, 400, `${JSON.stringify(odd)}: ${answer.text.slice(0, 200)}`);
    }
    const everything = await parts.get('query_range', {
      query: '{app="small"}',
      start: '0',
      end: String(seconds + 1),
    });
    assert.equal(everything.status, 200, 'fifty years of lines cost what there are lines');
  },
);

test(
  'windows within windows and sums of sums cost what they cost, and no more than is allowed',
  patient,
  async (t) => {
    const parts = await logsHouse(t, { max_query_bytes: 1_048_576 });
    for (let part = 0; part < 8; part++) {
      const values = Array.from({ length: 1_000 }, (_, n): [number, string] => [
        part * 1_000 + n,
        `${part} ${n} ${'x'.repeat(400)}`,
      ]);
      await parts.give({ app: 'large' }, values);
    }
    const answers = await served(
      parts,
      Promise.all([
        plain(parts.get('query_range', { query: '{app=~".+"} |= "not there"' })),
        plain(
          parts.get('query_range', { query: 'sum(count_over_time({app=~".+"}[10y]))', step: '1' }),
        ),
        plain(parts.get('query', { query: 'sum(rate({app=~".+"} | logfmt [52w]))' })),
        plain(
          parts.get('query', {
            query: Array.from(
              { length: 100 },
              () => 'sum(count_over_time({app="large"}[1h]))',
            ).join(' + '),
          }),
        ),
        plain(
          parts.get('query', {
            query: 'count_over_time({app="large"} | pattern "<a> <b> <c>" [1h])',
          }),
        ),
      ]),
    );
    const [lines, ...computed] = answers;
    assert.equal(lines.status, 200);
    assert.match(
      lines.text,
      /"warnings":\["the search ended before it had read the whole window/,
      'lines are what was found until then, and it is said',
    );
    for (const [at, { status, text }] of computed.entries()) {
      assert.notEqual(status, 200, `${at}: ${text.slice(0, 200)}`);
      assert.match(text, /reads more than|limit|too many|maximum|timed out/, String(at));
    }
  },
);

test(
  'thousands of streams are looked through for their names while others are served',
  patient,
  async (t) => {
    const parts = await logsHouse(t, { query_timeout: '50s' });
    for (let part = 0; part < 4; part++) {
      const streams = Array.from({ length: 1_000 }, (_, n) => ({
        stream: { app: `a${part}-${n}`, pod: bait },
        values: [[`${present}000000`, 'x']],
      }));
      await parts.house
        .service(LogIngest)
        .push('loki-json', Buffer.from(JSON.stringify({ streams })), {});
    }
    const wide = '{app=~".+", pod=~"(a+)+!", pod!~"(a|aa)+$"}';
    const answers = await served(
      parts,
      Promise.all([
        plain(parts.get('labels', { query: wide })),
        plain(parts.get('label/app/values', { query: wide })),
        plain(parts.get('series', { 'match[]': wide })),
        plain(parts.get('index/stats', { query: wide })),
        plain(parts.get('index/volume', { query: wide })),
        plain(parts.get('detected_labels', { query: wide })),
        plain(parts.get('query_range', { query: wide, limit: '5000' })),
        plain(parts.get('query', { query: `sum by (app) (count_over_time(${wide}[1h]))` })),
      ]),
    );
    for (const [at, { status, text }] of answers.entries()) {
      assert.ok(
        status === 200 || /maximum|limit|too many/.test(text),
        `${at}: ${status} ${text.slice(0, 200)}`,
      );
    }
  },
);

test(
  'texts that are too long, too deep or too many are refused at the door',
  patient,
  async (t) => {
    const { get, post, house } = await logsHouse(t);
    const long = await post('query_range', { query: `{app="small"}${' '.repeat(65 * 1024)}` });
    assert.equal(long.status, 400);
    assert.match(long.text, /query too long: \d+ bytes, limit: \d+/);
    for (const deep of [
      '('.repeat(4_000),
      '{'.repeat(8_000),
      `${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
      `${'sum('.repeat(1_500)}rate({a="b"}[1m])${')'.repeat(1_500)}`,
      `{a="b"} ${'| json '.repeat(1_100)}`,
      `{a="b"} ${'|= "x" '.repeat(1_100)}`,
      `sum(rate({a="b"} ${'| logfmt '.repeat(21)} [1m]))`,
      `{a="b"} | ${'('.repeat(3_000)}a="b"${')'.repeat(3_000)}`,
      `{a="b"} | line_format "${'{{ if true }}'.repeat(500)}"`,
      `{${'a="b",'.repeat(1_300)}}`,
      '{a="'.repeat(1_000),
    ]) {
      const answer = await post('query_range', { query: deep });
      assert.equal(
        answer.status,
        400,
        `${deep.slice(0, 20)}: ${answer.status} ${answer.text.slice(0, 200)}`,
      );
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const large = await house.fetch('/loki/api/v1/query_range', {
      method: 'POST',
      headers: form,
      body: `query=${'x'.repeat(300 * 1024)}`,
    });
    assert.equal(large.status, 413);
    const broken = await house.fetch('/loki/api/v1/query_range', {
      method: 'POST',
      headers: form,
      body: Buffer.from([0x71, 0x3d, 0xff, 0xfe, 0x25]),
    });
    assert.equal(broken.status, 400);
    assert.equal((await get('query_range', { query: '{app="small"}' })).status, 200);
  },
);

test('whoever leaves takes the question along', patient, async (t) => {
  const { house, give, get } = await logsHouse(t, { query_timeout: '5m' });
  for (let part = 0; part < 4; part++) {
    await give(
      { app: 'large' },
      Array.from({ length: 2_000 }, (_, n): [number, string] => [part * 2_000 + n, `${bait} ${n}`]),
    );
  }
  const sums = Array.from(
    { length: 60 },
    (_, n) => `sum(count_over_time({app="large"} |~ "(a|aa)+(b|${n})" [1h]))`,
  ).join(' + ');
  const path = `/loki/api/v1/query_range?${new URLSearchParams({ query: sums, step: '1' }).toString()}`;
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
  const next = get('query_range', { query: '{app="small"}' });
  leavers.forEach((leaver) => leaver.destroy());
  assert.equal((await next).status, 200, 'their places are free for the next');
});
