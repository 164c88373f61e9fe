import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { type ModelMessage, type ModelPart, ModelRuns } from 'svc/contracts/model';
import { useNoLeaks } from 'svc/testing';

import { endOf, modelStand, requestOf, textOf, user } from './stand.ts';

const tools = [
  {
    name: 'disk.usage',
    description: 'How full disks are',
    schema: { type: 'object', properties: { path: { type: 'string' } } },
  },
];
const callsOf = (parts: readonly ModelPart[]) => parts.filter((part) => part.type === 'call');

test('an answer comes in parts, and is charged as the provider counts', async (t) => {
  const { house, fake, ask } = await modelStand(t, {
    rules: [{ reply: { text: 'all is well', reasoning: 'hm' } }],
  });
  useNoLeaks(t, house);
  const parts = await ask();
  assert.equal(textOf(parts), 'all is well');
  assert.deepEqual(
    parts.flatMap((part) => (part.type === 'reasoning' ? part.delta : [])),
    ['hm'],
  );
  const { usage, finish, model } = endOf(parts);
  assert.deepEqual([finish, model, usage.estimated], ['stop', 'compatible/demo', false]);
  assert.deepEqual(
    [usage.input_tokens, usage.output_tokens],
    [fake.usage.prompt_tokens, fake.usage.completion_tokens],
  );
  const today = await house.json('/api/v1/usage/today');
  assert.deepEqual(
    [today.total_tokens, today.requests, today.limit, today.remaining],
    [fake.usage.total_tokens, 1, 0, null],
  );
  assert.deepEqual(
    today.by_model.map(({ model: id }: { model: string }) => id),
    ['compatible/demo'],
  );
});

test('calls of tools go out and come back under their own names, with ids that every provider takes', async (t) => {
  const { fake, ask } = await modelStand(t, {
    rules: [
      {
        when: { turn: 1 },
        reply: { text: 'I look', tool_calls: [{ name: 'disk_usage', arguments: { path: '/' } }] },
      },
      { reply: { text: 'full' } },
    ],
  });
  const first = await ask({ tools });
  assert.deepEqual(callsOf(first), [
    { type: 'call', index: 0, name: 'disk.usage', args: { path: '/' }, text: '{"path":"/"}' },
  ]);
  assert.equal(endOf(first).finish, 'tool-calls');
  const history: ModelMessage[] = [
    user('how full?'),
    {
      role: 'assistant',
      text: '',
      calls: [{ id: '0197-uuid', name: 'disk.usage', args: { path: '/' } }],
    },
    { role: 'tool', call_id: '0197-uuid', name: 'disk.usage', text: '91 %', failed: false },
  ];
  assert.equal(textOf(await ask({ tools, messages: history })), 'full');
  const sent = fake.requests.at(-1)!.body;
  assert.equal(sent.messages[1]!.tool_calls![0]!.function.name, 'disk_usage');
  assert.equal(sent.messages[1]!.tool_calls![0]!.id, sent.messages[2]!.tool_call_id);
  assert.match(sent.messages[2]!.tool_call_id!, /^[a-z0-9]{9}$/);
  assert.deepEqual(
    [sent.max_tokens, 'temperature' in sent, 'response_format' in sent],
    [1_000, false, false],
  );
});

test('what providers do to a stream does no harm', async (t) => {
  const text = 'Größe 10 µs – naïve';
  const twoCalls = [{ name: 'a', arguments: { long: 'x'.repeat(100) } }, { name: 'b' }];
  const faults = [
    'split-utf8',
    'fragments',
    'reasoning',
    'usage-everywhere',
    'same-ids',
    'long-ids',
  ] as const;
  const { fake, ask } = await modelStand(t, {
    rules: faults.map((fault) => ({
      when: { last: fault },
      reply: { text, tool_calls: twoCalls, misbehave: [fault] },
    })),
  });
  for (const fault of faults) {
    const parts = await ask({ messages: [user(fault)] });
    assert.equal(textOf(parts), text, fault);
    assert.deepEqual(
      callsOf(parts).map(({ name, args }) => [name, args]),
      [
        ['a', twoCalls[0]!.arguments],
        ['b', {}],
      ],
      fault,
    );
    const { usage } = endOf(parts);
    assert.equal(
      usage.input_tokens + usage.output_tokens,
      fake.requests.at(-1)!.usage!.total_tokens,
      fault,
    );
  }
});

