import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { startTestHost } from 'svc/testing';

import {
  call,
  directory,
  persona,
  registry,
  say,
  ScriptedModels,
  ScriptedRunner,
  tool,
} from './stand-ins.ts';

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  readonly data: any;
}

export async function framesOf(response: Response): Promise<Frame[]> {
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((block) => block.includes('data:'))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data')!;
      return {
        id: field('id'),
        event: field('event'),
        data: data === '[DONE]' ? data : JSON.parse(data),
      };
    });
}

async function chatHouse(
  t: TestContext,
  models: ScriptedModels,
  tools = registry(),
  runner = new ScriptedRunner(tools, async () => 'fine'),
  more: object = {},
) {
  const house = await startTestHost(t, {
    plugins: ['chat'],
    services: {
      'model.stream': models,
      'persona.directory': directory(persona({ critical_reminder: 'Be brief.' })),
      'skill.registry': tools,
      'skill.run': runner,
      'gate.decide': { decide: () => ({ verdict: 'run' }) },
      ...more,
    },
  });
  const session = (
    await house.json<{ id: string }>('/api/v1/chat/sessions', { method: 'POST', body: '{}' })
  ).id;
  const send = (content: string) =>
    house.fetch(`/api/v1/chat/sessions/${session}/messages/stream`, {
      method: 'POST',
      body: JSON.stringify({ content }),
    });
  return { house, session, send };
}

test('a message is answered as a stream of chunks that begins with start and ends with one finish', async (t) => {
  const models = new ScriptedModels(say('All is well.'));
  const { house, session, send } = await chatHouse(t, models);
  const frames = await framesOf(await send('How are things?'));
  assert.deepEqual(
    // Pieces of text come as soon as 20 ms allow: how many there are is a matter of time.
    frames
      .map(({ event }) => event)
      .filter((event, at, all) => event !== 'text-delta' || all[at - 1] !== 'text-delta'),
    [
      'start',
      'data-plan',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'data-usage',
      'finish-step',
      'finish',
      undefined,
    ],
  );
  assert.equal(frames.at(-1)!.data, '[DONE]');
  assert.ok(
    frames.slice(0, -1).every(({ event, data, id }) => event === data.type && /\.\d+$/.test(id!)),
  );
  const { items } = await house.json(`/api/v1/chat/sessions/${session}/messages?order=asc`);
  assert.deepEqual(
    items.map(({ role, content, finish_reason: finish }: Record<string, unknown>) => [
      role,
      content,
      finish,
    ]),
    [
      ['user', 'How are things?', null],
      ['assistant', 'All is well.', 'stop'],
    ],
  );
  assert.equal((await house.json('/api/v1/chat/sessions')).items[0].title, 'How are things?');
  assert.deepEqual(
    models.asked[0]!.messages.map(({ role }) => role),
    ['system', 'user'],
  );
});

test('tools that read run, their results go back in order, and what they return can be cited', async (t) => {
  const tools = registry(tool({ key: 'logs.query', trust: 'untrusted' }), tool({ key: 'devices' }));
  const runner = new ScriptedRunner(tools, async ({ key }) => `answer of ${key}`);
  const models = new ScriptedModels(
    call(['logs_query', { q: 'x' }], ['devices', {}]),
    say('It is db-3 [E1], not [E9].'),
    say('It is db-3 [E1].'),
  );
  const { house, session, send } = await chatHouse(t, models, tools, runner);
  const frames = await framesOf(await send('Who is it?'));
  assert.equal(frames.filter(({ event }) => event === 'tool-output-available').length, 2);
  assert.deepEqual(
    models.asked[1]!.messages.slice(1).map((message) => [
      message.role,
      'text' in message ? message.text : '',
    ]),
    [
      ['user', 'Who is it?'],
      ['assistant', ''],
      ['tool', '{"result":"answer of logs.query","evidence":"E1"}'],
      ['tool', '{"result":"answer of devices","evidence":"E2"}'],
    ],
  );
  assert.match(
    (models.asked[2]!.messages.at(-1) as { text: string }).text,
    /There is no evidence E9/,
  );
  const { items } = await house.json(`/api/v1/chat/sessions/${session}/messages`);
  assert.equal(items[0].content, 'It is db-3 [E1].');
  assert.deepEqual(
    items[0].tool_calls.map(({ name, status }: Record<string, unknown>) => [name, status]),
    [
      ['logs.query', 'ok'],
      ['devices', 'ok'],
    ],
  );
});

