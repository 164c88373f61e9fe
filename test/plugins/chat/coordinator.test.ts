import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelPart, Models } from 'svc/contracts/model';
import type { PersonaDirectory, Route } from 'svc/contracts/persona';
import type { Principal } from 'svc/sdk';

import { Coordinator } from '../../../plugins/chat/prompt/coordinator.ts';
import { directory, say } from './stand-ins.ts';

type Known = Route['persona'];

const named = (name: string): Known => ({ name, unmet: [], when_to_use: name }) as unknown as Known;
const general = named('coordinator');
const personas = [general, named('disk'), named('network'), named('compute'), named('sre')];
const principal: Principal = { kind: 'user', id: '7', role: 'admin', grants: ['*'] };

/** Chooses for a question that several match about equally, where the model answers with this. */
async function chosen(answer: readonly ModelPart[] | Error) {
  const route: Route = {
    persona: general,
    why: 'disk, network match about equally well',
    clear: false,
    candidates: ['disk', 'network', 'coordinator', 'compute', 'sre'].map((name) => ({
      name,
      score: 1,
    })),
  };
  const directoryOf: PersonaDirectory = { ...directory(...personas), route: async () => route };
  const models = {
    async *stream() {
      if (answer instanceof Error) {
        throw answer;
      }
      yield* answer;
    },
  } as unknown as Models;
  const { persona, toAsk } = await new Coordinator(directoryOf, models).choose({
    content: 'it is slow',
    agent: undefined,
    principal,
    run: 'r',
    session: 's',
    signal: new AbortController().signal,
  });
  return { agent: persona.name, toAsk };
}

test('of agents that match about equally, the model chooses; the default one is told whom to ask', async () => {
  assert.deepEqual(await chosen(say('{"agent":"network"}')), {
    agent: 'network',
    toAsk: undefined,
  });
  const general = { agent: 'coordinator', toAsk: ['disk', 'network', 'compute'] };
  assert.deepEqual(await chosen(say('{"agent":"coordinator"}')), general);
  assert.deepEqual(await chosen(say('no idea')), general);
  assert.deepEqual(await chosen(new Error('no model is configured')), general);
});
