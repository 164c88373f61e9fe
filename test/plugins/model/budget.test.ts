import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSvcError } from 'svc/sdk';

import { until } from '../edge/house.ts';
import { modelStand, requestOf, user } from './stand.ts';

const reply = { text: 'ten tokens of an answer, or about that many of them' };

/** The budgets in the order in which they are asked, and a call that is charged elsewhere. */
const limits = [
  ['SVC_LLM_RUN_TOKEN_LIMIT', 'this run', { run: 'other' }],
  ['SVC_LLM_SESSION_TOKEN_LIMIT', 'this session', { session: 'other' }],
  ['SVC_LLM_PERSONA_TOKEN_LIMIT', 'operator-guide for today', { persona: 'other' }],
] as const;

test('once a budget is spent nothing reaches the provider', async (t) => {
  const { house, fake, ask } = await modelStand(
    t,
    { rules: [{ reply }] },
    { SVC_LLM_DAILY_TOKEN_LIMIT: '2000' },
  );
  const refusals: unknown[] = [];
  for (let call = 0; call < 100 && refusals.length < 20; call++) {
    await ask({ messages: [user('x'.repeat(400))], maxTokens: 300 }).catch((error: unknown) =>
      refusals.push(error),
    );
  }
  const asked = fake.requests.length;
  assert.ok(asked > 2 && refusals.length === 20);
  for (const refusal of refusals) {
    assert.ok(
      isSvcError(refusal) && refusal.code === 'budget_exceeded' && refusal.retryAfterSeconds! > 0,
      String(refusal),
    );
    assert.match(
      refusal.message,
      /the token budget of today is used up: \d+ of 2000 are left, .* raise llm\.daily_token_limit$/,
    );
  }
  const today = await house.json('/api/v1/usage/today');
  assert.deepEqual(
    [today.total_tokens, today.limit, today.remaining, today.reserved_tokens],
    [fake.usage.total_tokens, 2_000, 2_000 - fake.usage.total_tokens, 0],
  );
  assert.ok(today.total_tokens <= 2_000);
});

test('calls at the same time cannot spend a budget twice', async (t) => {
  const { fake, ask } = await modelStand(
    t,
    { rules: [{ reply: { misbehave: ['hang'] } }] },
    { SVC_LLM_DAILY_TOKEN_LIMIT: '3000' },
  );
  const stop = new AbortController();
  const calls = Array.from({ length: 100 }, () => ask({ maxTokens: 1_000, signal: stop.signal }));
  await until('the provider has as many calls as fit', () => fake.requests.length > 0);
  stop.abort();
  const ended = await Promise.allSettled(calls);
  assert.ok(ended.every(({ status }) => status === 'rejected'));
  assert.ok(fake.requests.length <= 3, String(fake.requests.length));
});

test('calls that fit one after the other are answered in turn, not refused', async (t) => {
  const { fake, ask } = await modelStand(
    t,
    { rules: [{ reply }] },
    { SVC_LLM_DAILY_TOKEN_LIMIT: '6000' },
  );
  // Each holds more than a thousand tokens while it runs, and uses about thirty.
  const calls = await Promise.all(Array.from({ length: 30 }, () => ask({ maxTokens: 1_000 })));
  assert.deepEqual([calls.length, fake.requests.length], [30, 30]);
  assert.ok(fake.usage.total_tokens < 6_000, String(fake.usage.total_tokens));
});

test('an answer gets the room that is left, and no more', async (t) => {
  const { fake, ask } = await modelStand(
    t,
    { rules: [{ reply }] },
    { SVC_LLM_DAILY_TOKEN_LIMIT: '1000' },
  );
  await ask({ maxTokens: 4_000 });
  const sent = fake.requests[0]!.body.max_tokens!;
  assert.ok(sent < 1_000 && sent >= 256, String(sent));
});

for (const [setting, what, elsewhere] of limits) {
  test(`${setting} counts ${what} apart`, async (t) => {
    const { fake, ask } = await modelStand(t, { rules: [{ reply }] }, { [setting]: '1000' });
    const { budget } = requestOf();
    await ask({ maxTokens: 300, messages: [user('x'.repeat(1_600))] });
    await assert.rejects(ask({ maxTokens: 300, messages: [user('x'.repeat(1_600))] }), {
      code: 'budget_exceeded',
      message: new RegExp(`budget of ${what} is used up`),
    });
    assert.equal(fake.requests.length, 1);
    await ask({
      maxTokens: 300,
      messages: [user('x'.repeat(1_600))],
      budget: { ...budget, ...elsewhere },
    });
    assert.equal(fake.requests.length, 2);
  });
}
