import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelPart, ModelProvider, ModelUsage, ProviderRequest } from 'svc/contracts/model';
import type { Counter, Logger } from 'svc/sdk';

import type { Budget } from '../../../plugins/model/budget/budget.ts';
import { ModelCalls } from '../../../plugins/model/model-calls.ts';
import type { ModelCatalogue } from '../../../plugins/model/providers/catalogue.ts';
import { errors } from '../../../plugins/model/wire/errors.ts';
import { endOf, requestOf } from './stand.ts';

/** Calls of one provider, on a clock that only the provider moves. */
function callsOf(stream: (request: ProviderRequest, pass: (ms: number) => void) => ModelPart[]) {
  let now = 0;
  const asked: ProviderRequest[] = [];
  const charged: (ModelUsage | undefined)[] = [];
  const warned: string[] = [];
  const provider: ModelProvider = {
    name: 'quiet',
    configured: () => true,
    models: () => [],
    // oxlint-disable-next-line typescript/require-await -- the contract is a stream
    async *stream(request) {
      asked.push(request);
      yield* stream(request, (ms) => (now += ms));
    },
  };
  const counter = { add: () => undefined } as unknown as Counter;
  const calls = new ModelCalls({
    catalogue: {
      choose: () => ({ id: 'quiet/one', provider, context: 32_000 }),
      fallbacksOf: () => [],
    } as unknown as ModelCatalogue,
    budget: {
      reserve: ({ maxTokens }: { readonly maxTokens: number }) =>
        Promise.resolve({
          id: 'call',
          maxTokens,
          settle: (usage: ModelUsage | undefined) => Promise.resolve(void charged.push(usage)),
        }),
    } as unknown as Budget,
    log: { warn: (_: object, text: string) => void warned.push(text) } as unknown as Logger,
    clock: { monotonic: () => now },
    random: () => 0,
    pause: () => Promise.resolve(),
    tokens: counter,
    requests: counter,
  });
  const ask = async (): Promise<ModelPart[]> => {
    const parts: ModelPart[] = [];
    for await (const part of calls.stream(requestOf())) {
      parts.push(part);
    }
    return parts;
  };
  return { ask, asked, charged, warned, elapsed: () => now };
}

test('a provider that says nothing is asked twice, the second time for a quarter as long', async () => {
  const { ask, asked, elapsed } = callsOf(({ patienceMs = 120_000 }, pass) => {
    pass(patienceMs);
    throw errors.unanswered(
      { provider: 'quiet', cause: 'no data for 120 s' },
      { retryAfterSeconds: 1 },
    );
  });
  await assert.rejects(ask(), { reason: 'model.unanswered' });
  assert.deepEqual(
    asked.map(({ patienceMs }) => patienceMs),
    [undefined, 30_000],
  );
  assert.equal(elapsed(), 150_000);
});

test('an impossible usage is not charged: an estimate is, and it is logged', async () => {
  const usage = {
    input_tokens: 1e12,
    output_tokens: 3,
    cached_tokens: 0,
    estimated: false,
  };
  const { ask, charged, warned } = callsOf(() => [
    { type: 'text', delta: 'all is well' },
    { type: 'end', finish: 'stop', model: 'quiet/one', usage },
  ]);
  const end = endOf(await ask());
  assert.ok(end.usage.estimated && end.usage.input_tokens < 1_000);
  assert.deepEqual(charged, [end.usage]);
  assert.match(warned.join(), /impossible token count/);
});
