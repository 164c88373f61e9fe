import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EdgeTools, type EdgeToolParts } from '../../../plugins/skill/edge-tools.ts';

/** Edges whose lists come or fail as the test says; what is to be done soon is done when the test says so. */
function edges() {
  const asked: number[] = [];
  const failing = new Set<number>();
  let isDue = false;
  const skill = { key: 'look', name: 'Look', description: 'Looks.', class: 'safe', scope: 'edge', tier: 'core', schema: {} };
  const skills = {
    list: async (id: number) => {
      asked.push(id);
      assert.ok(!failing.has(id), 'the tunnel has ended');
      return [skill];
    },
  };
  const up = (service: object) => ({ available: true, get: () => service });
  const log = { debug: () => undefined };
  const tools = new EdgeTools({ skills: up(skills), fleet: up({}), log, soon: () => (isDue = true) } as unknown as EdgeToolParts);
  const soon = async (): Promise<void> => {
    while (isDue) {
      isDue = false;
      await tools.catchUp(AbortSignal.timeout(10_000));
    }
  };
  return { tools, asked, failing, soon, keys: () => tools.list().map(({ key }) => key) };
}

test('an edge whose list did not come is asked again a few times, and afresh with its next tunnel', async () => {
  const { tools, asked, failing, soon, keys } = edges();
  failing.add(1);
  tools.note(1);
  await soon();
  assert.deepEqual([asked, keys()], [[1, 1, 1], []]);
  failing.clear();
  tools.note(1);
  await soon();
  assert.deepEqual([asked.length, keys()], [4, ['look']]);
});

test('an edge that answers the second time is not asked a third time', async () => {
  const { tools, asked, failing, soon, keys } = edges();
  failing.add(2);
  tools.note(1);
  tools.note(2);
  await tools.catchUp(AbortSignal.timeout(10_000));
  failing.clear();
  await soon();
  assert.deepEqual([asked, keys()], [[1, 2, 2], ['look']]);
});
