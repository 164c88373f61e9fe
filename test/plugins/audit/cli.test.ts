import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { as, auditHouse, folder, list, type Logged, post, withoutTriggers } from './house.ts';

const launcher = fileURLToPath(new URL('../../../bin/svc', import.meta.url));

/** The last argument may be an environment. */
const svc = (
  ...words: readonly (string | Readonly<Record<string, string>>)[]
): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const args = words.filter((word) => typeof word === 'string');
    const environment = words.find((word) => typeof word === 'object');
    execFile(
      process.execPath,
      [launcher, ...args],
      { env: { PATH: process.env['PATH'], ...environment } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

test('svc audit verify and export speak to the running house', async (t) => {
  const house = await auditHouse(t);
  const data = ['--data', house.dataDir];
  await post(house, 'entries', { text: 'one' }, as('anna'));
  await post(house, 'entries', { text: 'two' }, as('vera'));

  const whole = await svc('audit', 'verify', ...data);
  assert.deepEqual(
    [whole.code, whole.out],
    [0, 'ok unaltered rows: 2, verified checkpoints: 0, anchors: 0\n'],
  );

  const out = join(folder(t), 'trail.jsonl');
  const exported = await svc(
    'audit',
    'export',
    '--actor',
    'anna@example.org',
    '--out',
    out,
    ...data,
  );
  assert.deepEqual([exported.code, exported.out], [0, `${out}\n`]);
  assert.equal(statSync(out).mode & 0o777, 0o600);
  const rows = readFileSync(out, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    rows.map((line) => JSON.parse(line) as Logged),
    (await list(house, '?actor=3')).items,
  );

  const listed = await svc(
    'audit',
    'list',
    '--actor',
    'vera@example.org',
    '--since',
    '1h',
    ...data,
  );
  assert.match(
    listed.out,
    /^ID +AT +WHO +ACTION +TARGET +OUTCOME +DETAILS\n2 +\S+Z +vera@example\.org +ledger:entries +ledger +denied +.*\n$/,
  );
  const asJson = await svc('audit', 'list', '--action', 'ledger:*', '-n', '1', '--json', ...data);
  assert.deepEqual(
    (JSON.parse(asJson.out) as Logged[]).map(({ id }) => id),
    [2],
  );
  const both = await svc(
    'audit',
    'list',
    '--since',
    '1h',
    '--from',
    '2026-01-01T00:00:00Z',
    ...data,
  );
  assert.deepEqual([both.code, both.err.includes('use either --since or --from')], [2, true]);
  const none = await svc('audit', 'list', '--resource-type', 'nothing', ...data);
  assert.equal(none.out, 'No matching entries\n');

  const csv = await svc('audit', 'export', '--format', 'csv', '--status', 'denied', ...data);
  assert.match(csv.out, /^id,occurred_at,actor_type,.*\r\n2,.*vera@example\.org.*\r\n$/s);
  const wrong = await svc(
    'audit',
    'export',
    '--format',
    'xml',
    '--out',
    join(house.dataDir, 'wrong'),
    ...data,
  );
  assert.equal(wrong.code, 4);
  assert.match(wrong.err, /format must be one of jsonl, csv/);
  assert.ok(!existsSync(join(house.dataDir, 'wrong')));

  withoutTriggers(house.dataDir, (database) =>
    database.exec("update audit_log set record = replace(record, 'vera', 'anna') where seq = 2"),
  );
  const broken = await svc('audit', 'verify', ...data);
  assert.equal(broken.code, 1);
  assert.match(
    broken.out,
    /^broken first bad row 2: it was altered after it was written\nunaltered rows: 1\n/,
  );
  const json = await svc('audit', 'verify', '--json', ...data);
  const { ok, first_bad_seq } = JSON.parse(json.out) as { ok: boolean; first_bad_seq: number };
  assert.deepEqual([json.code, ok, first_bad_seq], [1, false, 2]);
});

test('svc audit verify speaks for a data folder that no svc serves, and leaves it as it is', async (t) => {
  const dataDir = folder(t);
  const house = await auditHouse(t, { dataDir });
  await post(house, 'entries', { text: 'one' }, as('anna'));
  await post(house, 'entries', { text: 'two' }, as('vera'));
  await house.stop();
  const files = (): readonly string[] =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`)
      .sort();
  const before = files();
  const temporary = folder(t);
  const verify = (): ReturnType<typeof svc> =>
    svc('audit', 'verify', '--data', dataDir, { TMPDIR: temporary });

  const whole = await verify();
  assert.deepEqual(
    [whole.code, whole.out],
    [0, 'ok unaltered rows: 2, verified checkpoints: 1, anchors: 0\n'],
    whole.err,
  );
  assert.deepEqual(files(), before);
  assert.deepEqual(readdirSync(temporary), [], 'nothing of the copy is left');

  withoutTriggers(dataDir, (database) =>
    database.exec("update audit_log set record = replace(record, 'vera', 'anna') where seq = 2"),
  );
  const broken = await verify();
  assert.deepEqual(
    [broken.code, broken.out.startsWith('broken first bad row 2: it was altered')],
    [1, true],
    broken.out,
  );
  const empty = await svc('audit', 'verify', '--data', temporary);
  assert.match(empty.err, /is not an svc data folder/);
});
