import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { outdatedTexts, scaffold, textsForAgents } from '../../bin/dev/scaffold/scaffold.ts';
import { projectRoot as root } from '../house/source.ts';
import { scratch } from './launcher.ts';

test('texts that still greet are named once the code does something else, until they are rewritten', (t) => {
  const [id, folder] = ['lookout', join(scratch(t), 'lookout')];
  scaffold({ id, folder, root, form: 'pack' });
  for (const [name, text] of textsForAgents(id, root)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  assert.deepEqual(outdatedTexts(id, folder, root), [], 'as it was created');

  writeFileSync(join(folder, 'index.ts'), "import { definePack } from 'svc/sdk';\n");
  assert.deepEqual(outdatedTexts(id, folder, root), [
    'README.md',
    'agents/lookout-clerk.md',
    'skills/lookout-guide/SKILL.md',
  ]);
  writeFileSync(join(folder, 'README.md'), '# lookout\n\nLists who went away.\n');
  assert.doesNotMatch(outdatedTexts(id, folder, root).join(), /README/);
});