test('a client that leaves stops nothing, and reads on from where it was', async (t) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const models = new ScriptedModels(async function* () {
    yield { type: 'text', delta: 'one ' };
    await held;
    yield* say('two');
  });
  const { house, session, send } = await chatHouse(t, models);
  const first = await send('Count.');
  const reader = first.body!.getReader();
  let seen = '';
  while (!seen.includes('text-delta')) {
    seen += Buffer.from((await reader.read()).value).toString();
  }
  await reader.cancel();
  const ids = [...seen.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  release();
  const run = ids[0]!.split('.')[0]!;
  const rest = await framesOf(
    await house.fetch(`/api/v1/chat/sessions/${session}/messages/stream?run_id=${run}`, {
      headers: { 'last-event-id': ids.at(-1)! },
    }),
  );
  assert.deepEqual(
    rest.flatMap(({ event, data }) => (event === 'text-delta' ? [data.delta] : [])),
    ['two'],
  );
  assert.equal(rest.at(-2)!.event, 'finish');
});

const postMessage = (
  house: { fetch(path: string, init?: RequestInit): Promise<Response> },
  session: string,
  body: object,
) =>
  house.fetch(`/api/v1/chat/sessions/${session}/messages`, {
    method: 'POST',
    body: JSON.stringify(body),
  });

test('a plain message waits for the whole reply; a second one meanwhile is a conflict; cancel ends the run and stores what there is', async (t) => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const models = new ScriptedModels(say('First.'), async function* ({ signal }) {
    yield { type: 'text', delta: 'half' };
    begin();
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
  });
  const { house, session } = await chatHouse(t, models);
  const reply = (await (await postMessage(house, session, { content: 'One?' })).json()) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [reply['message'], reply['finish_reason'], reply['approvals'], reply['tool_calls']],
    ['First.', 'stop', [], []],
  );
  assert.deepEqual(reply['usage'], {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    cached_tokens: 0,
    requests: 1,
  });

  const second = postMessage(house, session, { content: 'Two?' });
  await begun;
  const third = await postMessage(house, session, { content: 'Three?' });
  assert.deepEqual([third.status, third.headers.get('x-svc-reason')], [409, 'chat.run_open']);
  const { items } = await house.json(`/api/v1/chat/sessions/${session}/runs`);
  assert.deepEqual([items.length, items[0].state], [2, 'running']);
  assert.equal(
    (
      await house.fetch(`/api/v1/chat/sessions/${session}/runs/${items[0].run_id}/cancel`, {
        method: 'POST',
      })
    ).status,
    202,
  );
  const ended = (await (await second).json()) as Record<string, unknown>;
  assert.equal(ended['finish_reason'], 'cancelled');
  assert.equal(
    (await house.json(`/api/v1/chat/sessions/${session}/messages`)).items[0].finish_reason,
    'cancelled',
  );
});

