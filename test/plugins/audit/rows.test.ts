import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AuditTrail } from 'svc/sdk';
import { useNoLeaks } from 'svc/testing';

import { as, auditHouse, folder, inFile, list, post, record, trailPath, verify } from './house.ts';
import { onlySqlite } from '../../kit/database.ts';

const entriesIn = (dataDir: string): unknown[] =>
  inFile(dataDir, (database) =>
    database.prepare('select text from ledger_entries order by id').pluck().all(),
  );
const recordsIn = (dataDir: string): string[] =>
  inFile(
    dataDir,
    (database) =>
      database.prepare('select record from audit_log order by seq').pluck().all() as string[],
  );

test('a change, a refusal, a failure, a sign-in, a reveal and a look at the trail are a row each', async (t) => {
  const house = await auditHouse(t);
  useNoLeaks(t, house);
  await post(house, 'entries', { text: 'one' }, as('anna'));
  await post(house, 'entries', { text: 'two' }, as('vera'));
  await post(house, 'entries', { text: 'three' }, as('nobody'));
  await house.fetch('/api/v1/ledger/entries/9', { method: 'DELETE' });
  await post(house, 'sign-in', { email: 'anna@example.org', password: 'right' });
  await post(house, 'sign-in', { email: 'anna@example.org', password: 'wrong' });
  await house.json('/api/v1/ledger/secret');
  await house.fetch('/api/v1/ledger/secret', as('anna'));
  await house.fetch(trailPath, as('anna'));
  await list(house);
  const { items, total } = await list(house);
  assert.deepEqual(
    items.map(({ id, action, resource_type, resource_id, status, http_status, actor }) => [
      id,
      action,
      `${resource_type} ${resource_id}`,
      `${status} ${http_status}`,
      `${actor.type} ${actor.id}`,
    ]),
    [
      [10, 'audit:read', 'audit-log null', 'success 200', 'operator operator'],
      [9, 'audit:read', 'audit-log null', 'denied 403', 'user 3'],
      [8, 'ledger:reveal', 'ledger null', 'denied 403', 'user 3'],
      [7, 'ledger:reveal', 'ledger null', 'success 200', 'operator operator'],
      [6, 'ledger:sign-in', 'ledger null', 'denied 401', 'anonymous anonymous'],
      [5, 'ledger:sign-in', 'session 7', 'success 200', 'user 7'],
      [4, 'ledger:delete', 'entry 9', 'failure 404', 'operator operator'],
      [3, 'ledger:entries', 'ledger null', 'denied 401', 'anonymous anonymous'],
      [2, 'ledger:entries', 'ledger null', 'denied 403', 'user 4'],
      [1, 'ledger:entries', 'ledger null', 'success 201', 'user 3'],
    ],
  );
  assert.equal(total, 10);
  const first = items.at(-1)!;
  assert.deepEqual(first.actor, {
    type: 'user',
    id: '3',
    email: 'anna@example.org',
    role: 'user',
    name: 'Anna',
  });
  assert.match(first.occurred_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.match(first.request_id, /./);
  assert.equal(items[6]?.error, 'there is no entry 9');
  assert.deepEqual(await verify(house), { ok: true, rows: 11, checkpoints: 0, anchors: 0 });
});

test(
  'when its row cannot be written, a change does not happen and its caller is told so',
  onlySqlite,
  async (t) => {
    const house = await auditHouse(t);
    await post(house, 'entries', { text: 'before' });
    inFile(house.dataDir, (database) =>
      database.exec(
        "create trigger audit_jam before insert on audit_log begin select raise(abort, 'the trail is jammed'); end",
      ),
    );
    for (const path of ['entries', 'torn']) {
      const answer = await post(house, path, { text: 'unwitnessed' });
      assert.equal(answer.status, 503);
      assert.match(
        ((await answer.json()) as { message: string }).message,
        /could not be recorded in the audit log, so it was not made/,
      );
    }
    assert.equal(
      (await house.fetch('/api/v1/ledger/secret')).status,
      503,
      'a secret is not shown either',
    );
    assert.equal((await house.fetch(trailPath)).status, 503, 'nor the trail');
    inFile(house.dataDir, (database) => database.exec('drop trigger audit_jam'));
    assert.equal((await post(house, 'entries', { text: 'after' })).status, 201);
    assert.deepEqual(entriesIn(house.dataDir), ['before', 'after']);
    assert.equal((await verify(house)).ok, true);
  },
);

test('two hundred writers at once, some of whose writes are undone, leave numbers without a gap', async (t) => {
  const house = await auditHouse(t);
  // Fewer refusals than the pipeline writes down at once; the next test is about more.
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      index % 20 === 3
        ? post(house, 'sign-in', { email: 'a@example.org', password: 'wrong' })
        : post(
            house,
            index % 2 === 0 ? 'entries' : 'torn',
            { text: `${index}` },
            as(index % 10 === 0 ? 'vera' : 'anna'),
          ),
    ),
  );
  const made = answers.filter(({ status }) => status === 201).length;
  const { ok, rows } = await verify(house);
  assert.deepEqual([ok, rows], [true, 200]);
  const { numbers, written, witnessed } = inFile(house.dataDir, (database) => ({
    numbers: database.prepare('select seq from audit_log order by seq').pluck().all(),
    written: database
      .prepare('select request_id from ledger_entries order by request_id')
      .pluck()
      .all(),
    witnessed: database
      .prepare(
        "select json_extract(record, '$.request_id') from audit_log where json_extract(record, '$.http_status') = 201 order by 1",
      )
      .pluck()
      .all(),
  }));
  assert.deepEqual(
    numbers,
    Array.from({ length: 201 }, (_, index) => index + 1),
  );
  assert.equal(written.length, made);
  assert.deepEqual(
    witnessed,
    written,
    'each change has its row, and no row speaks of a change that was undone',
  );
});

