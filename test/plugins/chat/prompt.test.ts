import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Skills } from 'svc/contracts/skill';

import { textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import { digestText, noDigest, withRun } from '../../../plugins/chat/journal/digest.ts';
import { promptOf } from '../../../plugins/chat/prompt/prompt.ts';
import type { Call, RunState } from '../../../plugins/chat/journal/journal.ts';
import type { MessageRow } from '../../../plugins/chat/session/store.ts';
import { until } from '../edge/house.ts';
import { tools } from '../skill/house.ts';
import { agentHouse, turns } from './house.ts';
import { persona } from './stand-ins.ts';

const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, estimated: false };

function called(n: number, tool: string, text: string, approval?: string): Call {
  const evidence = {
    id: `E${n}`,
    tool,
    bytes: 1,
    sha256: '',
    truncated: false,
    trust: 'trusted',
  } as const;
  const outcome = { status: 'ok', text, trust: 'trusted', evidence, duration_ms: 1 } as const;
  return {
    id: `c${n}`,
    name: tool,
    tool,
    args: { n },
    state: 'finished',
    class: 'safe',
    approval,
    outcome,
  };
}

/** A run that has asked `content` and made these calls, one a turn. */
const runOf = (content: string, calls: readonly Call[]): RunState => ({
  asked: { kind: 'asked', content, agent: undefined, context: {} },
  routed: {
    kind: 'routed',
    agent: 'p',
    version: 1,
    why: '',
    prompt: content,
    kernel: 'graph',
    max_turns: 50,
    tainted: false,
    evidence: [],
  },
  turns: calls.map((call) => ({
    text: '',
    finish: 'tool-calls',
    usage,
    model: 'm',
    calls: [call],
    notes: [],
  })),
  ended: undefined,
});