test('what is signed of an edge tool is what is run there: its params, and the device apart from them', async (t) => {
  const tools = registry(tool({ key: 'restart', scope: 'edge', class: 'mutating' }));
  const runner = new ScriptedRunner(
    tools,
    async () => 'done',
    () => ({ verdict: 'approval', signatures: 1 }),
  );
  const seen: object[] = [];
  const target = { kind: 'device', id: 7, name: 'far' };
  const approval = {
    id: 'a1',
    status: 'approved',
    class: 'mutating',
    target,
    args_sha256: 'x',
    expires_at: 0,
  };
  const book = {
    request: async ({ args }: { args: object }) => (seen.push(args), approval),
    get: async () => approval,
    of: async () => [],
    begin: async (_id: string, args: object) => (seen.push(args), approval),
    finish: async () => undefined,
    cancel: async () => undefined,
  };
  const models = new ScriptedModels(
    call(['restart', { unit: 'nginx', device_id: 7 }]),
    say('Done.'),
  );
  const { send } = await chatHouse(t, models, tools, runner, {
    'approval.book': book,
    'device.directory': { onlineEdge: async () => 3 },
  });
  await framesOf(await send('Restart nginx.'));
  assert.deepEqual(seen, [{ unit: 'nginx' }, { unit: 'nginx' }]);
  assert.deepEqual(
    runner.ran.map(({ params, device_id: device, approval: under }) => [params, device, under]),
    [[{ unit: 'nginx' }, 7, 'a1']],
  );
});

test('of many messages that come at once in one session one is a run', async (t) => {
  const models = new ScriptedModels(...Array.from({ length: 12 }, () => say('Yes.')));
  const { house, session } = await chatHouse(t, models);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => postMessage(house, session, { content: 'Now?' })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
  const runs = (await house.json(`/api/v1/chat/sessions/${session}/runs`)).items.length;
  assert.equal(answers.filter(({ status }) => status === 200).length, runs);
});

test('unknown agents, sessions of others and calls of tools that are not there', async (t) => {
  const models = new ScriptedModels(call(['rm_rf', {}]), say('There is no such tool.'));
  const { house, session, send } = await chatHouse(t, models);
  const unknown = await postMessage(house, session, { content: 'x', agent: 'nobody' });
  assert.deepEqual([unknown.status, unknown.headers.get('x-svc-reason')], [404, 'chat.no_agent']);
  assert.equal((await postMessage(house, 'no-session', { content: 'x' })).status, 404);
  const frames = await framesOf(await send('Delete all.'));
  assert.match(
    frames.find(({ event }) => event === 'tool-output-error')!.data.errorText,
    /rm_rf is not available/,
  );
  assert.equal(frames.filter(({ event }) => event === 'finish').length, 1);
});

test('a run whose plugin is reloaded goes on in the next generation: its read is made again, its text is told once', async (t) => {
  const tools = registry(tool({ key: 'slow' }));
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let isFirst = true;
  const runner = new ScriptedRunner(tools, async ({ signal }) => {
    if (!isFirst) {
      return 'read';
    }
    isFirst = false;
    begin();
    return new Promise((_resolve, reject) =>
      signal!.addEventListener('abort', () => reject(signal!.reason)),
    );
  });
  const models = new ScriptedModels(call(['slow', {}]), say('Done.'));
  const { house, session } = await chatHouse(t, models, tools, runner);
  const streaming = house.fetch(`/api/v1/chat/sessions/${session}/messages/stream`, {
    method: 'POST',
    body: JSON.stringify({ content: 'Go.' }),
  });
  await begun;
  await house.reload('chat');
  await (await streaming).text();
  const { items } = await house.json(`/api/v1/chat/sessions/${session}/runs`);
  const frames = await framesOf(
    await house.fetch(`/api/v1/chat/sessions/${session}/messages/stream?run_id=${items[0].run_id}`),
  );
  assert.deepEqual(
    frames
      .map(({ event }) => event)
      .filter((event) => event === 'finish' || event === 'tool-output-available'),
    ['tool-output-available', 'finish'],
  );
  const seqs = frames.slice(0, -1).map(({ id }) => Number(id!.split('.')[1]));
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  assert.equal(runner.ran.length, 2);
  assert.equal(
    (await house.json(`/api/v1/chat/sessions/${session}/messages`)).items[0].content,
    'Done.',
  );
});
