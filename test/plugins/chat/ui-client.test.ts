import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { skillHouse, tools } from '../skill/house.ts';
import { directory, persona } from './stand-ins.ts';

/** The chat transport of the AI SDK as a page would set it up: only addresses and the form of the request are ours. */
async function clientOf(t: TestContext, rules: readonly Rule[]) {
  const fake = await FakeModel.start({ rules });
  t.after(() => fake.close());
  const kit = await skillHouse(t, {
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', tools],
    services: {
      'persona.directory': directory(
        persona({ name: 'sre', permission_mode: 'dual-sign-required' }),
      ),
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  });
  await kit.allowWrites();
  const session = (await kit.ask('anna', 'POST', '/chat/sessions', {})).body.id as string;
  const transport = new DefaultChatTransport({
    api: `${kit.house.url}/api/v1/chat/sessions/${session}/messages/stream`,
    headers: { authorization: 'Bearer anna' },
    prepareSendMessagesRequest: ({ messages }) => ({
      body: {
        content: messages
          .at(-1)!
          .parts.map((part) => (part.type === 'text' ? part.text : ''))
          .join(''),
      },
    }),
    prepareReconnectToStreamRequest: ({ api }) => ({ api }),
  });
  const send = (text: string) =>
    transport.sendMessages({
      trigger: 'submit-message',
      chatId: session,
      messageId: undefined,
      abortSignal: undefined,
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }],
    });
  return { ...kit, session, transport, send };
}

async function lastOf(
  stream: ReadableStream<UIMessageChunk>,
  message?: UIMessage,
): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const each of readUIMessageStream({
    stream,
    terminateOnError: true,
    ...(message && { message }),
  })) {
    last = each;
  }
  return last!;
}

const statesOf = ({ parts }: UIMessage) =>
  parts.flatMap((part) => (part.type === 'dynamic-tool' ? [`${part.toolName} ${part.state}`] : []));
const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

test('the client of the AI SDK reads a reply with a call and its evidence, chunk for chunk', async (t) => {
  const { send } = await clientOf(t, [
    {
      when: { turn: 1 },
      reply: {
        text: 'I look. ',
        tool_calls: [{ name: 'sample_safe', arguments: { host: 'db-3' } }],
      },
    },
    { when: { turn: 2 }, reply: { text: 'db-3 is well.' } },
  ]);
  const message = await lastOf(await send('How is db-3?'));
  assert.deepEqual(
    [message.role, textOf(message), statesOf(message)],
    ['assistant', 'I look. db-3 is well.', ['sample_safe output-available']],
  );
});

test('it sees that people are asked, and the rest of the same message once they have decided', async (t) => {
  const kit = await clientOf(t, [
    {
      when: { turn: 1 },
      reply: { tool_calls: [{ name: 'sample_mutating', arguments: { host: 'db-3' } }] },
    },
    { when: { turn: 2 }, reply: { text: 'Restarted.' } },
  ]);
  const paused = await lastOf(await kit.send('Restart db-3.'));
  assert.deepEqual(statesOf(paused), ['sample_mutating approval-requested']);
  const [approval] = (await kit.ask('carl', 'GET', '/approvals?status=pending')).body.items;
  await kit.ask('carl', 'POST', `/approvals/${approval.id}/approve`, {
    args_sha256: approval.args_sha256,
  });
  let whole: UIMessage | undefined;
  for (let waited = 0; whole === undefined || !textOf(whole).includes('Restarted.'); waited += 50) {
    assert.ok(waited < 20_000, JSON.stringify(whole));
    await new Promise((resolve) => setTimeout(resolve, 50));
    whole = await lastOf((await kit.transport.reconnectToStream({ chatId: kit.session }))!);
  }
  assert.deepEqual(
    [whole.id, statesOf(whole), textOf(whole)],
    [paused.id, ['sample_mutating output-available'], 'Restarted.'],
  );
});
