import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { projectRoot } from './source.ts';

test('the contract that plugins see is the one docs/api-report.md shows; after a meant change run "npm run api-report"', async () => {
  const check = promisify(execFile)(process.execPath, ['bin/dev/api-report.mjs', '--check'], {
    cwd: projectRoot,
    timeout: 120_000,
  });
  await check.catch((error: { stderr: string }) => assert.fail(error.stderr));
});