test('arguments that are no JSON are handed on as text', async (t) => {
  const { ask } = await modelStand(t, {
    rules: [
      { reply: { tool_calls: [{ name: 'a', arguments: { x: 1 } }], misbehave: ['bad-arguments'] } },
    ],
  });
  assert.deepEqual(callsOf(await ask()), [
    { type: 'call', index: 0, name: 'a', args: undefined, text: '{"broken": {"x":1}' },
  ]);
});

test('an empty answer, one that is cut and one without usage end in order', async (t) => {
  const { ask, house } = await modelStand(t, {
    rules: [
      { when: { last: 'empty' }, reply: { misbehave: ['empty'] } },
      { when: { last: 'length' }, reply: { text: 'one two three four', misbehave: ['length'] } },
      { when: { last: 'usage' }, reply: { text: 'one two', misbehave: ['no-usage'] } },
    ],
  });
  assert.deepEqual(
    (await ask({ messages: [user('empty')] })).map(({ type }) => type),
    ['end'],
  );
  assert.equal(endOf(await ask({ messages: [user('length')] })).finish, 'length');
  const { usage } = endOf(await ask({ messages: [user('usage')] }));
  assert.ok(usage.estimated && usage.input_tokens > 0 && usage.output_tokens > 0);
  assert.equal(
    (await house.json('/api/v1/usage/today')).estimated_tokens,
    usage.input_tokens + usage.output_tokens,
  );
});

test('a provider that refuses for a moment is asked again, one that refuses for good is not', async (t) => {
  const { fake, ask } = await modelStand(t, {
    rules: [
      { when: { last: 'busy' }, reply: { text: 'late', misbehave: ['server-error'] } },
      { when: { last: 'limit' }, reply: { text: 'later', misbehave: ['rate-limit'] } },
      { when: { last: 'key' }, reply: { error: { status: 401, message: 'bad key' } } },
      {
        when: { last: 'long' },
        reply: { error: { status: 400, code: 'context_length_exceeded', message: 'too much' } },
      },
      { when: { last: 'wait' }, reply: { error: { status: 429, retry_after: 3_600 } } },
    ],
  });
  assert.equal(textOf(await ask({ messages: [user('busy')] })), 'late');
  assert.equal(textOf(await ask({ messages: [user('limit')] })), 'later');
  const counted = fake.requests.length;
  await assert.rejects(ask({ messages: [user('key')] }), {
    code: 'upstream_error',
    reason: 'model.key_refused',
  });
  await assert.rejects(ask({ messages: [user('long')] }), { reason: 'model.too_long' });
  await assert.rejects(ask({ messages: [user('wait')] }), {
    reason: 'model.busy',
    retryAfterSeconds: 3_600,
  });
  assert.equal(fake.requests.length, counted + 3);
});

test('an answer that breaks off is charged and not asked for again; one that never began is', async (t) => {
  const { fake, ask, house } = await modelStand(t, {
    rules: [
      { times: 2, reply: { text: 'one two three four', misbehave: ['cut'] } },
      { reply: { text: 'whole' } },
    ],
  });
  const seen: ModelPart[] = [];
  await assert.rejects(
    async () => {
      for await (const part of house.service(ModelRuns).stream(requestOf())) {
        seen.push(part);
      }
    },
    { code: 'upstream_error' },
  );
  assert.notEqual(seen.length, 0);
  assert.equal(fake.requests.length, 1);
  const today = await house.json('/api/v1/usage/today');
  assert.ok(
    today.estimated_tokens > 0 &&
      today.total_tokens === today.estimated_tokens &&
      today.reserved_tokens === 0,
  );
  await assert.rejects(ask());
  assert.equal(textOf(await ask()), 'whole');
});

