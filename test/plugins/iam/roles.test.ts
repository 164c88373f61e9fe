import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Board } from 'svc/sdk';

import { lampFolder } from '../session/house.ts';
import { iamHouse, type Json, statusesOf } from './house.ts';

const withLamp = { plugins: ['iam', lampFolder] };
const own = { admin: ['*'], user: ['lamp:switch'], viewer: [] };

describe('custom roles', () => {
  test('are made from declared actions, given to people, changed, and gone', async (t) => {
    const { ask, as, user, audit } = await iamHouse(t, withLamp);
    const created = await ask('POST', '/roles', {
      name: 'electrician',
      description: 'Lamps',
      grants: ['lamp:switch'],
    });
    assert.equal(created.status, 201);
    assert.deepEqual(Object.keys(created.body).sort(), [
      'builtin',
      'created_at',
      'description',
      'grants',
      'name',
      'updated_at',
    ]);
    const ann = await user('ann', 'electrician');
    assert.deepEqual((await as(ann)('GET', '/me')).body.grants, ['lamp:switch']);
    assert.equal((await as(ann)('GET', '/lamp/switch')).status, 200);
    assert.equal((await as(ann)('GET', '/lamp/break')).status, 403);

    const changed = await ask(
      'PATCH',
      '/roles/electrician',
      { grants: ['lamp:*'] },
      { 'if-match': `"${created.body.updated_at}"` },
    );
    assert.equal(changed.status, 200);
    assert.equal(
      (await as(ann)('GET', '/lamp/break')).status,
      200,
      'it counts from the next request on',
    );
    assert.equal(
      (
        await ask(
          'PATCH',
          '/roles/electrician',
          { grants: [] },
          { 'if-match': `"${created.body.updated_at}"` },
        )
      ).status,
      409,
    );
    assert.deepEqual((await ask('GET', '/roles/electrician')).body, changed.body);

    const inUse = await ask('DELETE', '/roles/electrician');
    assert.deepEqual([inUse.status, inUse.body.error], [409, 'conflict']);
    await ask('PATCH', `/users/${ann.id}/role`, { role: 'viewer' });
    assert.equal((await ask('DELETE', '/roles/electrician')).status, 204);
    assert.equal(
      (await ask('PATCH', `/users/${ann.id}/role`, { role: 'electrician' })).status,
      400,
    );
    assert.equal((await ask('GET', '/roles/electrician')).status, 404);
    const rows = audit.rows.filter(
      ({ resourceType, status }) => resourceType === 'role' && status === 'success',
    );
    assert.deepEqual(
      rows.map(({ action, resourceId }) => [action, resourceId]),
      [
        ['role:create', 'electrician'],
        ['role:update', 'electrician'],
        ['role:delete', 'electrician'],
      ],
    );
  });

  test('take nothing that the house does not declare, and never everything', async (t) => {
    const { ask, house } = await iamHouse(t, withLamp);
    for (const grant of [
      '*',
      'lamp:paint',
      'tower:*',
      'lamp',
      'admin',
      'any',
      ':*',
      '*:*',
      'LAMP:*',
      '__proto__',
    ]) {
      const { status, body } = await ask('POST', '/roles', {
        name: 'odd',
        grants: ['lamp:switch', grant],
      });
      assert.deepEqual(
        [status, body.error, body.details[0].path],
        [400, 'invalid_argument', '/grants/1'],
        grant,
      );
    }
    assert.equal(
      (await ask('POST', '/roles', { name: 'odd', grants: ['lamp:switch', 'lamp:switch'] })).status,
      400,
    );
    assert.deepEqual(
      (await ask('GET', '/policy/actions')).body.items
        .map(({ action }: { action: string }) => action)
        .sort(),
      ['host:metrics', 'lamp:break', 'lamp:switch', 'member:manage', 'role:manage'],
    );

    await ask('POST', '/roles', { name: 'electrician', grants: ['lamp:switch'] });
    await house.host.disable('lamp');
    assert.equal(
      (await ask('POST', '/roles', { name: 'late', grants: ['lamp:switch'] })).status,
      400,
      'its area is away',
    );
    const kept = await ask('PATCH', '/roles/electrician', {
      grants: ['lamp:switch', 'member:manage'],
    });
    assert.equal(kept.status, 200, 'what it holds already may stay');
  });

  test('have names of their own, and the built-in ones are left alone', async (t) => {
    const { ask } = await iamHouse(t, withLamp);
    for (const name of ['admin', 'user', 'viewer']) {
      assert.equal((await ask('POST', '/roles', { name, grants: [] })).status, 409);
      assert.equal((await ask('PATCH', `/roles/${name}`, { grants: [] })).status, 409);
      assert.equal((await ask('DELETE', `/roles/${name}`)).status, 409);
      assert.equal((await ask('GET', `/roles/${name}`)).body.builtin, true);
    }
    assert.equal((await ask('POST', '/roles', { name: 'twice', grants: [] })).status, 201);
    assert.equal((await ask('POST', '/roles', { name: 'twice', grants: [] })).status, 409);
    for (const name of ['', 'x', 'Upper', 'a b', '../x', 'x'.repeat(41)]) {
      assert.equal((await ask('POST', '/roles', { name, grants: [] })).status, 400, name);
    }
    assert.equal((await ask('PATCH', '/roles/nobody', { grants: [] })).status, 404);
    assert.equal((await ask('DELETE', '/roles/nobody')).status, 404);
  });

  test('are at most 50, also when the last two come at once', async (t) => {
    const { ask } = await iamHouse(t, withLamp);
    for (let index = 0; index < 49; index++) {
      assert.equal(
        (
          await ask('POST', '/roles', {
            name: `role-${String(index).padStart(2, '0')}`,
            grants: [],
          })
        ).status,
        201,
      );
    }
    const last = await Promise.all(
      ['one', 'two'].map((name) => ask('POST', '/roles', { name, grants: [] })),
    );
    assert.deepEqual(statusesOf(last), [201, 409]);
    const first = (await ask('GET', '/roles')).body;
    const rest = (await ask('GET', `/roles?cursor=${first.next_cursor}`)).body;
    const names = [...first.items, ...rest.items].map(({ name }: Json) => name);
    assert.deepEqual(
      [names.length, new Set(names).size, names.slice(0, 3)],
      [53, 53, ['admin', 'user', 'viewer']],
    );
  });

  test('grant no more than those who make them hold by their own role', async (t) => {
    const iam = await iamHouse(t, withLamp);
    await iam.ask('POST', '/roles', { name: 'keeper', grants: ['role:manage', 'lamp:switch'] });
    await iam.ask('POST', '/roles', { name: 'breaker', grants: ['lamp:break'] });
    const keeper = await iam.user('keeper', 'keeper');
    await iam.org('Ops', { [keeper.id]: 'org_admin' });
    const ask = iam.as(keeper);
    assert.equal(
      (await ask('POST', '/roles', { name: 'switcher', grants: ['lamp:switch'] })).status,
      201,
    );
    for (const grants of [['lamp:break'], ['lamp:*'], ['lamp:switch', 'member:manage']]) {
      const { status, body } = await ask('POST', '/roles', { name: 'more', grants });
      assert.deepEqual([status, body.error], [403, 'forbidden'], grants.join());
    }
    assert.equal(
      (await ask('PATCH', '/roles/keeper', { grants: ['role:manage', 'lamp:*'] })).status,
      403,
      'not to themself either',
    );
    assert.equal(
      (await ask('PATCH', '/roles/breaker', { grants: [] })).status,
      403,
      'nor take away what they do not hold',
    );
    assert.equal((await ask('DELETE', '/roles/breaker')).status, 403);
    assert.equal(
      (
        await iam.asToken(keeper, 'role:manage')('POST', '/roles', {
          name: 'more',
          grants: ['lamp:switch'],
        })
      ).status,
      403,
      'a token holds less',
    );
    assert.equal(
      (await iam.as(await iam.user('ann'))('POST', '/roles', { name: 'more', grants: [] })).status,
      403,
    );
  });

  test('given to somebody in the moment of their deletion are either there or were not', async (t) => {
    const { ask, user } = await iamHouse(t, withLamp);
    const ann = await user('ann');
    for (let round = 0; round < 10; round++) {
      await ask('POST', '/roles', { name: 'brief', grants: [] });
      const [given, removed] = await Promise.all([
        ask('PATCH', `/users/${ann.id}/role`, { role: 'brief' }),
        ask('DELETE', '/roles/brief'),
      ]);
      assert.ok(
        (given.status === 200 && removed.status === 409) ||
          (given.status === 400 && removed.status === 204),
        `${given.status} ${removed.status}`,
      );
      await ask('PATCH', `/users/${ann.id}/role`, { role: 'viewer' });
      await ask('DELETE', '/roles/brief');
    }
  });
});

