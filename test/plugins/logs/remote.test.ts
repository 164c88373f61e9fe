import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { LogIngest, LogQueries } from 'svc/contracts/logs';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { body, present, stream } from './fixture.ts';

const clock = { now: () => present + 10_000, monotonic: () => performance.now() };
const window = { start: present, end: present + 5_000 };

async function houseAsking(
  t: TestContext,
  url: string,
  environment: Readonly<Record<string, string>> = {},
  dataDir?: string,
): Promise<TestHost> {
  const around = { SVC_LOGSTORE_URL: url, SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', ...environment };
  const house = await startTestHost(t, {
    plugins: ['logs'],
    clock,
    environment: around,
    ...(dataDir !== undefined && { dataDir }),
  });
  useNoLeaks(t, house);
  return house;
}

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Starts a server that answers as configured and records its requests. */
async function peer(
  t: TestContext,
  answer: (heard: Heard, reply: ServerResponse) => void,
): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      heard.push({
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(heard.at(-1)!, reply);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => new Promise((closed) => server.close(closed).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`, heard };
}

test('a house that is told of another one answers with what that one keeps', async (t) => {
  const far = await startTestHost(t, { plugins: ['logs'], clock });
  const streams = [
    stream({ app: 't', device_id: '7' }, [
      [1, 'one'],
      [2, 'two'],
    ]),
    stream({ app: 't', device_id: '8' }, [[3, 'three']]),
  ];
  await far.service(LogIngest).push('loki-json', Buffer.from(JSON.stringify({ streams })), {});
  const query = `/loki/api/v1/query_range?${String(new URLSearchParams({ query: '{app="t"}', direction: 'forward' }))}`;
  const stranger = await houseAsking(t, far.url);
  const refused = await stranger.fetch(query);
  assert.equal(refused.status, 502);
  assert.match(
    await refused.text(),
    /^the log store at 127.0.0.1:\d+ does not accept the credentials: check logs.remote_user/,
  );

  const dataDir = mkdtempSync(join(tmpdir(), 'svc-logs-remote-'));
  writeFileSync(
    join(dataDir, 'svc.yaml'),
    JSON.stringify({ logs: { remote_password: far.token } }),
    { mode: 0o600 },
  );
  const near = await houseAsking(t, far.url, {}, dataDir);
  // After the house has stopped: hooks run in the order they were added.
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const [own, theirs] = [await near.json(query), await far.json(query)];
  assert.deepEqual(own.data.result, theirs.data.result);
  assert.equal(own.data.result.length, 2);
  const queries = near.service(LogQueries);
  const enforce = [{ name: 'device_id', op: '=', value: '7' }] as const;
  assert.deepEqual(
    (await queries.lines('{app="t"}', window, { enforce })).lines.map(({ line }) => line),
    ['two', 'one'],
  );
  const counted = await queries.instant('sum(count_over_time({app="t"}[1m]))', present + 5_000, {
    enforce,
  });
  assert.deepEqual(counted.type === 'vector' && [...counted.values], [2]);
  assert.deepEqual(await queries.labelValues('device_id', window), ['7', '8']);
  assert.deepEqual(
    [(await queries.status()).driver, (await queries.status()).ok],
    ['remote', true],
  );
});

test('requests are made anew from what is allowed, with the credentials that are set, and what the asker may see in every selector', async (t) => {
  const { url, heard } = await peer(t, (_, reply) =>
    reply.end('{"status":"success","data":{"resultType":"streams","result":[]}}'),
  );
  const house = await houseAsking(t, url);
  await house.fetch(
    `/loki/api/v1/query_range?${String(new URLSearchParams({ query: '{app="t"}', limit: '7', evil: '1' }))}`,
    {
      headers: { 'x-scope-orgid': 'mine', cookie: 'a=b' },
    },
  );
  const [first] = heard;
  assert.deepEqual(
    [first!.method, first!.url, first!.body],
    ['POST', '/base/loki/api/v1/query_range', 'query=%7Bapp%3D%22t%22%7D&limit=7'],
  );
  assert.deepEqual(
    [first!.headers.authorization, first!.headers.cookie, first!.headers['x-scope-orgid']],
    [undefined, undefined, undefined],
  );

  await house
    .service(LogQueries)
    .lines('{app="t"} |= "x"', window, { enforce: [{ name: 'device_id', op: '=', value: '7' }] });
  assert.deepEqual(Object.fromEntries(new URLSearchParams(heard[1]!.body)), {
    query: '{app="t", device_id="7"} |= "x"',
    start: '1795197600000000000',
    end: '1795197605000000000',
    limit: '100',
    direction: 'backward',
  });
  await house
    .service(LogQueries)
    .labelValues('a/../b', window, { enforce: [{ name: 'device_id', op: '=', value: '7' }] })
    .catch(() => undefined);
  assert.match(
    heard[2]!.url,
    /^\/base\/loki\/api\/v1\/label\/a%2F..%2Fb\/values\?.*query=%7Bdevice_id%3D%227%22%7D$/,
  );
});

test('its answers are read piece by piece', async (t) => {
  const answers: Record<string, object> = {
    lines: {
      resultType: 'streams',
      result: [
        { stream: { app: 'a' }, values: [[`${present}000001`, 'old']] },
        { stream: { app: 'b' }, values: [[`${present + 1}000000`, 'new']] },
      ],
    },
    matrix: {
      resultType: 'matrix',
      result: [
        {
          metric: { app: 'a' },
          values: [
            [present / 1_000, '1.5'],
            [present / 1_000 + 1, 'NaN'],
          ],
        },
      ],
    },
    vector: { resultType: 'vector', result: [{ metric: {}, value: [present / 1_000, '2'] }] },
  };
  let which = 'lines';
  const { url } = await peer(t, (_, reply) =>
    reply.end(
      which === 'html' ? '<html>' : JSON.stringify({ status: 'success', data: answers[which] }),
    ),
  );
  const house = await houseAsking(t, url);
  const queries = house.service(LogQueries);
  assert.deepEqual(
    (await queries.lines('{app="a"}', window)).lines.map(({ line }) => line),
    ['new', 'old'],
  );
  which = 'matrix';
  const matrix = await queries.range('rate({app="a"}[1m])', { ...window, step: 1_000 });
  assert.deepEqual(
    [[...matrix.times[0]!], [...matrix.values[0]!]],
    [
      [present, present + 1_000],
      [1.5, NaN],
    ],
  );
  which = 'vector';
  const instant = await queries.instant('sum(rate({app="a"}[1m]))', present);
  assert.deepEqual(instant.type === 'vector' && [...instant.values], [2]);
  which = 'html';
  await assert.rejects(queries.lines('{app="a"}', window), {
    code: 'upstream_error',
    message: /does not respond like Loki: the answer is not JSON/,
  });
});

test('its refusals and failures are told in words that help', async (t) => {
  let status = 200;
  let text = '';
  const { url } = await peer(t, (_, reply) => {
    reply.writeHead(status, { location: 'http://elsewhere.example/', 'retry-after': '7' });
    reply.end(text);
  });
  const house = await houseAsking(t, url);
  const ask = async (): Promise<[number, string]> => {
    const answer = await house.fetch(
      `/loki/api/v1/query_range?query=${encodeURIComponent('{app="t"}')}`,
    );
    return [answer.status, await answer.text()];
  };
  for (const [code, said, expected, sentence] of [
    [400, 'parse error at line 1', 400, /^parse error at line 1$/],
    [403, '', 502, /does not accept the credentials/],
    [404, 'x', 502, /does not know the path: is logs.remote_url the base address/],
    [302, '', 502, /redirects: set logs.remote_url/],
    [500, 'boom', 502, /answered 500: boom$/],
    [429, 'later', 429, /is busy: later/],
  ] as const) {
    [status, text] = [code, said];
    const [shown, body_] = await ask();
    assert.equal(shown, expected, `${code}: ${body_}`);
    assert.match(body_, sentence);
  }
  [status, text] = [500, 'boom'];
  const probed = await house.json('/api/v1/integrations/logstore/test', { method: 'POST' });
  assert.deepEqual(
    [probed.ok, probed.code, /answered 500: boom/.test(probed.detail)],
    [false, 'failing', true],
  );
});

test('pushes are admitted here and go on to it, stamped', async (t) => {
  const { url, heard } = await peer(t, (_, reply) => reply.writeHead(204).end());
  const house = await houseAsking(t, url);
  const answer = await house.service(LogIngest).push(
    'loki-json',
    body({ app: 't', device_id: '999' }, [
      [1, 'x "quoted"', { trace_id: 'a' }],
      [1e9, 'too new'],
    ]),
    { stamp: { device_id: '7' } },
  );
  assert.deepEqual([answer.accepted, answer.rejected], [1, 1]);
  assert.equal(heard[0]!.url, '/base/loki/api/v1/push');
  assert.deepEqual(JSON.parse(heard[0]!.body), {
    streams: [
      {
        stream: { app: 't', device_id: '7', service_name: 't' },
        values: [
          [`${present + 1}000000`, 'x "quoted"', { detected_level: 'unknown', trace_id: 'a' }],
        ],
      },
    ],
  });
});
