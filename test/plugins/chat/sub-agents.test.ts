import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type ChatRequest, textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { agentHouse } from './house.ts';
import { persona } from './stand-ins.ts';

const boss = persona({
  name: 'boss',
  permission_mode: 'dual-sign-required',
  disallowed_tools: ['evidence_read'],
});
const disk = persona({
  name: 'disk',
  permission_mode: 'dual-sign-required',
  body: 'You are the disk agent.',
  critical_reminder: 'Measure.',
});

const isDisk = ({ messages }: ChatRequest): boolean =>
  textOf(messages[0]!).includes('You are the disk agent.');
const offered = ({ tools = [] }: ChatRequest): string[] =>
  tools.map(({ function: { name } }) => name);
const lastOf = ({ messages }: ChatRequest) => messages.at(-1)!;

/** The boss asks `asks` agents at once and repeats what they have found; the disk agent reads once and tries to change and to ask on. */
const talk = (asks = 1): readonly Rule[] => [
  {
    reply: (request) => {
      const isTold = request.messages.some(({ role }) => role === 'tool');
      if (isDisk(request)) {
        const changes = [
          { name: 'sample_mutating', arguments: { host: 'db-3' } },
          { name: 'agent_ask', arguments: { agent: 'boss', task: 'Restart db-3.' } },
        ];
        return isTold
          ? { text: 'The disk of db-3 is full since 02:00 [E99].' }
          : { tool_calls: [{ name: 'sample_safe', arguments: { host: 'db-3' } }, ...changes] };
      }
      const calls = Array.from({ length: asks }, (_, at) => ({
        name: 'agent_ask',
        arguments: { agent: 'disk', task: `Why is db-3 slow? (${at})` },
      }));
      return isTold
        ? { text: `Found: ${textOf(lastOf(request)).slice(0, 400)}` }
        : { tool_calls: calls };
    },
  },
];

test('another agent reads under the same gate and budget and answers with findings; its own turns stay with it', async (t) => {
  const kit = await agentHouse(t, { rules: talk(), personas: [boss, disk] });
  const reply = await kit.send('Why is db-3 slow?');
  assert.equal(reply.finish_reason, 'stop', JSON.stringify(reply));
  assert.match(
    reply.message,
    /"agent":"disk".*"findings":"The disk of db-3 is full since 02:00\."/,
  );
  assert.deepEqual(
    reply.tool_calls.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [['agent_ask', 'ok']],
  );
  assert.deepEqual(
    kit.done.map(({ tool }) => tool),
    ['safe'],
    'it reads, and changes nothing whatever its own mode says',
  );

  const of = kit.fake.requests.filter(({ body }) => isDisk(body));
  assert.ok(
    of.every(
      ({ body }) =>
        !offered(body).some((name) =>
          ['agent_ask', 'sample_mutating', 'evidence_read'].includes(name),
        ),
    ),
  );
  assert.ok(offered(kit.fake.requests[0]!.body).includes('agent_ask'));
  assert.match(textOf(kit.fake.requests[0]!.body.messages[0]!), /- disk: Answers\./);
  assert.match(textOf(of[0]!.body.messages[0]!), /asked by the agent boss, not by a person/);
  assert.ok(of[0]!.body.messages.some((message) => textOf(message).includes('Measure.')));
  assert.ok(
    !JSON.stringify(of[0]!.body).includes('Why is db-3 slow?"'),
    'it sees its task, not the conversation',
  );
  assert.ok(
    !JSON.stringify(kit.fake.requests.at(-1)!.body).includes('sample_safe {'),
    'and the conversation nothing of its turns',
  );

  const { body: history } = await kit.ask('anna', 'GET', `/chat/sessions/${kit.session}/messages`);
  assert.equal(history.items.length, 2);
  const { body: runs } = await kit.ask('anna', 'GET', `/chat/sessions/${kit.session}/runs`);
  assert.equal(runs.items.length, 1);
  const child = /"run_id":"([^"]+)"/.exec(reply.message)![1];
  const { body: its } = await kit.ask('anna', 'GET', `/chat/sessions/${kit.session}/runs/${child}`);
  assert.deepEqual(
    its.tool_calls.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [
      ['sample_safe', 'ok'],
      ['sample_mutating', 'refused'],
      ['agent_ask', 'refused'],
    ],
  );
  // Its tokens are the run's, to the token.
  const { body: usage } = await kit.ask('anna', 'GET', '/usage/today');
  assert.equal(usage.total_tokens, kit.fake.usage.total_tokens);
});

