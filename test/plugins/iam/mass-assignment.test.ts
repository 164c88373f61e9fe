import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { iamHouse, type IamHouse, type Json } from './house.ts';

/** Every column of every table of the plugin, with what an attacker would like to find in it. */
const attacker: Readonly<Record<string, unknown>> = {
  id: 666,
  email: 'mallory@example.org',
  display_name: 'Mallory',
  role: 'admin',
  status: 'disabled',
  password_hash:
    '$scrypt$ln=1,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  version: 666,
  created_by: 666,
  created_at: '1970-01-01T00:00:00.000Z',
  updated_at: '1970-01-01T00:00:00.000Z',
  last_login_at: '1970-01-01T00:00:00.000Z',
  deleted_at: '1970-01-01T00:00:00.000Z',
  name: 'mallory',
  name_key: 'mallory',
  description: 'owned',
  parent_id: 1,
  device_selector: null,
  org_id: 1,
  user_id: 1,
  grants: ['*'],
  builtin: true,
  memberships: [{ org_id: 1, role: 'org_admin' }],
  constructor: { prototype: { polluted: true } },
  prototype: { polluted: true },
};

const tables = ['iam_users', 'iam_orgs', 'iam_members', 'iam_roles'];
const everything = ({ rows }: IamHouse): Json =>
  Object.fromEntries(tables.map((table) => [table, rows(table)]));

describe('a write route', () => {
  test('takes the fields it names and no column besides, whatever it is sent', async (t) => {
    const iam = await iamHouse(t);
    const [ann] = [await iam.user('ann', 'viewer'), await iam.user('ada', 'admin')];
    const ops = await iam.org('Ops', { [ann.id]: 'member' });
    await iam.ask('POST', '/roles', { name: 'custom', grants: ['role:manage'] });
    const columns = tables.flatMap((table) => iam.rows(table).flatMap((row) => Object.keys(row)));
    assert.deepEqual(
      columns.filter((column) => !Object.hasOwn(attacker, column)),
      [],
      'the attacker knows every column',
    );

    // What each route is for, with a body that would do it.
    const routes: readonly [string, string, Json][] = [
      [
        'POST',
        '/users',
        {
          email: 'new@example.org',
          password: 'a long passphrase',
          display_name: 'New',
          role: 'viewer',
        },
      ],
      [
        'PATCH',
        `/users/${ann.id}`,
        { email: 'anna@example.org', display_name: 'Anna', status: 'active' },
      ],
      [
        'PATCH',
        `/users/${ann.id}/password`,
        { password: 'a long passphrase', current_password: '' },
      ],
      ['PATCH', `/users/${ann.id}/role`, { role: 'user' }],
      ['POST', '/orgs', { name: 'New', description: '', parent_id: null, device_selector: null }],
      [
        'PATCH',
        `/orgs/${ops.id}`,
        { name: 'Ops 2', description: '', parent_id: null, device_selector: null },
      ],
      ['POST', '/orgs/1/members', { user_id: ann.id, role: 'member' }],
      ['PATCH', `/orgs/${ops.id}/members/${ann.id}`, { role: 'viewer' }],
      ['POST', '/roles', { name: 'another', description: '', grants: [] }],
      ['PATCH', '/roles/custom', { description: '', grants: [] }],
    ];
    const before = everything(iam);
    let sent = 0;
    for (const [method, path, good] of routes) {
      for (const [field, value] of [
        ...Object.entries(attacker),
        ['__proto__', { polluted: true }] as const,
      ]) {
        if (Object.hasOwn(good, field)) {
          continue;
        }
        const body = Object.defineProperty({ ...good }, field, { value, enumerable: true });
        const { status, body: answer } = await iam.ask(method, path, body);
        assert.equal(status, 400, `${method} ${path} with ${field}`);
        assert.equal(answer.error, 'invalid_argument');
        sent += 1;
      }
    }
    assert.deepEqual(everything(iam), before);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    t.diagnostic(`${sent} fields that were not asked for, on ${routes.length} routes`);
  });
});
