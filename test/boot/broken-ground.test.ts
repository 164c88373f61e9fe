import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../drill/broken-ground.ts';

test(
  'on a disk that is full to the last byte svc starts, people sign in and read, and alerts go on',
  { skip: process.getuid?.() !== 0 },
  async () => {
    const { ok, grounds } = await run({
      only: ['disk full to the last byte', 'port that is taken'],
    });
    assert.ok(ok, JSON.stringify(grounds));
  },
);
