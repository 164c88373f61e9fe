import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSvcError } from 'svc/sdk';

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
  const refused: unknown[] = [];
  await new Promise<void>((resolve) => {
    calls.forEach(
      (call) => void call.catch((error: unknown) => void (refused.push(error) === 97 && resolve())),
    );
  });
  assert.ok(refused.every((error) => isSvcError(error) && error.code === 'budget_exceeded'));
  stop.abort();
  await Promise.allSettled(calls);
  assert.ok(fake.requests.length <= 3, String(fake.requests.length));
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
