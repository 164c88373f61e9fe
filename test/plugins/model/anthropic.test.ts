import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelMessage } from 'svc/contracts/model';

import { anthropicMessages } from '../../../plugins/model/wire/anthropic-messages.ts';
import { quirksOf } from '../../../plugins/model/wire/quirks.ts';
import type { WirePart } from '../../../plugins/model/wire/wire.ts';
import { WireNames } from '../../../plugins/model/wire/wire-names.ts';

const tools = [{ name: 'disk.usage', description: 'd', schema: { type: 'object' } }];
const messages: ModelMessage[] = [
  { role: 'system', text: 'be brief' },
  { role: 'user', text: 'how full?' },
  {
    role: 'assistant',
    text: '',
    calls: ['a', 'b'].map((id) => ({ id, name: 'disk.usage', args: { path: id } })),
  },
  { role: 'tool', call_id: 'a', name: 'disk.usage', text: '91 %', failed: false },
  { role: 'tool', call_id: 'b', name: 'disk.usage', text: 'no such path', failed: true },
];
const ask = {
  model: 'claude',
  messages,
  tools,
  maxTokens: 9,
  names: new WireNames({ messages, tools }),
  quirks: quirksOf('anthropic', 'claude', 0),
};

test('a conversation becomes two roles that take turns, results of one answer together', () => {
  const body = anthropicMessages.body(ask) as {
    system: { text: string }[];
    max_tokens: number;
    messages: { role: string; content: Record<string, unknown>[] }[];
  };
  assert.deepEqual([body.system[0]!.text, body.max_tokens], ['be brief', 9]);
  assert.deepEqual(
    body.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]),
    [
      ['user', 'text'],
      ['assistant', 'tool_use', 'tool_use'],
      ['user', 'tool_result', 'tool_result'],
    ],
  );
  const [uses, results] = [body.messages[1]!.content, body.messages[2]!.content];
  assert.deepEqual(
    [uses[0]!['name'], uses.map(({ id }) => id)],
    ['disk_usage', results.map(({ tool_use_id: id }) => id)],
  );
  assert.deepEqual([results[0]!['is_error'], results[1]!['is_error']], [undefined, true]);
});

const events = async function* (list: readonly object[]) {
  for (const event of list) {
    yield { event: '', data: JSON.stringify(event) };
  }
};

test('its events become parts, with kept tokens counted once', async () => {
  const parts: WirePart[] = [];
  const stream = events([
    {
      type: 'message_start',
      message: { usage: { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look' } },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'disk_usage', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{"path":' },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '"/"}' },
    },
    { type: 'ping' },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ]);
  for await (const part of anthropicMessages.parts(stream, ask)) {
    parts.push(part);
  }
  assert.deepEqual(
    parts.map(({ type }) => type),
    ['text', 'call-start', 'call-delta', 'call-delta', 'call', 'end'],
  );
  assert.deepEqual(parts.slice(-2), [
    { type: 'call', index: 0, name: 'disk.usage', args: { path: '/' }, text: '{"path":"/"}' },
    {
      type: 'end',
      finish: 'tool-calls',
      usage: { input_tokens: 105, output_tokens: 20, cached_tokens: 100, estimated: false },
      kept: undefined,
    },
  ]);
  await assert.rejects(async () => {
    for await (const part of anthropicMessages.parts(
      events([{ type: 'error', error: { message: 'overloaded' } }]),
      ask,
    )) {
      assert.fail(part.type);
    }
  }, /overloaded/);
});