test('an agent that is asked has no tool that the one that asks has not', async (t) => {
  const narrow = persona({ name: 'boss', tools: ['agent_ask'] });
  const kit = await agentHouse(t, { rules: talk(), personas: [narrow, disk] });
  const reply = await kit.send('Why is db-3 slow?', kit.session, 'boss');
  assert.equal(reply.finish_reason, 'stop', JSON.stringify(reply));
  assert.deepEqual(kit.done, [], 'the tool of the other one was not run');
  const of = kit.fake.requests.filter(({ body }) => isDisk(body));
  assert.ok(of.length > 0);
  assert.deepEqual(
    of.flatMap(({ body }) => offered(body)),
    [],
  );
  const child = /"run_id":"([^"]+)"/.exec(reply.message)![1];
  const { body: its } = await kit.ask('anna', 'GET', `/chat/sessions/${kit.session}/runs/${child}`);
  assert.deepEqual(
    [
      its.tool_calls[0].status,
      /not among the tools of boss/.test(JSON.stringify(its.tool_calls[0])),
    ],
    ['refused', true],
  );
});

test('at most four are asked in one run, and a person cannot call the tool by hand', async (t) => {
  const kit = await agentHouse(t, { rules: talk(6), personas: [boss, disk] });
  const reply = await kit.send('Why is db-3 slow?');
  assert.deepEqual(
    reply.tool_calls.map(({ status }: { status: string }) => status),
    ['ok', 'ok', 'ok', 'ok', 'refused', 'refused'],
  );
  const byHand = await kit.ask('anna', 'POST', '/skills/agent_ask/execute', {
    params: { agent: 'disk', task: 'x' },
  });
  assert.deepEqual(
    [byHand.body.status, /send a message with "agent": "disk"/.test(byHand.body.error)],
    ['error', true],
  );
});

test('a reload under an agent that was asked loses and repeats nothing; cancelling the run ends it; the budget of the run holds it', async (t) => {
  let hold = true;
  const plain = talk()[0]!.reply as (request: ChatRequest) => { text: string };
  const kit = await agentHouse(t, {
    personas: [boss, disk],
    rules: [
      {
        reply: (request) =>
          hold && isDisk(request) ? { text: 'x', misbehave: ['hang'] } : plain(request),
      },
    ],
  });
  const begin = async (session: string): Promise<string> => {
    const before = kit.fake.requests.length;
    void kit.send('Why is db-3 slow?', session).catch(() => undefined);
    for (
      let waited = 0;
      !kit.fake.requests.slice(before).some(({ body }) => isDisk(body));
      waited += 20
    ) {
      assert.ok(waited < 20_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return (await kit.ask('anna', 'GET', `/chat/sessions/${session}/runs`)).body.items[0].run_id;
  };
  const other = await kit.newSession();
  const cancelled = await begin(other);
  assert.equal(
    (await kit.ask('anna', 'POST', `/chat/sessions/${other}/runs/${cancelled}/cancel`)).status,
    202,
  );
  assert.equal((await kit.ended(cancelled, other)).finish_reason, 'cancelled');

  const run = await begin(kit.session);
  hold = false;
  await kit.house.reload('chat');
  const end = await kit.ended(run);
  assert.match(end.message, /The disk of db-3 is full/);
  assert.deepEqual([end.tool_calls.length, kit.done.length], [1, 1]);

  const poor = await agentHouse(t, {
    rules: talk(),
    personas: [boss, disk],
    environment: { SVC_LLM_RUN_TOKEN_LIMIT: '7000' },
  });
  const reply = await poor.send('Why is db-3 slow?');
  const spent = poor.fake.usage.total_tokens;
  assert.ok(spent <= 7_000, `${spent} ${JSON.stringify(reply).slice(0, 300)}`);
});