describe('the setting policy.roles', () => {
  test('changes what the built-in roles grant, from the next request on', async (t) => {
    const { as, user, house, directory } = await iamHouse(t, withLamp);
    const ann = await user('ann');
    assert.equal((await as(ann)('GET', '/lamp/switch')).status, 403);
    const tag = (await as(ann)('GET', '/me')).headers.get('etag')!;
    house.service(Board).override('policy.roles', own);
    assert.equal((await as(ann)('GET', '/lamp/switch')).status, 200);
    assert.deepEqual(
      (await as(ann)('GET', '/me', undefined, { 'if-none-match': tag })).body.grants,
      ['lamp:switch'],
      'and the tag of /me tells of it',
    );
    assert.deepEqual(directory().grantsOf('user'), ['lamp:switch']);
    house.service(Board).override('policy.roles', undefined);
    assert.equal((await as(ann)('GET', '/lamp/switch')).status, 403);
    assert.deepEqual(directory().grantsOf('nobody'), []);
  });

  test('keeps everything for admins, and admins with everything', async (t) => {
    const { house } = await iamHouse(t);
    const board = house.service(Board);
    for (const roles of [
      { ...own, user: ['*'] },
      { ...own, admin: [] },
      { ...own, admin: ['*', 'lamp:*'] },
      { admin: ['*'], user: [] },
      { ...own, boss: [] },
      { ...own, viewer: ['lamp'] },
    ]) {
      assert.throws(
        () => board.override('policy.roles', roles),
        /policy\.roles/,
        JSON.stringify(roles),
      );
    }
  });
});
