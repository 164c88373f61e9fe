import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { prebuild } from '../../bin/dev/packaging/prebuilt-plugin.ts';
import { agentText, entryText } from '../../bin/dev/packaging/programs.ts';
import { discover } from '../../core/host/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// One character beyond Latin-1, such as a dash in a tagged template, and the engine keeps the whole text in two bytes a character.
test('every text that an agent of the single binary keeps in memory fits one byte a character', async () => {
  const texts = new Map<string, Uint8Array | string>([
    ['entry', await entryText(root)],
    ['edge', await agentText(root)],
  ]);
  for (const folder of discover({
    roots: [{ path: join(root, 'plugins'), origin: 'shipped' }],
    embedded: [],
  }).values()) {
    const { runs_on: runsOn } = JSON.parse(folder.read('plugin.json')!.toString('utf8')) as {
      runs_on?: readonly string[];
    };
    if (runsOn?.includes('edge')) {
      const code = [...(await prebuild(folder))].filter(([name]) => name.endsWith('.cjs'));
      code.forEach(([name, bytes]) => texts.set(`${folder.id}/${name}`, bytes));
    }
  }
  assert.ok(texts.has('edge-uplink/index.cjs'));
  for (const [name, bytes] of texts) {
    const wide = /.{0,60}[^\0-\xff].{0,20}/.exec(Buffer.from(bytes).toString('utf8'));
    assert.equal(wide?.[0], undefined, name);
  }
});