test('of a burst of refusals some have no row, but each of those is in the log, and the chain is whole', async (t) => {
  const house = await auditHouse(t);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => post(house, 'entries', { text: 'no' }, as('vera'))),
  );
  assert.ok(answers.every(({ status }) => status === 403));
  const { ok, rows } = await verify(house);
  const unwritten = house.lines.filter((line) =>
    line.includes('the audit log only counts them'),
  ).length;
  assert.deepEqual([ok, rows + unwritten], [true, 200]);
});

test('rows that come at once inside one write take their turns', async (t) => {
  const house = await auditHouse(t);
  const trail = house.service(AuditTrail);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      trail.append(undefined as never, record({ requestId: `r-${index}` })),
    ),
  );
  assert.deepEqual(await verify(house), { ok: true, rows: 50, checkpoints: 0, anchors: 0 });
});

test('passwords and tokens are in no row, and what is too large to keep is only named', async (t) => {
  const house = await auditHouse(t);
  const canaries = [
    'canary-one',
    'canary-two',
    'canary-three',
    'canary-four',
    'canary-before',
    'canary-revealed',
  ];
  await house.fetch('/api/v1/ledger/entries/1', {
    method: 'PUT',
    body: JSON.stringify({
      text: 'new',
      password: canaries[0],
      options: { api_key: canaries[1], list: [{ secret: canaries[2] }], note: 'kept' },
    }),
  });
  await post(house, 'sign-in', { email: 'anna@example.org', password: canaries[3] });
  await house.json('/api/v1/ledger/secret');
  await house.fetch('/api/v1/ledger/entries/1', {
    method: 'PUT',
    body: JSON.stringify({
      text: 'x',
      options: Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [`field-${index}`, 'y'.repeat(4_000)]),
      ),
    }),
  });
  const records = recordsIn(house.dataDir);
  for (const canary of canaries) {
    assert.ok(!records.some((text) => text.includes(canary)), canary);
  }
  const [small, large] = (await list(house, '?action=ledger:update')).items.toReversed();
  assert.deepEqual(small!.changes, {
    before: { text: 'old', password: '••••' },
    after: {
      text: 'new',
      password: '••••',
      options: { api_key: '••••', list: [{ secret: '••••' }], note: 'kept' },
    },
  });
  assert.deepEqual(large!.changes?.after, { text: 'x', options: '…' });
  assert.ok(records.every((text) => text.length < 20_000));
});

test('the database itself refuses to change a row, to take one out, or to put one anywhere but at the end', async (t) => {
  const house = await auditHouse(t, { dataDir: folder(t) });
  await post(house, 'entries', { text: 'one' });
  await post(house, 'entries', { text: 'two' });
  await house.stop();
  inFile(house.dataDir, (database) => {
    assert.throws(
      () => database.exec("update audit_log set record = replace(record, 'anna', 'vera')"),
      /never changed/,
    );
    assert.throws(
      () => database.exec('delete from audit_log where seq = 2'),
      /only when an anchor stands for it/,
    );
    const copy = 'insert into audit_log (seq, key_id, record, prev_hash, hash) select';
    assert.throws(
      () =>
        database.exec(`${copy} 7, key_id, record, prev_hash, hash from audit_log where seq = 1`),
      /only grows at its end/,
    );
    assert.throws(
      () =>
        database.exec(
          `${copy.replace('insert', 'insert or replace')} 1, key_id, record, prev_hash, hash from audit_log where seq = 2`,
        ),
      /only grows at its end/,
    );
    assert.throws(() => database.exec('delete from audit_checkpoints'), /never removed/);
    assert.throws(() => database.exec("update audit_checkpoints set hash = ''"), /never changed/);
  });
});
