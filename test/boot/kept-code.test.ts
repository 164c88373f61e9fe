import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startWholeHouse } from '../whole-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiled = join(root, 'node_modules/.cache/svc');

/** Returns whether any state of the sources has the cached engine code of this text. */
function isKept(filename: string): boolean {
  const name = `${createHash('sha256').update(filename).digest('hex').slice(0, 32)}.code`;
  return readdirSync(compiled).some((folder) => existsSync(join(compiled, folder, 'code', name)));
}

test('a start with what the engine made of the texts of the one before brings up every plugin', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-kept-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  for (const start of ['first', 'second']) {
    const house = await startWholeHouse({ dataDir });
    try {
      const { items } = (await (await house.fetch('/api/v1/plugins?limit=200')).json()) as {
        items: { id: string; state: string }[];
      };
      const down = items
        .filter(({ state }) => state !== 'active' && state !== 'discovered')
        .map(({ id, state }) => `${id} ${state}`);
      assert.deepEqual(down, [], `${start} start`);
      for (
        const deadline = Date.now() + 60_000;
        !isKept(join(root, 'plugins/webshell/index.ts'));
        await pause(50)
      ) {
        assert.ok(Date.now() < deadline, `nothing is kept below ${compiled}: ${house.output()}`);
      }
    } finally {
      await house.end();
    }
  }
});
