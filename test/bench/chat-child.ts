import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import type { ModelPart } from 'svc/contracts/model';
import { Authenticator, type Principal } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import { directory, persona, registry, ScriptedRunner } from '../plugins/chat/stand-ins.ts';

const [tokens, perSecond] = process.argv.slice(2).map(Number) as [number, number];

/** Every token is the time at which the model has said it. */
async function* speaking(): AsyncGenerator<ModelPart> {
  for (let count = 0; count < tokens; count++) {
    await pause(1_000 / perSecond);
    yield { type: 'text', delta: `${performance.timeOrigin + performance.now()} ` };
  }
  yield {
    type: 'end',
    finish: 'stop',
    usage: { input_tokens: 1, output_tokens: tokens, cached_tokens: 0, estimated: false },
    model: 'bench/one',
  };
}

const tools = registry();
const house = await startTestHost(
  { after: () => undefined },
  {
    plugins: ['chat'],
    services: {
      [Authenticator.id]: {
        authenticate: ({ value }: { value: string }): Principal => ({
          kind: 'user',
          id: value,
          role: 'user',
          grants: [],
        }),
      },
      'model.stream': {
        usable: () => ({ ok: true, model: 'bench/one', context: 32_000 }),
        stream: speaking,
      },
      'persona.directory': directory(persona()),
      'skill.registry': tools,
      'skill.run': new ScriptedRunner(tools, () => Promise.resolve('')),
      'gate.decide': { decide: () => ({ verdict: 'run' }) },
    },
  },
);
writeSync(1, `${house.url}\n`);
// Collected only when that is asked for: the memory of a house that nothing helps is the figure that counts.
process.on('message', (asked) => {
  if (asked === 'collected') {
    globalThis.gc!();
  }
  process.send!({ ...process.memoryUsage(), cpu: process.cpuUsage() });
});
