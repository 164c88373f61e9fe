import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadMigrations } from '../../../core/storage/migration-text.ts';
import { Credentials } from '../../../plugins/iam/accounts/credentials.ts';
import { Users } from '../../../plugins/iam/accounts/users.ts';
import { Hasher } from '../../../plugins/iam/passwords/hasher.ts';
import { People } from '../../../plugins/iam/policy/people.ts';
import { Policy } from '../../../plugins/iam/policy/policy.ts';
import { PeopleStore } from '../../../plugins/iam/store/people-store.ts';
import { RoleStore } from '../../../plugins/iam/store/role-store.ts';
import type { IamTables } from '../../../plugins/iam/store/tables.ts';
import { inFolder, openIn, silent } from '../../storage/folder.ts';

const migrations = loadMigrations(
  fileURLToPath(new URL('../../../plugins/iam/migrations', import.meta.url)),
);
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const ids = { uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') };
const by = {
  principal: { kind: 'operator', id: 'operator', role: 'admin', grants: ['*'] },
  requireMatch: () => undefined,
  note: () => undefined,
} as const;

test('a login with the old password that is still being checked when the password is reset opens nothing', () =>
  inFolder(async (dir) => {
    const storage = await openIn(dir);
    await storage.migrate('iam', migrations);
    const tables = storage.tables<IamTables>('iam');
    const policy = new Policy({ admin: ['*'], user: [], viewer: [] }, () =>
      new RoleStore(tables.read).all(),
    );
    const people = new People({
      policy,
      read: (some) => new PeopleStore(tables.read).accounts(some),
      changed: () => undefined,
    });
    const quick = new Hasher(ids, { ln: 4, r: 8, p: 1 });
    const reached = signal();
    const released = signal();
    const slow = new Hasher(ids, { ln: 4, r: 8, p: 1 });
    slow.verify = async (hash, secret) => {
      reached.give();
      await released.given;
      return await quick.verify(hash, secret);
    };
    const users = new Users({ tables, people, clock, hasher: quick });
    const email = 'ann@example.org';
    const { id } = await users.create(
      { email, display_name: '', role: 'user', password: 'a lost passphrase' },
      undefined,
      () => undefined,
    );
    const credentials = new Credentials({ tables, people, hasher: slow, log: silent });

    const login = credentials.verify(email, 'a lost passphrase');
    await reached.given;
    await users.setPassword(by, id, 'a new passphrase', undefined);
    released.give();
    assert.equal(await login, undefined);
    assert.deepEqual(
      [
        (await credentials.verify(email, 'a new passphrase'))?.version,
        await credentials.verify(email, 'a lost passphrase'),
      ],
      [2, undefined],
    );
    await storage.close();
  }));

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give: () => give() };
}
