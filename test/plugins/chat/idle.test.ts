import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentHouse } from './house.ts';

const oftenMs = 1_000;
const quietMs = 1_500;

test('the rooms of agents do not wake again and again while there is nothing to do: after a run their shortest timer is longer than a second', async (t) => {
  const often: number[] = [];
  const real = globalThis.setTimeout;
  t.after(() => (globalThis.setTimeout = real));
  const counting = (fire: () => void, ms = 0, ...rest: []): NodeJS.Timeout => {
    // Timers of plugins; those of connections are not meant.
    if (ms < oftenMs && /core\/registry\/scope/.test(new Error('who').stack!)) {
      often.push(ms);
    }
    return real(fire, ms, ...rest);
  };
  globalThis.setTimeout = Object.assign(counting, real);
  const kit = await agentHouse(t, {
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', 'mention', 'mcp'],
    rules: [{ reply: { text: 'Here.' } }],
  });
  assert.equal((await kit.send('Are you there?')).finish_reason, 'stop');
  const pass = (): Promise<void> => new Promise((resolve) => real(resolve, quietMs));
  for (let tries = 0; tries < 20; tries++) {
    often.length = 0;
    await pass();
    if (often.length === 0) {
      return;
    }
  }
  assert.fail(
    `timers of ${[...new Set(often.map(Math.round))].join(', ')} ms were set again and again`,
  );
});
