import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { faults } from '../mutants/faults.ts';
import { projectRoot } from './source.ts';

test('every fault of "npm run mutants" can be planted: its place stands in its file once', () => {
  const places = (file: string, find: string): number =>
    existsSync(file) ? readFileSync(file, 'utf8').split(find).length - 1 : 0;
  assert.deepEqual(
    faults
      .filter(({ file, find }) => places(join(projectRoot, file), find) !== 1)
      .map(({ file, find }) => `${file}: ${find}`),
    [],
  );
});
