import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anthropic } from './vendors/anthropic.ts';
import { chatOf, inOrder } from './vendors/chat.ts';
import { chats, completionTokens, noToolsWithReasoning } from './vendors/chats.ts';
import { gemini } from './vendors/gemini.ts';
import { responsesOf } from './vendors/responses.ts';
import type { Dialect } from './vendors/vendor.ts';

const secrets = new Map([['sig', 'a thought']]);
const headers = {
  authorization: 'Bearer key',
  'x-api-key': 'key',
  'anthropic-version': '2023-06-01',
  'x-goog-api-key': 'key',
};
const said = (dialect: Dialect, body: object): string =>
  JSON.stringify(dialect.refusal(body as never, secrets, headers)?.body ?? 'accepted');
const chat = (provider: string): Dialect => chats.find((one) => one.provider === provider)!;
const user = { role: 'user', content: 'hello' };
const called = (id: string, more: object = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'a', arguments: '{}' } }],
  ...more,
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' });

// What svc relies on the doubles to catch: a double that accepts everything proves nothing.
test('the doubles refuse what their vendors refuse', () => {
  const deepseek = chat('deepseek');
  const thoughtless = { messages: [user, called('a'), result('a')] };
  assert.match(said(deepseek, thoughtless), /reasoning_content.*must be passed back/);
  const thoughtful = called('a', { reasoning_content: 'a thought' });
  assert.equal(said(deepseek, { messages: [user, thoughtful, result('a')] }), '"accepted"');
  assert.match(said(deepseek, { messages: [user, result('a')] }), /must be a response to/);

  const mistral = chat('mistral');
  assert.match(
    said(mistral, { messages: [user, called('call_1'), result('call_1')] }),
    /length of 9/,
  );
  const nine = [user, called('c00000001'), result('c00000001')];
  assert.equal(said(mistral, { messages: nine }), '"accepted"');
  assert.match(
    said(mistral, { messages: [...nine, user] }),
    /Unexpected role 'user' after role 'tool'/,
  );
  assert.match(said(mistral, { messages: nine, stream_options: {} }), /extra_forbidden/);
  const grok = chat('xai');
  assert.match(
    said(grok, { messages: [user], reasoning_effort: 'low' }),
    /does not support parameter/,
  );
  assert.match(
    said(grok, { messages: [user], max_tokens: 9 }),
    /Use 'max_completion_tokens' instead/,
  );

  const old = chatOf({
    provider: 'openai',
    model: 'gpt-5.6-terra',
    rules: [inOrder, completionTokens, noToolsWithReasoning],
    thoughts: () => ({}),
    usage: () => ({}),
  });
  assert.match(said(old, { messages: [user], tools: [{}] }), /use \/v1\/responses/);

  const openai = responsesOf('openai', 'gpt-5.6-terra', 'bearer');
  const call = { type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c', output: 'x' };
  const body = (...input: readonly object[]) => ({
    input,
    store: false,
    include: ['reasoning.encrypted_content'],
  });
  assert.match(said(openai, body(user, call, output)), /without its required 'reasoning' item/);
  const lost = { type: 'reasoning', id: 'rs_1', summary: [] };
  assert.match(said(openai, body(user, lost, call, output)), /rs_1' not found/);
  const thought = { ...lost, encrypted_content: 'sig' };
  assert.equal(said(openai, body(user, thought, call, output)), '"accepted"');
  assert.match(said(openai, body(user, output)), /No tool call found/);

  const turn = (signature: string) => ({
    contents: [
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ functionCall: { name: 'a' }, thoughtSignature: signature }] },
      { role: 'user', parts: [{ functionResponse: { name: 'a' } }] },
    ],
    generationConfig: { maxOutputTokens: 9 },
  });
  assert.match(said(gemini, turn('')), /missing a thought_signature/);
  assert.equal(said(gemini, turn('sig')), '"accepted"');

  const message = (thinking: string) => ({
    max_tokens: 9,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking, signature: 'sig' },
          { type: 'tool_use', id: 't', name: 'a', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [] }] },
    ],
  });
  assert.match(said(anthropic, message('another thought')), /cannot be modified/);
  assert.equal(said(anthropic, message('a thought')), '"accepted"');
  const budget = { ...message('a thought'), thinking: { type: 'enabled', budget_tokens: 2_000 } };
  assert.match(said(anthropic, budget), /Use .*thinking.type.adaptive/);
});
