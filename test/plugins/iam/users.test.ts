import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type Answer, iamHouse, idsOf, password } from './house.ts';

const refusedFor = ({ status, body }: Answer, path: string): void => {
  assert.equal(status, 400, JSON.stringify(body));
  assert.equal(body.error, 'invalid_argument');
  assert.deepEqual(
    body.details.map((problem: { path: string }) => problem.path),
    [path],
  );
};

describe('users', () => {
  test('are created, shown, changed and deleted by an administrator', async (t) => {
    const { ask, audit } = await iamHouse(t);
    const created = await ask('POST', '/users', {
      email: '  Ann.Lee@Example.ORG ',
      password,
      role: 'user',
    });
    assert.equal(created.status, 201);
    const { id } = created.body;
    assert.deepEqual(Object.keys(created.body).sort(), [
      'created_at',
      'display_name',
      'email',
      'id',
      'last_login_at',
      'role',
      'status',
      'updated_at',
    ]);
    assert.deepEqual(
      [
        created.body.email,
        created.body.display_name,
        created.body.role,
        created.body.status,
        created.body.last_login_at,
      ],
      ['ann.lee@example.org', 'ann.lee', 'user', 'active', null],
    );
    assert.equal((await ask('GET', `/users/${id}`)).body.email, 'ann.lee@example.org');

    const changed = await ask('PATCH', `/users/${id}`, {
      email: 'ann@example.org',
      display_name: ' Ann ',
    });
    assert.deepEqual(
      [changed.status, changed.body.email, changed.body.display_name],
      [200, 'ann@example.org', 'Ann'],
    );
    assert.equal((await ask('PATCH', `/users/${id}/role`, { role: 'viewer' })).body.role, 'viewer');
    assert.equal((await ask('DELETE', `/users/${id}`)).status, 204);
    assert.equal((await ask('GET', `/users/${id}`)).status, 404);
    assert.equal((await ask('DELETE', `/users/${id}`)).status, 404);

    const rows = audit.rows
      .filter(({ status }) => status === 'success')
      .map(({ action, resourceType, resourceId }) => [action, resourceType, resourceId]);
    assert.deepEqual(rows, [
      ['user:create', 'user', String(id)],
      ['user:update', 'user', String(id)],
      ['user:role', 'user', String(id)],
      ['user:delete', 'user', String(id)],
    ]);
    assert.deepEqual(
      [
        (audit.rows[2]!.before as { role: string }).role,
        (audit.rows[2]!.after as { role: string }).role,
      ],
      ['user', 'viewer'],
    );
  });

  test('have one e-mail each, whatever its case, until they are deleted', async (t) => {
    const { ask, user, directory } = await iamHouse(t);
    const ann = await user('ann');
    const bob = await user('bob');
    const again = await ask('POST', '/users', { email: 'ANN@example.org', password });
    assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
    assert.equal(
      (await ask('PATCH', `/users/${bob.id}`, { email: 'Ann@Example.org' })).status,
      409,
    );
    assert.equal(
      (await ask('PATCH', `/users/${ann.id}`, { email: 'ANN@example.org' })).status,
      200,
      'her own',
    );
    await ask('DELETE', `/users/${ann.id}`);
    const second = await user('ann');
    assert.notEqual(second.id, ann.id);
    assert.deepEqual(
      { ...(await directory().nameOf(ann.id)) },
      { email: 'ann@example.org', display_name: 'ann' },
      'what she did keeps her name',
    );
    assert.equal(await directory().nameOf(999), undefined);
  });

  test('are refused with the field that is wrong', async (t) => {
    const { ask, user } = await iamHouse(t);
    const { id } = await user('ann');
    for (const email of [
      'ann',
      'ann@',
      '@example.org',
      'a b@example.org',
      'a@b@c',
      'ann@example..org',
      'ann@exa\u200bmple.org',
      `${'a'.repeat(65)}@example.org`,
    ]) {
      refusedFor(await ask('POST', '/users', { email, password }), '/email');
    }
    for (const bad of ['short', 'x'.repeat(257), '🔥'.repeat(9)]) {
      refusedFor(
        await ask('POST', '/users', { email: 'new@example.org', password: bad }),
        '/password',
      );
    }
    refusedFor(
      await ask('POST', '/users', {
        email: 'long.enough@example.org',
        password: ' Long.Enough@Example.org',
      }),
      '/password',
    );
    refusedFor(
      await ask('POST', '/users', { email: 'new@example.org', password, role: 'boss' }),
      '/role',
    );
    refusedFor(await ask('PATCH', `/users/${id}/role`, { role: 'boss' }), '/role');
    refusedFor(await ask('PATCH', `/users/${id}`, { status: 'asleep' }), '/status');
    refusedFor(await ask('PATCH', `/users/${id}`, { display_name: 'a\u0000b' }), '/display_name');
    assert.equal((await ask('PATCH', `/users/${id}`, {})).status, 400);
    for (const bad of ['0', '-1', 'x', '1.5', '99999999999999999999']) {
      assert.equal((await ask('GET', `/users/${bad}`)).status, 400, bad);
    }
  });

  test('are listed newest first, filtered, page by page', async (t) => {
    const { ask, user, org } = await iamHouse(t);
    const [ann, bob, cyd] = [await user('ann', 'viewer'), await user('bob'), await user('cyd')];
    await ask('PATCH', `/users/${bob.id}`, { status: 'disabled', display_name: '100%_Bob' });
    const ops = await org('Ops', { [ann.id]: 'member' });
    assert.deepEqual(idsOf(await ask('GET', '/users')), [cyd.id, bob.id, ann.id]);
    assert.deepEqual(idsOf(await ask('GET', '/users?q=AnN')), [ann.id]);
    assert.deepEqual(
      idsOf(await ask('GET', `/users?q=${encodeURIComponent('%_')}`)),
      [bob.id],
      'wildcards are letters',
    );
    assert.deepEqual(idsOf(await ask('GET', '/users?role=user&status=active')), [cyd.id]);
    assert.deepEqual(idsOf(await ask('GET', '/users?status=disabled')), [bob.id]);
    assert.deepEqual(idsOf(await ask('GET', `/users?org_id=${ops.id}`)), [ann.id]);
    assert.equal((await ask('GET', '/users?colour=red')).status, 400);

    const first = await ask('GET', '/users?limit=2');
    assert.deepEqual([idsOf(first), first.body.total], [[cyd.id, bob.id], 3]);
    await user('dan');
    const second = await ask('GET', `/users?limit=2&cursor=${first.body.next_cursor}`);
    assert.deepEqual(
      [idsOf(second), second.body.next_cursor, second.body.total],
      [[ann.id], '', 4],
      'a newer row moves nothing',
    );
  });

  test('change only in the version that was seen', async (t) => {
    const { ask, user, org } = await iamHouse(t);
    const { id } = await user('ann');
    const seen = (await ask('GET', `/users/${id}`)).headers.get('etag')!;
    const first = await ask('PATCH', `/users/${id}`, { display_name: 'One' }, { 'if-match': seen });
    assert.equal(first.status, 200);
    const late = await ask('PATCH', `/users/${id}`, { display_name: 'Two' }, { 'if-match': seen });
    assert.deepEqual([late.status, late.body.error], [409, 'conflict']);
    assert.equal(
      (await ask('PATCH', `/users/${id}/role`, { role: 'viewer' }, { 'if-match': seen })).status,
      409,
    );
    assert.equal(
      (await ask('DELETE', `/users/${id}`, undefined, { 'if-match': seen })).status,
      409,
    );
    assert.equal(
      (
        await ask(
          'PATCH',
          `/users/${id}`,
          { display_name: 'Two' },
          { 'if-match': first.headers.get('etag')! },
        )
      ).status,
      200,
    );

    const ops = await org('Ops');
    const orgSeen = (await ask('GET', `/orgs/${ops.id}`)).headers.get('etag')!;
    assert.equal(
      (await ask('PATCH', `/orgs/${ops.id}`, { name: 'A' }, { 'if-match': orgSeen })).status,
      200,
    );
    assert.equal(
      (await ask('PATCH', `/orgs/${ops.id}`, { name: 'B' }, { 'if-match': orgSeen })).status,
      409,
    );
  });

  test('get another version with each change, even when the clock stands still', async (t) => {
    const { ask, user } = await iamHouse(t, {
      clock: { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() },
    });
    const { id } = await user('ann');
    const tags = new Set<string>();
    for (let i = 0; i < 5; i++) {
      tags.add((await ask('PATCH', `/users/${id}`, { display_name: `Ann ${i}` })).body.updated_at);
    }
    assert.equal(tags.size, 5);
  });

  test('never show a hash, nor leave one in the trail or the log', async (t) => {
    const { ask, user, audit, rows, house } = await iamHouse(t);
    const { id } = await user('ann');
    await ask('PATCH', `/users/${id}/password`, { password: 'another passphrase' });
    const [{ password_hash: hash }] = rows('iam_users');
    assert.match(hash, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    const answers = await Promise.all(
      ['/users', `/users/${id}`, `/policy/explain?action=admin&user_id=${id}`].map((path) =>
        ask('GET', path),
      ),
    );
    const everything = JSON.stringify([answers.map(({ body }) => body), audit.rows, house.lines]);
    for (const secret of ['$scrypt$', 'password_hash', password, 'another passphrase']) {
      assert.ok(!everything.includes(secret), secret);
    }
    await ask('DELETE', `/users/${id}`);
    assert.equal(rows('iam_users')[0].password_hash, '', 'a deleted account has none any more');
  });
});
