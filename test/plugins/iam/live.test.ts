import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { SvcError } from 'svc/sdk';

import { iamHouse, type Json } from './house.ts';

const witnessFolder = fileURLToPath(new URL('./witness', import.meta.url));

describe('memory of people', () => {
  test('loses the disabled and the deleted with the answer to the change, and finds the enabled again', async (t) => {
    const { ask, as, user, directory } = await iamHouse(t);
    const [ann, bob] = [await user('ann'), await user('bob')];
    const before = directory().live(ann.id)!;
    await ask('PATCH', `/users/${ann.id}`, { status: 'disabled' });
    assert.equal(directory().live(ann.id), undefined);
    assert.equal((await as(ann)('GET', '/me')).status, 401);
    await ask('PATCH', `/users/${ann.id}`, { status: 'active' });
    assert.equal(directory().live(ann.id)?.version, before.version + 2, 'no session survives that');
    await ask('DELETE', `/users/${bob.id}`);
    assert.equal(directory().live(bob.id), undefined);
    assert.equal((await as(bob)('GET', '/me')).status, 401);
    assert.equal(directory().live(999), undefined);
  });

  test('follows role, name and organizations, and counts a version for what ends sessions only', async (t) => {
    const { ask, user, org, directory } = await iamHouse(t);
    const { id } = await user('ann', 'viewer');
    assert.deepEqual(
      { ...directory().live(id) },
      {
        id,
        email: 'ann@example.org',
        display_name: 'ann',
        role: 'viewer',
        status: 'active',
        version: 1,
        grants: [],
        orgs: [1],
        selectors: undefined,
      },
    );
    await ask('PATCH', `/users/${id}/role`, { role: 'user' });
    assert.ok(directory().live(id)!.grants.includes('edge:*'));
    assert.equal(directory().live(id)!.version, 2);
    await ask('PATCH', `/users/${id}/role`, { role: 'user' });
    await ask('PATCH', `/users/${id}`, { email: 'anna@example.org', status: 'active' });
    const ops = await org('Ops', { [id]: 'org_admin' });
    const now = directory().live(id)!;
    assert.deepEqual(
      [now.email, now.orgs, now.grants.includes('member:manage'), now.version],
      ['anna@example.org', [1, ops.id], true, 2],
    );
    await ask('PATCH', `/users/${id}/role`, { role: 'admin' });
    assert.deepEqual(
      [directory().live(id)!.orgs, directory().live(id)!.grants],
      [undefined, ['*', ...[]]],
    );
  });

  test('gives everybody of a role the same grants, so that they are compiled once', async (t) => {
    const { user, directory } = await iamHouse(t);
    const [ann, bob] = [await user('ann'), await user('bob')];
    assert.equal(directory().live(ann.id)!.grants, directory().live(bob.id)!.grants);
    assert.equal(directory().live(ann.id), directory().live(ann.id));
  });

  test('keeps what was when the change is not kept, because it cannot be written down', async (t) => {
    const { ask, user, directory, audit, rows } = await iamHouse(t);
    const { id } = await user('ann');
    const before = directory().live(id);
    audit.before = () => Promise.reject(new SvcError('unavailable', 'the trail is full'));
    assert.equal((await ask('PATCH', `/users/${id}`, { status: 'disabled' })).status, 503);
    assert.equal((await ask('PATCH', `/users/${id}/role`, { role: 'admin' })).status, 503);
    assert.equal((await ask('DELETE', `/users/${id}`)).status, 503);
    assert.equal(
      (await ask('POST', '/users', { email: 'new@example.org', password: 'a long passphrase' }))
        .status,
      503,
    );
    assert.deepEqual(directory().live(id), before);
    assert.equal(rows('iam_users').length, 1);
  });

  test('is the same after a restart', async (t) => {
    const { ask, user, org, directory, house } = await iamHouse(t);
    const [ann, bob] = [await user('ann'), await user('bob')];
    await org('Ops', { [ann.id]: 'org_admin' });
    await ask('PATCH', `/users/${bob.id}`, { status: 'disabled' });
    const before = directory().live(ann.id);
    await house.reload('iam');
    assert.deepEqual(directory().live(ann.id), before);
    assert.equal(directory().live(bob.id), undefined);
  });

  test('of a new generation learns what the one before still commits', async (t) => {
    const { ask, user, directory, audit, house } = await iamHouse(t);
    const { id } = await user('ann');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let reached = (): void => undefined;
    const atCommit = new Promise<void>((resolve) => (reached = resolve));
    audit.before = () => {
      reached();
      return held;
    };
    const disabling = ask('PATCH', `/users/${id}`, { status: 'disabled' });
    await atCommit;
    await house.reload('iam');
    assert.ok(directory().live(id), 'not committed yet');
    release();
    assert.equal((await disabling).status, 200);
    for (const deadline = Date.now() + 5_000; directory().live(id);) {
      assert.ok(
        Date.now() < deadline,
        'the new generation lets somebody in whom the old one has disabled',
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('tells whoever listens of each change that was committed, and of no other', async (t) => {
    const { ask, user, org, house, audit } = await iamHouse(t, { plugins: ['iam', witnessFolder] });
    const heard = async (): Promise<Json[]> => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return await house.json('/api/v1/witness');
    };
    const { id } = await user('ann');
    assert.deepEqual(await heard(), [{ id }]);
    await ask('PATCH', `/users/${id}/role`, { role: 'viewer' });
    await org('Ops', { [id]: 'member' });
    assert.equal((await heard()).length, 3);
    await ask('PATCH', `/users/${id}/role`, { role: 'boss' });
    audit.before = () => Promise.reject(new SvcError('unavailable', 'the trail is full'));
    await ask('DELETE', `/users/${id}`);
    assert.equal((await heard()).length, 3);
    audit.before = async () => undefined;
    await ask('DELETE', `/users/${id}`);
    assert.equal((await heard()).length, 4);
    await ask('POST', '/roles', { name: 'new', grants: [] });
    assert.deepEqual((await heard()).at(-1), { name: 'new' });
  });
});

describe('other rooms', () => {
  test('create people with rows of their own in the same write, or not at all', async (t) => {
    const { directory, rows, ask } = await iamHouse(t);
    const wish = {
      email: 'Ann@example.org',
      display_name: '',
      role: 'viewer',
      password: 'a long passphrase',
    };
    await assert.rejects(
      directory().create(wish, undefined, ({ email }) => {
        assert.equal(email, 'ann@example.org');
        throw new SvcError('conflict', 'the set-up token is spent');
      }),
      /set-up token is spent/,
    );
    assert.equal(rows('iam_users').length, 0);
    const person = await directory().create(wish, undefined);
    assert.deepEqual(
      [person.email, person.display_name, person.role, person.orgs],
      ['ann@example.org', 'ann', 'viewer', [1]],
    );
    await assert.rejects(directory().create(wish, undefined), /already/);
    await assert.rejects(
      directory().create({ ...wish, email: 'bob@example.org', password: 'short' }, undefined),
      /at least 10 characters/,
    );
    await assert.rejects(
      directory().create({ ...wish, email: 'bob@example.org', role: 'boss' }, undefined),
      /no role "boss"/,
    );

    assert.equal(await directory().hasAdmin(), false);
    await directory().create({ ...wish, email: 'ada@example.org', role: 'admin' }, person.id);
    assert.equal(await directory().hasAdmin(), true);
    assert.deepEqual(
      [
        (await ask('GET', `/users/${person.id}`)).body.last_login_at,
        await directory().noteLogin(person.id),
      ],
      [null, undefined],
    );
    assert.match((await ask('GET', `/users/${person.id}`)).body.last_login_at, /^20\d\d-/);
  });
});
