import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { FakeModel, type FakeModelOptions } from '../../plugins/model/cli/fake-model/fake-model.ts';
import type { Misbehaviour } from '../../plugins/model/cli/fake-model/misbehaviour.ts';
import { type Rule, rulesOf } from '../../plugins/model/cli/fake-model/script.ts';
import { projectRoot, svc } from './launcher.ts';

const user = (content: string) => ({ role: 'user', content });
const tools = [
  { type: 'function', function: { name: 'disk_usage', parameters: { type: 'object' } } },
];

async function fake(t: TestContext, options: FakeModelOptions = {}) {
  const model = await FakeModel.start(options);
  t.after(() => model.close());
  const ask = (body: object, init: RequestInit = {}): Promise<Response> =>
    fetch(`${model.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'demo', ...body }),
      ...init,
    });
  return { model, ask };
}

/** Parses a response; each test checks its content. */
const json = async (response: Promise<Response>) => JSON.parse(await (await response).text());

interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

interface Delta {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CallDelta[];
}

/** Assembles the content of a stream as a client does. */
async function streamed(response: Response) {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
  assert.equal(frames.pop(), 'data: [DONE]');
  const chunks = frames.map((frame) => JSON.parse(frame.slice('data: '.length)));
  const deltas = chunks.flatMap(({ choices = [] }) =>
    choices.map(({ delta }: { delta: Delta }) => delta),
  );
  return {
    chunks,
    text: deltas.map(({ content }) => content ?? '').join(''),
    reasoning: deltas.map(({ reasoning_content: thought }) => thought ?? '').join(''),
    calls: deltas.flatMap(({ tool_calls: calls }) => calls ?? []),
    finish: chunks.flatMap(({ choices = [] }) =>
      choices.flatMap((choice: { finish_reason: string | null }) => choice.finish_reason ?? []),
    ),
    usage: chunks.flatMap(({ usage }) => usage ?? []),
  };
}

test('without a script it does what it is told, and says what came of it', async (t) => {
  const { model, ask } = await fake(t);
  const first = await json(ask({ messages: [user('hello')], tools }));
  assert.match(first.choices[0].message.content, /disk_usage/);

  const told = await json(ask({ messages: [user('call disk_usage {"path":"/"}')], tools }));
  const [call] = told.choices[0].message.tool_calls;
  assert.deepEqual(call.function, { name: 'disk_usage', arguments: '{"path":"/"}' });
  assert.equal(told.choices[0].finish_reason, 'tool_calls');

  const history = [
    user('call disk_usage {"path":"/"}'),
    told.choices[0].message,
    { role: 'tool', tool_call_id: call.id, content: '91 %' },
  ];
  const last = await json(ask({ messages: history, tools }));
  assert.equal(last.choices[0].message.content, 'The tool answered:\n\n91 %');
  const counted = [first, told, last].reduce((sum, { usage }) => sum + usage.total_tokens, 0);
  assert.deepEqual([model.usage.total_tokens, model.usage.requests], [counted, 3]);
});

test('rules hold in their order, by turn, last message, tools, system text and how often', async (t) => {
  const rules: Rule[] = [
    {
      when: { last: 'DISK', tools: ['disk_usage'] },
      reply: { tool_calls: [{ name: 'disk_usage', arguments: { path: '/' } }] },
    },
    { when: { system: 'scribe' }, reply: { text: 'written' } },
    { when: { turn: 2 }, reply: { text: 'second' } },
    { times: 1, reply: { text: 'once' } },
    { when: { model: 'other' }, reply: ({ model }) => ({ text: model }) },
  ];
  const { ask } = await fake(t, { rules });
  const said = async (body: object) => (await json(ask(body))).choices[0].message;
  assert.equal(
    (await said({ messages: [user('how full is the disk?')], tools })).tool_calls.length,
    1,
  );
  assert.equal(
    (await said({ messages: [{ role: 'system', content: 'a scribe' }, user('disk')] })).content,
    'written',
  );
  assert.equal(
    (await said({ messages: [user('a'), { role: 'assistant', content: 'b' }, user('c')] })).content,
    'second',
  );
  assert.equal((await said({ messages: [user('a')] })).content, 'once');
  assert.equal((await said({ messages: [user('a')], model: 'other' })).content, 'other');
  assert.equal((await json(ask({ messages: [user('a')] }))).error.code, 'no_rule');
});

test('what a picky provider refuses is refused, and recorded', async (t) => {
  const { model, ask } = await fake(t);
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'disk_usage', arguments: '{}' },
  });
  const asked = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' });
  const refused: [RegExp, object][] = [
    [/superfluous/, { messages: [user('a')], superfluous: 1 }],
    [/'messages.0.secret'/, { messages: [{ ...user('a'), secret: 1 }] }],
    [/at least one message/, { messages: [] }],
    [/at least one tool/, { messages: [user('a')], tools: [] }],
    [
      /must match/,
      { messages: [user('a')], tools: [{ type: 'function', function: { name: 'a b' } }] },
    ],
    [/must not be null/, { messages: [{ role: 'assistant', content: null }, user('a')] }],
    [/missing at the end: b/, { messages: [user('a'), asked, result('a')] }],
    [
      /missing before 'messages.3'/,
      { messages: [user('a'), asked, result('a'), user('b'), result('b')] },
    ],
    [/must be a response to a preceding/, { messages: [user('a'), result('a')] }],
    [
      /same id twice/,
      { messages: [user('a'), { ...asked, tool_calls: [call('a'), call('a')] }, result('a')] },
    ],
    [
      /must not be of the assistant/,
      { messages: [user('a'), { role: 'assistant', content: 'b' }] },
    ],
  ];
  for (const [complaint, body] of refused) {
    assert.match((await json(ask(body))).error.message, complaint);
  }
  assert.equal((await ask({ messages: [user('a'), asked, result('b'), result('a')] })).status, 200);
  assert.deepEqual(
    model.requests.map(({ status, usage }) => [status, usage !== undefined]),
    [...refused.map(() => [400, false]), [200, true]],
  );
});

test('it misbehaves in a stream as providers were seen to', async (t) => {
  const rules: Rule[] = [
    {
      when: { tools: ['disk_usage'] },
      reply: {
        tool_calls: [
          { name: 'disk_usage', arguments: { path: '/var/löng/päth' } },
          { name: 'disk_usage' },
        ],
      },
    },
    { reply: { text: 'Größe: 10 µs' } },
  ];
  const { ask } = await fake(t, { rules });
  const plain = await streamed(
    await ask({ messages: [user('a')], stream: true, stream_options: { include_usage: true } }),
  );
  assert.deepEqual([plain.text, plain.finish, plain.usage.length], ['Größe: 10 µs', ['stop'], 1]);

  const as = async (fault: Misbehaviour, body: object = {}) => {
    const { ask: askIt } = await fake(t, { rules, misbehave: [fault] });
    return askIt({
      messages: [user('a')],
      stream: true,
      stream_options: { include_usage: true },
      ...body,
    });
  };
  assert.equal((await streamed(await as('split-utf8'))).text, 'Größe: 10 µs');
  assert.equal((await streamed(await as('empty'))).text, '');
  assert.match((await streamed(await as('reasoning'))).reasoning, /think/);
  assert.deepEqual((await streamed(await as('no-usage'))).usage, []);
  assert.ok((await streamed(await as('usage-everywhere'))).usage.length > 2);
  const cutShort = await streamed(await as('length'));
  assert.deepEqual([cutShort.text, cutShort.finish], ['Größe:', ['length']]);

  const calls = async (fault: Misbehaviour) => (await streamed(await as(fault, { tools }))).calls;
  const pieces = (await calls('fragments')).filter(
    ({ index, function: { arguments: text } }) => index === 0 && text !== '',
  );
  assert.deepEqual(
    [pieces.length > 10, pieces.map(({ function: { arguments: text } }) => text).join('')],
    [true, '{"path":"/var/löng/päth"}'],
  );
  const ids = (found: CallDelta[]) => found.flatMap(({ id }) => id ?? []);
  assert.equal(new Set(ids(await calls('same-ids'))).size, 1);
  assert.ok(ids(await calls('long-ids')).every((id) => id.length > 3_000));
  assert.ok(
    (await calls('unknown-tool')).some(({ function: { name } }) => name === 'no_such_disk_usage'),
  );
  const broken = (await calls('bad-arguments')).filter(({ index }) => index === 0);
  assert.throws(() => JSON.parse(broken.map(({ function: { arguments: text } }) => text).join('')));

  assert.match(
    await (await as('stream-error')).text(),
    /"error":\{"message":"the server had an error while streaming"/,
  );
  await assert.rejects(async () => (await as('cut')).text());
  const waiting = new AbortController();
  const stalled = (await as('stall')).body!.getReader();
  assert.match(new TextDecoder().decode((await stalled.read()).value), /^data: /);
  await stalled.cancel();
  const { model, ask: askHanging } = await fake(t, { rules, misbehave: ['hang'] });
  const hanging = askHanging({ messages: [user('a')] }, { signal: waiting.signal });
  for (; model.requests.length === 0; await new Promise((resolve) => setImmediate(resolve)));
  waiting.abort();
  await assert.rejects(hanging);
});

test('it refuses for a while, for good, and what is too long', async (t) => {
  const { ask } = await fake(t, { misbehave: ['rate-limit'] });
  const body = { messages: [user('a')] };
  const limited = await ask(body);
  assert.deepEqual(
    [limited.status, limited.headers.get('retry-after'), (await ask(body)).status],
    [429, '1', 200],
  );
  const failing = await fake(t, { misbehave: ['server-error'] });
  assert.deepEqual(
    [(await failing.ask(body)).status, (await failing.ask(body)).status],
    [500, 200],
  );
  const small = await fake(t, { misbehave: ['tiny-context'] });
  const long = await json(small.ask({ messages: [user('word '.repeat(1_000))] }));
  assert.deepEqual(
    [long.error.code, (await small.ask(body)).status],
    ['context_length_exceeded', 200],
  );
  const guarded = await fake(t, { key: 'k' });
  assert.deepEqual(
    [
      (await guarded.ask(body)).status,
      (await guarded.ask(body, { headers: { authorization: 'Bearer k' } })).status,
    ],
    [401, 200],
  );
});

test('a script file is read, and a wrong one refused by the place of the mistake', () => {
  assert.deepEqual(rulesOf('{"rules":[{"reply":{"text":"a"}}]}'), [{ reply: { text: 'a' } }]);
  const wrong: [RegExp, unknown][] = [
    [/a script is/, {}],
    [/rule 1 has no "reply"/, [{}]],
    [
      /rule 2, when has the unknown field "turns"/,
      [{ reply: {} }, { when: { turns: 1 }, reply: {} }],
    ],
    [/no misbehaviour "slwo"/, [{ reply: { misbehave: ['slwo'] } }]],
  ];
  for (const [complaint, rules] of wrong) {
    assert.throws(() => rulesOf(JSON.stringify(rules)), complaint);
  }
});

test('the command serves a script until it is stopped, and says what it was asked', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-fake-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'script.json');
  writeFileSync(file, JSON.stringify({ rules: [{ reply: { text: 'from the file' } }] }));
  const child = spawn(process.execPath, [
    join(projectRoot, 'bin', 'svc'),
    'fake-model',
    '--port',
    '0',
    '--script',
    file,
    '--json',
  ]);
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stderr, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  assert.deepEqual((await json(fetch(`${url}/models`))).data[0].id, 'demo');
  const answer = fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'demo', messages: [user('a')] }),
  });
  assert.equal((await json(answer)).choices[0].message.content, 'from the file');
  const recorded = await json(fetch(new URL('/recorded', url)));
  assert.equal(recorded.requests[0].body.messages[0].content, 'a');
  child.kill('SIGTERM');
  const [[out]] = await Promise.all([
    once(child.stdout, 'data') as Promise<[Buffer]>,
    once(child, 'exit'),
  ]);
  assert.equal(JSON.parse(out.toString()).requests, 1);

  const refused = await svc(['fake-model', '--misbehave', 'slwo']);
  assert.deepEqual([refused.code, /no misbehaviour "slwo"/.test(refused.stderr)], [2, true]);
});
