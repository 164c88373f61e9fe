import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { checkout, scratch, serving } from './launcher.ts';

const persona = (name: string): string =>
  `---\nname: ${name}\ndescription: Looks after lamps.\nwhen_to_use: Questions about lamps.\n---\nYou look after lamps.\n`;

test('personas and skills of the working directory are served, and follow their files', async (t) => {
  const here = scratch(t);
  mkdirSync(join(here, 'agents'));
  mkdirSync(join(here, 'skills/dim'), { recursive: true });
  writeFileSync(join(here, 'agents/lamps.md'), persona('lamps'));
  writeFileSync(
    join(here, 'skills/dim/SKILL.md'),
    '---\nname: dim\ndescription: How to dim a lamp.\n---\nTurn the knob.\n',
  );
  const house = await serving(t, join(here, 'data'), {
    root: checkout(t, 'drop-ins', 'persona'),
    cwd: here,
  });
  const listed = async (): Promise<readonly string[]> => {
    const answer = await house.fetch('/api/v1/drop-ins?limit=200');
    const { items } = (await answer.json()) as { items: { name: string; state: string }[] };
    return items.map(({ name, state }) => `${name} ${state}`).toSorted();
  };
  const becomes = async (expected: readonly string[]): Promise<void> => {
    for (const deadline = Date.now() + 30_000; ; await pause(50)) {
      const found = await listed();
      if (Date.now() > deadline || found.join() === expected.join()) {
        assert.deepEqual(found, expected);
        return;
      }
    }
  };
  await becomes(['dim ok', 'lamps ok']);
  const agent = (await (await house.fetch('/api/v1/agents/lamps')).json()) as { source: string };
  assert.equal(agent.source, 'disk');
  writeFileSync(join(here, 'agents/bulbs.md'), persona('bulbs'));
  await becomes(['bulbs ok', 'dim ok', 'lamps ok']);
  rmSync(join(here, 'agents/lamps.md'));
  await becomes(['bulbs ok', 'dim ok']);
});
