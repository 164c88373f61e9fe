import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseBody } from '../../../../plugins/lib/tunnel/message/body.ts';

test('a body of more values than can be parsed in passing is refused, whatever its texts hold', () => {
  const body = (list: string): Buffer => Buffer.from(`{"list":[${list}]}`);
  assert.equal((parseBody(body('1,'.repeat(90_000) + 1), 8)['list'] as unknown[]).length, 90_001);
  assert.equal((parseBody(body(`"${'[,{'.repeat(100_000)}"`), 8)['list'] as unknown[]).length, 1);
  assert.throws(() => parseBody(body('[],'.repeat(60_000) + '[]'), 8), /more than 100000 values/);
});