test('silence ends a call, and so does its reader', async (t) => {
  const { fake, ask, house } = await modelStand(t, {
    rules: [
      { when: { last: 'stall' }, reply: { text: 'one two three', misbehave: ['stall'] } },
      { reply: { misbehave: ['hang'] } },
    ],
  });
  for await (const part of house
    .service(ModelRuns)
    .stream(requestOf({ messages: [user('stall')] }))) {
    assert.equal(part.type, 'text');
    break;
  }
  assert.equal((await house.json('/api/v1/usage/today')).reserved_tokens, 0);
  const stop = new AbortController();
  const hanging = ask({ signal: stop.signal });
  for (; fake.requests.length < 2; await new Promise((resolve) => setImmediate(resolve)));
  stop.abort();
  await assert.rejects(hanging, { code: 'unavailable' });
  assert.equal((await house.json('/api/v1/usage/today')).reserved_tokens, 0);
});

test('signs of life without content end a call, which is charged and not made again', async (t) => {
  const clock = {
    ahead: 0,
    now: () => Date.now() + clock.ahead,
    monotonic: () => performance.now() + clock.ahead,
  };
  const rules = [{ reply: { text: 'one two three four', misbehave: ['ping' as const] } }];
  const { fake, house } = await modelStand(t, { rules }, {}, clock);
  let text = '';
  await assert.rejects(
    async () => {
      for await (const part of house.service(ModelRuns).stream(requestOf())) {
        text += part.type === 'text' ? part.delta : '';
        // The rest of the half that it says is under way; what comes after is waited for.
        setTimeout(() => (clock.ahead += 301_000), 200);
      }
    },
    {
      code: 'upstream_error',
      reason: 'model.silent',
      message: /compatible\/demo: no content for 300 seconds/,
    },
  );
  assert.match(text, /^one/);
  assert.equal(fake.requests.length, 1);
  const today = await house.json('/api/v1/usage/today');
  assert.ok(
    today.estimated_tokens > 0 &&
      today.by_model[0].estimated_tokens === today.estimated_tokens &&
      today.reserved_tokens === 0,
  );
});

test('an answer without end is cut off where its room ends, and charged', async (t) => {
  const { ask, house } = await modelStand(t, {
    rules: [{ reply: { text: 'on and', misbehave: ['endless'] } }],
  });
  const parts = await ask({ maxTokens: 300 });
  const { finish, usage } = endOf(parts);
  assert.deepEqual(
    [finish, usage.estimated, textOf(parts).length < 20_000],
    ['length', true, true],
  );
  const today = await house.json('/api/v1/usage/today');
  assert.deepEqual(
    [today.total_tokens, today.reserved_tokens],
    [usage.input_tokens + usage.output_tokens, 0],
  );
  assert.ok(
    usage.output_tokens >= 300 && house.lines.some((line) => line.includes('model.endless')),
  );
});

test('a page of the web is no answer, and is not asked for again', async (t) => {
  const { fake, ask, house } = await modelStand(t, {
    rules: [{ reply: { text: 'x', misbehave: ['page'] } }],
  });
  await assert.rejects(ask(), {
    code: 'upstream_error',
    reason: 'model.no_model_there',
    message: /returned a web page.*check llm\.compatible_base_url/,
  });
  assert.equal(fake.requests.length, 1);
  assert.equal((await house.json('/api/v1/usage/today')).total_tokens, 0);
});

