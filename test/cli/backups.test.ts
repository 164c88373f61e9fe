import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { openIn } from '../storage/folder.ts';
import { scratch, serving, svc } from './launcher.ts';

interface Listed {
  readonly dir: string;
  readonly problem: string | null;
}

test('data is backed up while svc serves, proven, lost and brought back', async (t) => {
  const folder = scratch(t);
  const data = join(folder, 'data');
  const here = await serving(t, data);

  await t.test('create makes a folder in backups/, or where it is told', async () => {
    const { code, stdout, stderr } = await svc(['backup', 'create', '--data', data]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /data\/backups\/20\d\d-.*Z \([\d.]+ [KM]iB\)\n {2}database /);
    assert.match(
      stdout,
      /\n\nNext: store a copy of the secret key .* --with-key; without the key, the secrets in the backup cannot be decrypted\.\n$/,
    );
    assert.match(stderr, /^Backing up .*: done/m);
    const made = await svc([
      'backup',
      'create',
      join(folder, 'kept', 'today'),
      '--with-key',
      '--data',
      data,
      '--json',
    ]);
    assert.equal(made.code, 0);
    assert.equal(made.json()['dir'], join(folder, 'kept', 'today'));
    assert.ok(existsSync(join(folder, 'kept', 'today', 'secret.key')));
    assert.equal(statSync(join(folder, 'kept', 'today')).mode & 0o077, 0);
  });

  await t.test('list shows those in the data folder, also one that is no backup', async () => {
    mkdirSync(join(data, 'backups', 'stray'));
    const { items } = (await svc(['backup', 'list', '--data', data, '--json'])).json<{
      items: Listed[];
    }>();
    assert.deepEqual(
      items.map(({ dir, problem }) => [dir.includes('stray'), problem === null]),
      [
        [true, false],
        [false, true],
      ],
    );
    assert.match(
      (await svc(['backup', 'list', '--data', data])).stdout,
      /stray +unreadable +.*is not a backup/,
    );
  });

  await t.test('verify proves one, and names what is wrong with another', async () => {
    const good = await svc(['backup', 'verify', join(folder, 'kept', 'today')]);
    assert.equal(good.code, 0);
    assert.match(good.stdout, /^ok .*today: created 20\d\d-.* rows in \d+ tables$/m);
    cpSync(join(folder, 'kept', 'today'), join(folder, 'bent'), { recursive: true });
    const file = join(folder, 'bent', 'svc.db');
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
    const bad = await svc(['backup', 'verify', join(folder, 'bent'), '--json']);
    assert.equal(bad.code, 1);
    assert.match(String(bad.json()['message']), /svc\.db differs from the file that was backed up/);
  });

  await t.test('restore is refused while svc serves that folder', async () => {
    const { code, stderr } = await svc([
      'backup',
      'restore',
      join(folder, 'kept', 'today'),
      '--data',
      data,
    ]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`in use by the svc process ${here.pid}`));
    assert.equal((await here.fetch('/readyz')).status, 200);
  });

  await t.test(
    'restore puts it in place, keeps what was there, and svc serves it',
    async (part) => {
      assert.equal(await here.end(), 0);
      const bent = await svc(['backup', 'restore', join(folder, 'bent'), '--data', data]);
      assert.equal(bent.code, 1);
      const { code, stdout } = await svc([
        'backup',
        'restore',
        join(folder, 'kept', 'today'),
        '--data',
        data,
      ]);
      assert.equal(code, 0);
      assert.match(
        stdout,
        /holds the data of 20\d\d-.*; the previous data is kept in .*before-restore-/,
      );
      assert.ok(readdirSync(data).some((name) => name.startsWith('before-restore-')));
      const again = await serving(part, data);
      assert.equal((await again.fetch('/readyz')).status, 200);
    },
  );
});

test('a folder without data is not backed up into something that looks like a backup', async (t) => {
  const folder = scratch(t);
  const { code, stderr } = await svc([
    'backup',
    'create',
    join(folder, 'out'),
    '--data',
    join(folder, 'nothing'),
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /is not an svc data folder/);
  assert.ok(!existsSync(join(folder, 'out')) && !existsSync(join(folder, 'nothing')));
  assert.match(
    (await svc(['backup', 'list', '--data', join(folder, 'nothing')])).stdout,
    /No backups in/,
  );
  assert.match(
    (await svc(['backup', 'restore', folder, '--data', join(folder, 'nothing')])).stderr,
    /is not a backup/,
  );
});

test('what has rotted in the base of a backup is taken from the live data, and told', async (t) => {
  const folder = scratch(t);
  const [data, kept] = [join(folder, 'data'), join(folder, 'kept')];
  await (await openIn(data)).close();
  const blocks = join('plugins', 'traces', 'blocks');
  mkdirSync(join(data, blocks), { recursive: true });
  ['one', 'two', 'three'].forEach((name) =>
    writeFileSync(join(data, blocks, `${name}.traces`), `spans of ${name}`),
  );
  const create = () => svc(['backup', 'create', '--in', kept, '--data', data]);
  assert.equal((await create()).code, 0);
  const base = join(kept, readdirSync(kept)[0]!);
  const [rotten, lost] = ['one', 'three'].map((name) => join(base, blocks, `${name}.traces`)) as [
    string,
    string,
  ];
  const { atime, mtime } = statSync(rotten);
  writeFileSync(rotten, 'spans of 0ne');
  utimesSync(rotten, atime, mtime);
  rmSync(lost);

  const { code, stdout, stderr } = await create();
  assert.equal(code, 0, stderr);
  const next = join(kept, readdirSync(kept).toSorted()[1]!);
  ['one', 'two', 'three'].forEach((name) =>
    assert.equal(readFileSync(join(next, blocks, `${name}.traces`), 'utf8'), `spans of ${name}`),
  );
  assert.match(
    stdout,
    /The base .* is damaged: .*plugins\/traces\/blocks\/one\.traces, plugins\/traces\/blocks\/three\.traces\./,
  );
  assert.equal(
    statSync(join(next, blocks, 'two.traces')).ino,
    statSync(join(base, blocks, 'two.traces')).ino,
    'what is sound takes no room',
  );
  assert.equal((await svc(['backup', 'verify', next])).code, 0);

  const verified = await svc(['backup', 'verify', base]);
  assert.equal(verified.code, 1);
  assert.match(
    verified.stderr,
    /one\.traces differs from the file that was backed up; plugins\/traces\/blocks\/three\.traces is missing/,
  );
});

test('a restore leaves nothing in the data folder that others can read', async (t) => {
  const folder = scratch(t);
  await (await openIn(join(folder, 'data'))).close();
  assert.equal(
    (await svc(['backup', 'create', join(folder, 'one'), '--data', join(folder, 'data')])).code,
    0,
  );
  const there = join(folder, 'there');
  assert.equal((await svc(['backup', 'restore', join(folder, 'one'), '--data', there])).code, 0);
  const open = readdirSync(there).filter(
    (name) => (statSync(join(there, name)).mode & 0o077) !== 0,
  );
  assert.deepEqual(open, []);
});
