import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { type ChatRequest, textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { tools } from '../skill/house.ts';
import { type AgentHouse, agentHouse, turns, withoutTail } from './house.ts';

const plugins = [
  'persona',
  'programs',
  'gate',
  'approval',
  'skill',
  'setting',
  'model',
  'chat',
  tools,
];
const basic = {
  description: 'Looks at disks.',
  when_to_use: 'Disks that are full.',
  body: 'You are the persona of this test.',
};

async function house(
  t: Pick<TestContext, 'after'>,
  rules: readonly Rule[],
  personas: readonly object[],
  dataDir?: string,
): Promise<AgentHouse> {
  const kit = await agentHouse(t, { rules, plugins, ...(dataDir !== undefined && { dataDir }) });
  for (const one of personas) {
    const made = await kit.ask('bob', 'POST', '/agents/custom', { ...basic, ...one });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  return kit;
}

const systemOf = ({ messages }: ChatRequest): string[] =>
  messages.filter(({ role }) => role === 'system').map(textOf);
const usersOf = ({ messages }: ChatRequest): string[] =>
  messages.filter(({ role }) => role === 'user').map(textOf);
const offered = ({ tools: given = [], tool_choice: choice }: ChatRequest): string[] =>
  (choice === 'none' ? [] : given).map(({ function: { name } }) => name).toSorted();

test('omit_agent_md leaves the text of the house out, and nothing else', async (t) => {
  const kit = await house(
    t,
    [{ reply: { text: 'Yes.' } }],
    [{ name: 'plain' }, { name: 'tight', omit_agent_md: true }],
  );
  await kit.house.json('/api/v1/system-settings/agent/system_context', {
    method: 'PUT',
    body: JSON.stringify({ value: 'THE HOUSE RULES.' }),
  });
  await kit.send('One?', await kit.newSession(), 'plain');
  await kit.send('Two?', await kit.newSession(), 'tight');
  const [plain, tight] = kit.fake.requests.map(({ body }) => systemOf(body).join('\n'));
  assert.deepEqual(
    [plain!.includes('THE HOUSE RULES.'), tight!.includes('THE HOUSE RULES.')],
    [true, false],
  );
  const rest = (text: string): string =>
    text.replaceAll(/You are \w+|- \w+: Looks at disks\./g, '');
  assert.equal(rest(plain!.replace('THE HOUSE RULES.\n\n', '')), rest(tight!));
});

test('critical_reminder ends every turn, also after many', async (t) => {
  const calls = Array.from(
    { length: 4 },
    (_, at) => ['sample_safe', { host: `db-${at}` }] as const,
  );
  const kit = await house(t, turns(calls, 'Fine.'), [
    { name: 'plain' },
    { name: 'careful', critical_reminder: 'Never guess.' },
  ]);
  await kit.send('Look at all.', kit.session, 'careful');
  await kit.send('And now?', kit.session, 'careful');
  await kit.send('And you?', await kit.newSession(), 'plain');
  const [careful, plain] = ['careful', 'plain'].map((name) =>
    kit.fake.requests.filter(({ body }) => systemOf(body)[0]!.includes(`You are ${name},`)),
  );
  assert.ok(careful!.length >= 6 && plain!.length >= 1);
  for (const { messages } of careful!.map(({ body }) => body)) {
    assert.equal(messages[0]!.role, 'system');
    assert.match(
      textOf(messages.at(-1)!),
      /<system-reminder>\nIt is \S+ UTC\.\nNever guess\.\n<\/system-reminder>$/,
    );
  }
  assert.ok(!JSON.stringify(plain).includes('Never guess.'));
});

test('initial_prompt is filled from the spawn context and opens what a persona reads first in a session', async (t) => {
  const initial_prompt =
    'Start at {{if .incident_id}}incident {{.incident_id}}{{else}}the top{{end}}{{with .device_id}} on device {{.}}{{end}}, asked by {{.user}}.';
  const kit = await house(
    t,
    [{ reply: { text: 'Looking.' } }],
    [{ name: 'first' }, { name: 'second', initial_prompt }],
  );
  const say = async (content: string, agent: string, context?: object, session = kit.session) => {
    const { status, body } = await kit.ask('anna', 'POST', `/chat/sessions/${session}/messages`, {
      content,
      agent,
      ...(context && { context }),
    });
    assert.equal(status, 200, JSON.stringify(body));
    return withoutTail(usersOf(kit.fake.requests.at(-1)!.body).at(-1)!);
  };
  assert.equal(await say('Hello?', 'first', { incident_id: 7 }), 'Hello?');
  // It joins later, and has its opening all the same; after that it knows.
  assert.equal(
    await say('Why?', 'second', { incident_id: 7, device_id: 12_000_000 }),
    'Start at incident 7 on device 12000000, asked by anna.\n\nWhy?',
  );
  assert.equal(await say('And then?', 'second', { incident_id: 8 }), 'And then?');
  assert.equal(
    await say('Why?', 'second', undefined, await kit.newSession()),
    'Start at the top, asked by anna.\n\nWhy?',
  );
  // A session about an incident says so itself.
  const about = (await kit.ask('anna', 'POST', '/chat/sessions', { related_incident_id: 44 })).body
    .id as string;
  assert.match(await say('Why?', 'second', undefined, about), /^Start at incident 44, /);
  // What is filled in is text, never a template.
  assert.match(
    await say('Why?', 'second', { incident_id: '{{.user}}' }, await kit.newSession()),
    /^Start at incident \{\{\.user\}\}, /,
  );
});

test('tools, disallowed_tools, permission_mode, model and max_turns are what the provider is asked with', async (t) => {
  const kit = await house(
    t,
    [
      {
        reply: ({ tool_choice: choice }) =>
          choice === 'none'
            ? { text: 'Enough.' }
            : { tool_calls: [{ name: 'sample_safe', arguments: { host: 'a' } }] },
      },
    ],
    [
      {
        name: 'listed',
        tools: ['sample_safe', 'sample_mutating', 'sample_refuse'],
        disallowed_tools: ['sample_refuse'],
        permission_mode: 'read-only',
      },
      {
        name: 'changes',
        tools: ['sample_safe', 'sample_mutating', 'sample_dangerous'],
        permission_mode: 'mutating-with-confirm',
      },
      {
        name: 'signed',
        tools: ['sample_safe', 'sample_mutating', 'sample_dangerous'],
        permission_mode: 'dual-sign-required',
        model: 'compatible/other',
      },
      { name: 'short', tools: ['sample_safe'], max_turns: 2 },
      { name: 'once', tools: ['sample_safe'], max_turns: 1 },
    ],
  );
  const asked = async (agent: string) => {
    const from = kit.fake.requests.length;
    await kit.send('Go.', await kit.newSession(), agent);
    return kit.fake.requests.slice(from).map(({ body }) => body);
  };
  assert.deepEqual(offered((await asked('listed'))[0]!), ['sample_safe']);
  assert.deepEqual(offered((await asked('changes'))[0]!), ['sample_mutating', 'sample_safe']);
  const signed = await asked('signed');
  assert.deepEqual(
    [offered(signed[0]!), signed[0]!.model],
    [['sample_dangerous', 'sample_mutating', 'sample_safe'], 'other'],
  );
  assert.deepEqual(
    (await asked('short')).map((body) => [offered(body), body.model]),
    [
      [['sample_safe'], 'demo'],
      [[], 'demo'],
    ],
  );
  assert.deepEqual((await asked('once')).map(offered), [[]]);
});

test('metadata that does not hold keeps a persona from answering, whoever names it', async (t) => {
  const kit = await house(
    t,
    [{ reply: { text: 'Yes.' } }],
    [
      { name: 'coordinator', when_to_use: 'Everything else.' },
      { name: 'elsewhere', when_to_use: 'Mushrooms and berries.', metadata: { os: ['plan9'] } },
      {
        name: 'unequipped',
        when_to_use: 'Rivers and lakes.',
        metadata: { requires: { bins: ['no-such-program'], config: ['no.such'] } },
      },
      {
        name: 'equipped',
        when_to_use: 'Mountains and valleys.',
        metadata: {
          os: ['linux', 'darwin'],
          requires: { bins: ['node'], config: ['agents.default_persona'] },
        },
      },
    ],
  );
  const answering = async (content: string): Promise<string> => {
    await kit.send(content, await kit.newSession());
    return /You are (\w+), running on/.exec(systemOf(kit.fake.requests.at(-1)!.body)[0]!)![1]!;
  };
  assert.equal(await answering('Where are mushrooms and berries?'), 'coordinator');
  assert.equal(await answering('Where are mountains and valleys?'), 'equipped');
  const before = kit.fake.requests.length;
  for (const [agent, why] of [
    ['elsewhere', /works on plan9/],
    ['unequipped', /needs the program no-such-program .*; needs the setting no\.such/],
  ] as const) {
    const { status, body } = await kit.ask(
      'anna',
      'POST',
      `/chat/sessions/${await kit.newSession()}/messages`,
      { content: 'You?', agent },
    );
    assert.deepEqual([status, why.test(body.message)], [409, true], JSON.stringify(body));
  }
  assert.equal(kit.fake.requests.length, before);
});

test('background: the request is answered at once, the run goes on, is found again, also after a restart, and ends', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-background-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const before = await house(
    t,
    [{ reply: { misbehave: ['hang'] } }],
    [{ name: 'slow', background: true }],
    dataDir,
  );
  const {
    finish_reason: finish,
    run_id: run,
    message,
  } = await before.send('Read all of it.', before.session, 'slow');
  assert.deepEqual([finish, message], ['background', '']);
  const runsOf = async (kit: AgentHouse) =>
    (await kit.ask('anna', 'GET', `/chat/sessions/${before.session}/runs`)).body.items;
  assert.deepEqual(
    (await runsOf(before)).map(({ run_id: id, state, agent }: Record<string, unknown>) => [
      id,
      state,
      agent,
    ]),
    [[run, 'running', 'slow']],
  );
  assert.equal(
    (await before.ask('anna', 'GET', `/chat/sessions/${before.session}/runs/${run}`)).body
      .finish_reason,
    'background',
  );
  await before.house.stop();

  const after = await house(t, [{ reply: { text: 'All read.' } }], [], dataDir);
  assert.deepEqual(
    [(await after.ended(run, before.session)).message, (await runsOf(after))[0].state],
    ['All read.', 'ended'],
  );
  const { items } = (await after.ask('anna', 'GET', `/chat/sessions/${before.session}/messages`))
    .body;
  assert.deepEqual([items[0].content, items[0].agent, items.length], ['All read.', 'slow', 2]);
});
