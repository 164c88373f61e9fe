import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { Principal } from 'svc/sdk';

import { loadMigrations } from '../../../core/storage/migration-text.ts';
import { Members } from '../../../plugins/iam/accounts/members.ts';
import { Orgs } from '../../../plugins/iam/accounts/orgs.ts';
import { Users } from '../../../plugins/iam/accounts/users.ts';
import { Hasher } from '../../../plugins/iam/passwords/hasher.ts';
import { People } from '../../../plugins/iam/policy/people.ts';
import { Policy } from '../../../plugins/iam/policy/policy.ts';
import { PeopleStore } from '../../../plugins/iam/store/people-store.ts';
import { RoleStore } from '../../../plugins/iam/store/role-store.ts';
import type { IamTables } from '../../../plugins/iam/store/tables.ts';
import { inFolder, openIn } from '../../storage/folder.ts';

const migrations = loadMigrations(
  fileURLToPath(new URL('../../../plugins/iam/migrations', import.meta.url)),
);
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const ids = { uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') };
const root: Principal = { kind: 'operator', id: 'operator', role: 'admin', grants: ['*'] };
const by = { principal: root, requireMatch: () => undefined, note: () => undefined };

/**
 * Creates the domain of the plugin on a real file, with parts that a test can reach and hashes that
 * cost nothing.
 */
async function room(dir: string) {
  const storage = await openIn(dir);
  await storage.migrate('iam', migrations);
  const tables = storage.tables<IamTables>('iam');
  const policy = new Policy({ admin: ['*'], user: ['edge:*'], viewer: [] }, () =>
    new RoleStore(tables.read).all(),
  );
  const people = new People({
    policy,
    read: (some) => new PeopleStore(tables.read).accounts(some),
    changed: () => undefined,
  });
  const users = new Users({
    tables,
    people,
    clock,
    hasher: new Hasher(ids, { ln: 4, r: 8, p: 1 }),
    maxUsers: 3,
  });
  const orgs = new Orgs({ tables, people, clock, maxOrgs: 4 });
  const members = new Members({ tables, people, policy, maxOrgsOfUser: 2 });
  const add = (name: string) =>
    users.create(
      {
        email: `${name}@example.org`,
        display_name: '',
        role: 'user',
        password: 'a long passphrase',
      },
      undefined,
      () => undefined,
    );
  return { storage, tables, people, policy, users, orgs, members, add };
}

describe('the room has an end', () => {
  test('for accounts, deleted ones not counted', () =>
    inFolder(async (dir) => {
      const { storage, users, add } = await room(dir);
      const made = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(add));
      assert.deepEqual(made.map(({ status }) => status).sort(), [
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ]);
      await assert.rejects(add('f'), /limit of 3 accounts has been reached/);
      const { items } = await users.list(root, {}, { limit: 50 });
      await users.remove(by, items[0]!.id);
      assert.ok((await add('f')).id > items[0]!.id);
      await storage.close();
    }));

  test('for organizations, and for how many of them one belongs to', () =>
    inFolder(async (dir) => {
      const { storage, orgs, members, add } = await room(dir);
      const { id } = await add('a');
      const [one, two] = [
        await orgs.create(by, { name: 'one', description: '' }),
        await orgs.create(by, { name: 'two', description: '' }),
      ];
      await orgs.create(by, { name: 'three', description: '' });
      await assert.rejects(
        orgs.create(by, { name: 'four', description: '' }),
        /limit of 4 organizations has been reached/,
      );
      await members.add(by, one.id, id, 'member');
      await assert.rejects(
        members.add(by, two.id, id, 'member'),
        /belongs to 2 organizations, which is the limit/,
      );
      await storage.close();
    }));
});

test('looking up a live person costs a request next to nothing', async (t) => {
  await inFolder(async (dir) => {
    const { storage, people, add } = await room(dir);
    const { id } = await add('a');
    const rounds = 1_000_000;
    const begun = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) {
      people.live(id);
    }
    const each = Number(process.hrtime.bigint() - begun) / rounds;
    t.diagnostic(`live(id): ${each.toFixed(0)} ns`);
    assert.ok(each < 10_000, `${each} ns`);
    await storage.close();
  });
});
