import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/api-fuzz.ts';

test('every operation asked rightly and wrongly answers as the document says', async () => {
  const found = await run({ requests: 752, seed: 21 });
  assert.ok(
    Number(found['operations']) > 370 && Number(found['operations that answered 2xx']) > 60,
    JSON.stringify(found),
  );
  assert.deepEqual([found['violations'], found['answers 500']], [[], 0]);
});
