import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { jobTable } from 'svc/jobs';

test('every migration that makes a table of jobs has the text of the library', () => {
  const files = ['plugins', 'test/fixtures/plugins', 'bin/dev/scaffold'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^/]+\/migrations\/\d+-add-jobs\.sql$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
  assert.ok(files.includes('bin/dev/scaffold/area/migrations/002-add-jobs.sql'));
  for (const file of files) {
    const sql = readFileSync(file, 'utf8');
    const [, name = ''] = /CREATE TABLE (\w+)/.exec(sql) ?? [];
    assert.equal(sql, jobTable(name), file);
  }
});
