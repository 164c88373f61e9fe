import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { TestHost } from 'svc/testing';

import { until } from '../edge/house.ts';
import { auditHouse, folder, inFile, post, verify, withoutTriggers } from './house.ts';
import { overPostgres } from '../../kit/database.ts';

const rowCount = 12;

async function write(house: TestHost, count = rowCount): Promise<void> {
  for (let index = 1; index <= count; index++) {
    await post(house, 'entries', { text: `${index}` });
  }
}

/** The process looks at the end of the trail shortly after rows came; nothing else is to be seen of it. */
const looked = (): Promise<void> => pause(1_000);

const forgetSigned = (dataDir: string): void =>
  rmSync(join(dataDir, 'plugins', 'audit', 'audit-checkpoints.log'));

const headOf = (dataDir: string): string => join(dataDir, 'plugins', 'audit', 'audit-head.json');

describe('before a checkpoint speaks of the rows, whoever', () => {
  const deeds: Readonly<
    Record<string, { readonly deed: (dataDir: string) => void; readonly bad: number }>
  > = {
    'cuts off the last rows': {
      deed: (dataDir) =>
        withoutTriggers(dataDir, (database) =>
          database.exec('delete from audit_log where seq > 2'),
        ),
      bad: 3,
    },
    'empties the trail': {
      deed: (dataDir) =>
        withoutTriggers(dataDir, (database) => database.exec('delete from audit_log')),
      bad: 1,
    },
    'cuts off the last rows with every checkpoint': {
      deed(dataDir) {
        withoutTriggers(dataDir, (database) =>
          database.exec('delete from audit_log where seq > 2; delete from audit_checkpoints'),
        );
        forgetSigned(dataDir);
      },
      bad: 3,
    },
  };
  for (const [name, { deed, bad }] of Object.entries(deeds)) {
    test(`${name} is found, also when rows come again, and after the next start`, async (t) => {
      const dataDir = folder(t);
      const house = await auditHouse(t, { dataDir });
      await write(house);
      await looked();
      deed(dataDir);
      const found = await verify(house);
      assert.deepEqual([found.ok, found.first_bad_seq], [false, bad], JSON.stringify(found));
      assert.match(found.reason!, /missing: svc has seen row 12/);

      await write(house);
      await looked();
      assert.match((await verify(house)).reason!, /svc has seen/);
      await house.stop();

      const next = await auditHouse(t, { dataDir });
      const later = await verify(next);
      assert.deepEqual([later.ok, later.checkpoints > 0], [false, true], JSON.stringify(later));
      assert.match(later.reason!, /signed on|a checkpoint of/);
    });
  }
});

test('a trail that was emptied while the house stood still is told on by its checkpoints', async (t) => {
  const dataDir = folder(t);
  const house = await auditHouse(t, { dataDir });
  await write(house, 3);
  await house.stop();
  withoutTriggers(dataDir, (database) => database.exec('delete from audit_log'));
  const found = await verify(await auditHouse(t, { dataDir }));
  assert.deepEqual([found.ok, found.rows, found.first_bad_seq], [false, 0, 1]);
  assert.match(found.reason!, /a checkpoint of .* knows row 3/);
});

test('rows that are cut off after kill -9 are found by the head that was signed with them, and stay found', async (t) => {
  const living = folder(t);
  const house = await auditHouse(t, { dataDir: living });
  await write(house);
  const headOf = (dataDir: string): string => join(dataDir, 'plugins', 'audit', 'audit-head.json');
  await until(
    'the head is signed',
    () => existsSync(headOf(living)) && /"seq":12,/.test(readFileSync(headOf(living), 'utf8')),
  );
  // A killed process leaves what a copy has: nothing is signed at its end.
  const dataDir = folder(t, living);
  withoutTriggers(dataDir, (database) => database.exec('delete from audit_log where seq > 9'));
  for (let start = 1; start <= 2; start++) {
    const next = await auditHouse(t, { dataDir });
    const health = await next.fetch('/api/v1/health');
    assert.match(await health.text(), /ends before row 12/);
    await write(next, 5);
    const { ok, reason } = await verify(next);
    assert.equal(ok, false);
    assert.match(reason!, /it is not the row that|are missing/);
    await next.stop();
  }
});

test('an old trail without anything signed stays told on: a wiped one gets no new beginning', async (t) => {
  const dataDir = folder(t);
  const house = await auditHouse(t, { dataDir });
  await write(house, 3);
  await house.stop();
  withoutTriggers(dataDir, (database) =>
    database.exec(
      'delete from audit_log; delete from audit_checkpoints; update audit_keys set created_at = created_at - 7200000',
    ),
  );
  forgetSigned(dataDir);
  rmSync(headOf(dataDir));
  for (let start = 1; start <= 2; start++) {
    const next = await auditHouse(t, { dataDir });
    await write(next, 1);
    const { ok, reason, checkpoints } = await verify(next);
    assert.deepEqual([ok, checkpoints], [false, 0]);
    assert.match(reason!, /older than an hour but has neither a checkpoint nor an anchor/);
    await next.stop();
  }
});

test('a trigger that was dropped is told on by verification, by the health of the house and at the next start', async (t) => {
  const dataDir = folder(t);
  const house = await auditHouse(t, { dataDir });
  await write(house, 1);
  inFile(dataDir, (database) =>
    database.exec(`drop trigger audit_log_kept${overPostgres ? ' on audit_log' : ''}`),
  );
  const { ok, reason, first_bad_seq } = await verify(house);
  assert.deepEqual([ok, first_bad_seq], [false, undefined]);
  assert.match(reason!, /no longer prevents changes of the log: audit_log_kept is missing/);
  assert.match(
    await (await house.fetch('/api/v1/health')).text(),
    /the database refuses changes to the trail.*audit_log_kept is missing/,
  );
  await house.stop();
  const next = await auditHouse(t, { dataDir });
  assert.ok(
    next.lines.some((line) => line.includes('unprotected') && line.includes('audit_log_kept')),
  );
});
