import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWorker } from '../../core/isolate/worker.ts';
import { inFolder } from './folder.ts';

test('a thread runs TypeScript with what it imports, and its errors name the line of the source', () =>
  inFolder(async (dir) => {
    writeFileSync(
      join(dir, 'part.ts'),
      'export interface Unused {}\n\nexport function fail(): never {\n  throw new Error("from the thread");\n}\n',
    );
    const entry = join(dir, 'entry.ts');
    writeFileSync(
      entry,
      "import { workerData } from 'node:worker_threads';\nimport { fail } from './part.ts';\n\nif (workerData === 'fail') {\n  fail();\n}\n",
    );
    const [code] = (await once(startWorker({ entry, workerData: 'go on' }), 'exit')) as [number];
    assert.equal(code, 0);
    const [error] = (await once(startWorker({ entry, workerData: 'fail' }), 'error')) as [Error];
    assert.equal(error.message, 'from the thread');
    assert.match(error.stack!, /part\.ts:4:/);
  }));

test('a text that was bundled ahead runs as it is, under the limits that are given', async () => {
  const text =
    "const { parentPort, resourceLimits } = require('node:worker_threads'); parentPort.postMessage(resourceLimits.maxOldGenerationSizeMb);";
  const [limit] = (await once(
    startWorker({ entry: '/nowhere.ts', text, resourceLimits: { maxOldGenerationSizeMb: 32 } }),
    'message',
  )) as [number];
  assert.equal(limit, 32);
});
