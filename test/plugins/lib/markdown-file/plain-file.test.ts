import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPlainFile } from '../../../../plugins/lib/markdown-file/index.ts';

test(
  'a file is read to its end whatever size it states',
  { skip: process.platform === 'linux' ? false : 'only Linux has files that state no size' },
  async () => {
    const text = await readPlainFile('/proc', '/proc/version', 1_024);
    assert.match(text, /^Linux version .*\n$/s);
    await assert.rejects(readPlainFile('/proc', '/proc/version', 8), /larger than/);
  },
);