test('what leaves a prompt is kept in short: asks, decisions and evidence of the latest runs, in bounded room', () => {
  let digest = noDigest;
  for (let n = 1; n <= 500; n++) {
    digest = withRun(
      digest,
      runOf(`Question ${n}? ${'x'.repeat(2_000)}`, [
        called(n, 'logs_query', 'y'.repeat(9_000)),
        called(n + 10_000, 'service_restart', 'done', `a${n}`),
      ]),
    );
  }
  const text = digestText(digest);
  for (const part of [
    'Question 500?',
    'Question 461?',
    'service_restart {"n":10500}: ok',
    'E500 (logs_query)',
    'E10500 (service_restart)',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(
    !text.includes('Question 460?') && !text.includes('yyy') && text.length < 20_000,
    String(text.length),
  );
});

test('a prompt fits its window: old results are shortened first, then old messages left out, and never who asks what under which rules', () => {
  const calls = Array.from({ length: 12 }, (_, at) =>
    called(
      at + 1,
      'logs_query',
      JSON.stringify({ result: `${at + 1} ${'z'.repeat(6_000)}`, evidence: `E${at + 1}` }),
    ),
  );
  const history = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${at} ${'h'.repeat(500)}`,
  })) as unknown as MessageRow[];
  const prompt = (window: number) =>
    promptOf({
      state: runOf('Why is db-3 slow?', calls),
      persona: persona({ critical_reminder: 'Never guess.' }),
      systemContext: 'House rules.',
      model: 'm',
      offer: { tools: [], deferred: [], byName: new Map() },
      guides: [],
      agents: [],
      history,
      window,
      digest: withRun(noDigest, runOf('Asked long ago?', [called(77, 'logs_query', '')])),
      clock: { now: () => 0, monotonic: () => 0 },
    });
  const whole = prompt(100_000);
  assert.deepEqual([whole.compacted, whole.messages.length], [false, 2 + 40 + 1 + 24]);
  for (const window of [20_000, 8_000, 5_000]) {
    const { messages, compacted, tail } = prompt(window);
    assert.ok(
      compacted && JSON.stringify(messages).length <= window * 3 + 2_000,
      `${window}: ${JSON.stringify(messages).length}`,
    );
    const texts = messages.map((message) => message.text);
    assert.ok(
      texts[0]!.includes('House rules.') &&
        texts[1]!.includes('Asked long ago?') &&
        texts[1]!.includes('E77 (logs_query)'),
    );
    assert.ok(
      tail.includes('Never guess.') &&
        tail.includes('It is 1970-01-01') &&
        texts.some((text) => text.includes('Why is db-3 slow?')),
    );
    const results = messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
    assert.deepEqual(
      results.map((text) => Number(/"(\d+) z/.exec(text)![1])),
      calls.map((_, at) => at + 1),
      'every call keeps its result, in order',
    );
    assert.ok(
      results[0]!.includes('evidence_read has the rest') &&
        (window < 8_000 || !results.at(-1)!.includes('evidence_read has the rest')),
    );
    messages.forEach(({ role }, at) =>
      assert.ok(role !== 'tool' || ['assistant', 'tool'].includes(messages[at - 1]!.role)),
    );
  }
  assert.ok(
    prompt(20_000).messages.some(({ text }) => text.startsWith('Message 39')) &&
      !prompt(20_000).messages.some(({ text }) => text.startsWith('Message 0 ')),
  );
});

test('a guide stands in a prompt by one line, and is read whole when it is asked for', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-guides-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'full-disks'));
  writeFileSync(
    join(folder, 'full-disks', 'SKILL.md'),
    '---\nname: full-disks\ndescription: What to do when a disk is full.\n---\n\n# First look for deleted files that are open\n',
  );
  const kit = await agentHouse(t, {
    rules: [
      {
        when: { turn: 1 },
        reply: { tool_calls: [{ name: 'guide_read', arguments: { key: 'full-disks' } }] },
      },
      { reply: { text: 'Read.' } },
    ],
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', 'drop-ins', tools],
    environment: { SVC_SKILLS_EXTERNAL_DIRS: folder },
  });
  await until('the guide is there', () =>
    kit.house
      .service(Skills)
      .guides()
      .some(({ key }) => key === 'full-disks'),
  );
  await kit.send('The disk is full.');
  const [first, second] = kit.fake.requests.map(({ body }) => body);
  assert.match(textOf(first!.messages[0]!), /^- full-disks: What to do when a disk is full\.$/m);
  assert.ok(!JSON.stringify(first).includes('First look for deleted files'));
  assert.match(textOf(second!.messages.at(-1)!), /First look for deleted files that are open/);
});

test('two turns share every byte of the earlier one but its last words, and the last turn keeps its tools', async (t) => {
  const kit = await agentHouse(t, {
    rules: turns(
      [
        ['sample_safe', { host: 'db-1' }],
        ['sample_safe', { host: 'db-2' }],
      ],
      'Both are well.',
    ),
    personas: [
      persona({
        name: 'sre',
        critical_reminder: 'Never guess.',
        max_turns: 3,
        unknown: { 'x-effort': 'high' },
      }),
    ],
  });
  await kit.send('How are the databases?');
  const bodies = kit.fake.requests.map(({ body }) => body);
  assert.equal(bodies.length, 3);
  // svc itself says which model and which language, so that no persona has to.
  assert.match(
    textOf(bodies[0]!.messages[0]!),
    /^You are sre, running on the model \S+\.\n\nAnswer in the language of the last question/m,
  );
  const tailOf = (text: string): string =>
    /\n\n<system-reminder>[^<]*<\/system-reminder>$/.exec(text)![0];
  for (const [at, { messages, tools }] of bodies.entries()) {
    const last = textOf(messages.at(-1)!);
    assert.match(tailOf(last), /It is \d{4}-.* UTC\.\nNever guess\./);
    const shared = JSON.stringify({ tools, messages }).split(
      JSON.stringify(tailOf(last)).slice(1, -1),
    )[0]!;
    const next = bodies[at + 1];
    assert.ok(
      next === undefined ||
        JSON.stringify({ tools: next.tools, messages: next.messages }).startsWith(shared),
      `turn ${at + 2}`,
    );
  }
  assert.deepEqual(
    bodies.map(({ tool_choice: choice }) => choice),
    [undefined, undefined, 'none'],
  );
  assert.ok(bodies.every(({ reasoning_effort: effort }) => effort === 'high'));
});

test('an answer that is cut off says so, and one that was all thoughts is asked for once more with more room', async (t) => {
  const kit = await agentHouse(t, {
    rules: [
      {
        when: { system: 'THINKER' },
        reply: { reasoning: 'Hm. '.repeat(20), finish_reason: 'length' },
      },
      { times: 2, reply: { text: 'The disk is', finish_reason: 'length' } },
    ],
    personas: [
      persona({ name: 'thinker', body: 'THINKER' }),
      persona({ name: 'talker', body: 'TALKER' }),
    ],
  });
  const contentOf = async (session: string): Promise<string> =>
    (await kit.ask('anna', 'GET', `/chat/sessions/${session}/messages?order=desc`)).body.items[0]
      .content;
  await kit.send('How full is it?', kit.session, 'thinker');
  assert.match(
    await contentOf(kit.session),
    /^The model used all its tokens for thinking .* x-effort /,
  );
  const [first, second, ...others] = kit.fake.requests.map(({ body }) => body);
  assert.deepEqual(
    [others.length, second!.max_tokens! / first!.max_tokens!, second!.reasoning_effort],
    [0, 2, 'low'],
  );
  const session = await kit.newSession();
  await kit.send('How full is it?', session, 'talker');
  assert.match(
    await contentOf(session),
    /^The disk isThe disk is\n\nThis answer was cut off at 4096 tokens; agent.max_reply_tokens allows more\.$/,
  );
});