test('fallbacks are asked when they are listed, and only then', async (t) => {
  const rules = [
    { when: { model: 'demo' }, reply: { error: { status: 400, message: 'no' } } },
    { reply: { text: 'from the other' } },
  ];
  const listed = await modelStand(
    t,
    { rules },
    { SVC_LLM_FALLBACK_MODELS: 'openai/gpt,compatible/other' },
  );
  const parts = await listed.ask();
  assert.deepEqual([textOf(parts), endOf(parts).model], ['from the other', 'compatible/other']);
  const { ask, fake } = await modelStand(t, { rules });
  await assert.rejects(ask(), {
    reason: 'model.refused',
    message: /compatible rejected the request \(HTTP 400\): no\.$/,
  });
  assert.equal(fake.requests.length, 1);
});

test('without a model the call says what to set, and nothing leaves', async (t) => {
  const { ask, house, fake } = await modelStand(
    t,
    {},
    { SVC_LLM_COMPATIBLE_BASE_URL: '', SVC_LLM_DEFAULT_MODEL: '' },
  );
  await assert.rejects(ask(), {
    code: 'conflict',
    reason: 'model.none',
    message: /llm\.openai_api_key/,
  });
  await assert.rejects(ask({ model: 'openai/gpt-5' }), {
    code: 'conflict',
    reason: 'model.not_configured',
  });
  await assert.rejects(ask({ model: 'nowhere/x' }), {
    code: 'conflict',
    reason: 'model.no_provider',
  });
  const { ok } = house.service(ModelRuns).usable('');
  assert.equal(ok, false);
  const { items, default: standard } = await house.json('/api/v1/aiops/models');
  assert.deepEqual(
    [
      standard,
      items.every(({ configured }: { configured: boolean }) => !configured),
      fake.requests.length,
    ],
    [null, true, 0],
  );
});

test('models are listed by their provider, in the background, and again when asked to forget', async (t) => {
  const { house } = await modelStand(t, { models: ['demo', 'other', 'text-embedding-9'] });
  const offered = async () =>
    (await house.json('/api/v1/aiops/models')).items
      .find(({ provider }: { provider: string }) => provider === 'compatible')
      .models.map(({ id }: { id: string }) => id);
  for (const deadline = Date.now() + 10_000; (await offered()).length < 2;) {
    assert.ok(Date.now() < deadline);
  }
  assert.deepEqual(await offered(), ['demo', 'other']);
  const { invalidated } = await house.json('/api/v1/integrations/llm/invalidate', {
    method: 'POST',
  });
  assert.ok(invalidated.includes('compatible'));
});

test('a provider is tested where it is set, and at another address without the stored key', async (t) => {
  const { house } = await modelStand(t, { models: ['demo'] });
  const keys: (string | undefined)[] = [];
  const other = createServer((req, res) => {
    keys.push(req.headers.authorization ?? (req.headers['x-api-key'] as string | undefined));
    res
      .writeHead(req.headers.authorization === 'Bearer other' ? 200 : 401)
      .end('{"object":"list","data":null}');
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  t.after(() => {
    other.closeAllConnections();
    other.close();
  });
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const ask = async (body: object) => {
    const answer = await house.fetch('/api/v1/integrations/llm/test', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const { code, error, message } = (await answer.json()) as {
      code?: string;
      error?: string;
      message?: string;
    };
    return code ?? `${error}: ${message}`;
  };
  assert.equal(await ask({}), 'ok');
  assert.equal(await ask({ provider: 'openai' }), 'not_configured');
  assert.equal(await ask({ url }), 'unauthorized');
  assert.equal(await ask({ url: `${url}/`, token: 'other' }), 'ok');
  assert.equal(await ask({ provider: 'anthropic', url, token: 'other' }), 'unauthorized');
  assert.deepEqual(keys, [undefined, 'Bearer other', 'other']);
  assert.match(
    await ask({ provider: 'nobody' }),
    /^invalid_argument: provider is one of anthropic/,
  );
  assert.match(await ask({ token: 'x' }), /^invalid_argument: url is needed/);
});
