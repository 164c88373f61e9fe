import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type Answer, iamHouse, type IamHouse, idsOf, type Json, statusesOf } from './house.ts';

const namesOf = ({ body }: Answer): readonly string[] => body.items.map(({ name }: Json) => name);

describe('organizations', () => {
  test('are created, shown, changed and deleted by an administrator', async (t) => {
    const { ask } = await iamHouse(t);
    const created = await ask('POST', '/orgs', {
      name: ' Ops ',
      description: 'On call',
      parent_id: 1,
    });
    assert.equal(created.status, 201);
    assert.deepEqual(Object.keys(created.body).sort(), [
      'created_at',
      'description',
      'device_selector',
      'id',
      'name',
      'parent_id',
      'updated_at',
    ]);
    assert.deepEqual(
      [created.body.name, created.body.description, created.body.parent_id],
      ['Ops', 'On call', 1],
    );
    const path = `/orgs/${created.body.id}`;
    const changed = await ask('PATCH', path, { parent_id: null, description: '' });
    assert.deepEqual(
      [changed.status, changed.body.parent_id, changed.body.name],
      [200, null, 'Ops'],
    );
    assert.deepEqual((await ask('GET', path)).body, changed.body);
    assert.deepEqual(namesOf(await ask('GET', '/orgs')), ['Ops', 'default']);
    assert.deepEqual(namesOf(await ask('GET', '/orgs?q=oP')), ['Ops']);
    assert.equal((await ask('DELETE', path)).status, 204);
    assert.equal((await ask('GET', path)).status, 404);
  });

  test('have names of their own, whatever the case', async (t) => {
    const { ask, org } = await iamHouse(t);
    const ops = await org('Ärzte');
    for (const name of ['äRZTE', 'Ärzte', ' A\u0308rzte ', 'Default']) {
      assert.equal((await ask('POST', '/orgs', { name })).status, 409, name);
    }
    const other = await org('Other');
    assert.equal((await ask('PATCH', `/orgs/${other.id}`, { name: 'ÄRZTE' })).status, 409);
    assert.equal(
      (await ask('PATCH', `/orgs/${ops.id}`, { name: 'ÄRZTE' })).body.name,
      'ÄRZTE',
      'its own',
    );
    assert.equal((await ask('POST', '/orgs', { name: '   ' })).status, 400);
  });

  test('never stand below themselves, not even when two are moved at once', async (t) => {
    const { ask, org } = await iamHouse(t);
    const [a, b, c] = [await org('A'), await org('B'), await org('C')];
    const move = (one: Json, parent: number) =>
      ask('PATCH', `/orgs/${one.id}`, { parent_id: parent });
    assert.equal((await move(b, a.id)).status, 200);
    assert.equal((await move(c, b.id)).status, 200);
    for (const parent of [a, b, c]) {
      const { status, body } = await move(a, parent.id);
      assert.deepEqual([status, body.error, body.details[0].path], [409, 'conflict', '/parent_id']);
    }
    assert.equal((await move(a, 999)).status, 404);
    assert.equal((await ask('POST', '/orgs', { name: 'D', parent_id: 999 })).status, 404);
    const [x, y] = [await org('X'), await org('Y')];
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([move(x, y.id), move(y, x.id)]);
      assert.deepEqual(statusesOf(answers), [200, 409]);
      await Promise.all([
        ask('PATCH', `/orgs/${x.id}`, { parent_id: null }),
        ask('PATCH', `/orgs/${y.id}`, { parent_id: null }),
      ]);
    }
  });

  test('are not deleted while others stand below, and the default one never', async (t) => {
    const { ask, org, user, directory } = await iamHouse(t);
    const ann = await user('ann');
    const [a, b] = [await org('A', { [ann.id]: 'org_admin' }), await org('B')];
    await ask('PATCH', `/orgs/${b.id}`, { parent_id: a.id });
    assert.equal((await ask('DELETE', `/orgs/${a.id}`)).status, 409);
    assert.equal((await ask('DELETE', '/orgs/1')).status, 409);
    await ask('DELETE', `/orgs/${b.id}`);
    assert.deepEqual(directory().live(ann.id)?.orgs, [1, a.id]);
    assert.equal((await ask('DELETE', `/orgs/${a.id}`)).status, 204);
    const { orgs, grants } = directory().live(ann.id)!;
    assert.deepEqual(
      [orgs, grants.includes('member:manage')],
      [[1], false],
      'members lose this membership and stay users',
    );
    const next = await org('C');
    assert.ok(next.id > b.id, 'an id is not used twice');
  });
});

describe('members', () => {
  test('of the default organization are all new users', async (t) => {
    const { ask, user } = await iamHouse(t);
    const ann = await user('ann');
    const { items, total } = (await ask('GET', '/orgs/1/members')).body;
    assert.deepEqual(
      [items, total],
      [[{ user_id: ann.id, email: 'ann@example.org', display_name: 'ann', role: 'member' }], 1],
    );
  });

  test('are added, changed and removed', async (t) => {
    const { ask, user, org, audit } = await iamHouse(t);
    const [ann, ops] = [await user('ann'), await org('Ops')];
    const path = `/orgs/${ops.id}/members`;
    const added = await ask('POST', path, { user_id: ann.id });
    assert.deepEqual(
      [added.status, added.body],
      [201, { user_id: ann.id, email: ann.email, display_name: 'ann', role: 'member' }],
    );
    assert.deepEqual(
      [audit.rows.at(-1)!.action, audit.rows.at(-1)!.resourceId],
      ['member:create', `${ops.id}/${ann.id}`],
    );
    assert.equal(
      (await ask('POST', path, { user_id: ann.id, role: 'viewer' })).status,
      409,
      'twice',
    );
    assert.equal((await ask('POST', path, { user_id: 999 })).status, 404);
    assert.equal((await ask('POST', path, { user_id: ann.id, role: 'king' })).status, 400);
    assert.equal(
      (await ask('PATCH', `${path}/${ann.id}`, { role: 'org_admin' })).body.role,
      'org_admin',
    );
    assert.deepEqual(
      [audit.rows.at(-1)!.before, audit.rows.at(-1)!.after].map(
        (row) => (row as { role: string }).role,
      ),
      ['member', 'org_admin'],
    );
    assert.equal((await ask('PATCH', `${path}/999`, { role: 'member' })).status, 404);
    assert.equal((await ask('DELETE', `${path}/${ann.id}`)).status, 204);
    assert.equal((await ask('DELETE', `${path}/${ann.id}`)).status, 404);
    assert.equal((await ask('GET', path)).body.total, 0);
    assert.equal((await ask('POST', '/orgs/999/members', { user_id: ann.id })).status, 404);
  });

  test('leave all organizations when they are deleted', async (t) => {
    const { ask, user, org } = await iamHouse(t);
    const ann = await user('ann');
    const ops = await org('Ops', { [ann.id]: 'member' });
    await ask('DELETE', `/users/${ann.id}`);
    assert.equal((await ask('GET', `/orgs/${ops.id}/members`)).body.total, 0);
  });

  test('are listed page by page', async (t) => {
    const { ask, user } = await iamHouse(t);
    const people = [await user('ann'), await user('bob'), await user('cyd')];
    const first = (await ask('GET', '/orgs/1/members?limit=2')).body;
    const second = (await ask('GET', `/orgs/1/members?limit=2&cursor=${first.next_cursor}`)).body;
    const listed = [...first.items, ...second.items].map(({ user_id }: Json) => user_id);
    assert.deepEqual([listed, second.next_cursor], [people.map(({ id }) => id).reverse(), '']);
  });
});

/** An organization with an org_admin and a plain member, who are nowhere else. */
async function twin(
  iam: IamHouse,
  name: string,
): Promise<{ readonly org: Json; readonly head: Json; readonly mate: Json }> {
  const [head, mate] = [await iam.user(`${name}-head`), await iam.user(`${name}-mate`, 'viewer')];
  const org = await iam.org(name, { [head.id]: 'org_admin', [mate.id]: 'member' });
  for (const { id } of [head, mate]) {
    assert.equal((await iam.ask('DELETE', `/orgs/1/members/${id}`)).status, 204);
  }
  return { org, head, mate };
}

describe('people of one organization', () => {
  test('find nothing of another one by any id, filter or parent', async (t) => {
    const iam = await iamHouse(t);
    const [red, blue] = [await twin(iam, 'red'), await twin(iam, 'blue')];
    await iam.ask('PATCH', `/orgs/${red.org.id}`, { parent_id: blue.org.id });
    for (const person of [red.head, red.mate]) {
      const ask = iam.as(person);
      const isHead = person === red.head;
      const managed = isHead ? 404 : 403;
      const expected: readonly [string, string, unknown, number][] = [
        ['GET', `/users/${blue.mate.id}`, undefined, 404],
        ['PATCH', `/users/${blue.mate.id}/password`, { password: 'taken over now' }, 403],
        ['GET', `/orgs/${blue.org.id}`, undefined, 404],
        ['GET', `/orgs/${blue.org.id}/members`, undefined, 404],
        ['POST', `/orgs/${blue.org.id}/members`, { user_id: red.mate.id }, managed],
        ['POST', `/orgs/${blue.org.id}/members`, { user_id: blue.mate.id }, managed],
        ['PATCH', `/orgs/${blue.org.id}/members/${blue.mate.id}`, { role: 'viewer' }, managed],
        ['DELETE', `/orgs/${blue.org.id}/members/${blue.mate.id}`, undefined, managed],
        ['POST', `/orgs/${red.org.id}/members`, { user_id: blue.mate.id }, managed],
        ['PATCH', `/orgs/${red.org.id}/members/${blue.mate.id}`, { role: 'viewer' }, managed],
        ['DELETE', `/orgs/${red.org.id}/members/${blue.mate.id}`, undefined, managed],
      ];
      for (const [method, path, body, status] of expected) {
        assert.equal(
          (await ask(method, path, body)).status,
          status,
          `${method} ${path} as ${person.email}`,
        );
      }
      assert.deepEqual(idsOf(await ask('GET', '/users')), [red.mate.id, red.head.id]);
      assert.deepEqual(idsOf(await ask('GET', '/users?q=blue')), []);
      assert.equal((await ask('GET', `/users?org_id=${blue.org.id}`)).body.total, 0);
      assert.deepEqual(idsOf(await ask('GET', '/orgs')), [red.org.id]);
      assert.equal(
        (await ask('GET', `/orgs/${red.org.id}`)).body.parent_id,
        null,
        'a parent one may not see',
      );
    }
    assert.equal((await iam.ask('GET', `/orgs/${red.org.id}`)).body.parent_id, blue.org.id);
    assert.equal(
      (await iam.ask('GET', `/orgs/${blue.org.id}/members`)).body.total,
      2,
      'nothing happened',
    );
  });

  test('see whom they share an organization with, from the next request on', async (t) => {
    const iam = await iamHouse(t);
    const [red, blue] = [await twin(iam, 'red'), await twin(iam, 'blue')];
    await iam.ask('POST', `/orgs/${blue.org.id}/members`, { user_id: red.mate.id });
    assert.equal((await iam.as(red.mate)('GET', `/users/${blue.head.id}`)).status, 200);
    assert.equal((await iam.as(red.head)('GET', `/users/${blue.head.id}`)).status, 404);
    await iam.ask('DELETE', `/orgs/${blue.org.id}/members/${red.mate.id}`);
    assert.equal((await iam.as(red.mate)('GET', `/users/${blue.head.id}`)).status, 404);
    await iam.ask('DELETE', `/orgs/${red.org.id}/members/${red.mate.id}`);
    assert.deepEqual(
      idsOf(await iam.as(red.mate)('GET', '/users')),
      [red.mate.id],
      'who is nowhere sees themself',
    );
  });

  test('manage its members as org_admin, there and nowhere else', async (t) => {
    const iam = await iamHouse(t);
    const red = await twin(iam, 'red');
    const guest = await iam.user('guest');
    const ask = iam.as(red.head);
    const path = `/orgs/${red.org.id}/members`;
    assert.equal(
      (await ask('POST', path, { user_id: guest.id })).status,
      404,
      'somebody they cannot see',
    );
    await iam.ask('POST', '/orgs/1/members', { user_id: red.head.id });
    assert.equal((await ask('POST', path, { user_id: guest.id })).status, 201);
    assert.equal((await ask('PATCH', `${path}/${guest.id}`, { role: 'org_admin' })).status, 200);
    assert.equal((await ask('DELETE', `${path}/${red.mate.id}`)).status, 204);

    const refused = await ask('DELETE', `/orgs/1/members/${guest.id}`);
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden']);
    assert.match(refused.body.message, /org_admin in default/);

    await iam.ask('PATCH', `${path}/${red.head.id}`, { role: 'member' });
    assert.equal(
      (await ask('DELETE', `${path}/${guest.id}`)).status,
      403,
      'from the next request on they do not',
    );
  });

  test('manage them by a custom role in every organization they belong to', async (t) => {
    const iam = await iamHouse(t);
    await iam.ask('POST', '/roles', { name: 'host', grants: ['member:manage'] });
    const host = await iam.user('host', 'host');
    const [red, blue] = [await twin(iam, 'red'), await twin(iam, 'blue')];
    await iam.ask('POST', `/orgs/${red.org.id}/members`, { user_id: host.id });
    assert.equal(
      (await iam.as(host)('DELETE', `/orgs/${red.org.id}/members/${red.mate.id}`)).status,
      204,
    );
    assert.equal(
      (await iam.as(host)('DELETE', `/orgs/${blue.org.id}/members/${blue.mate.id}`)).status,
      404,
    );
    assert.equal(
      (await iam.asToken(red.head)('DELETE', `/orgs/${red.org.id}/members/${host.id}`)).status,
      403,
      'a token without it',
    );
    assert.equal(
      (
        await iam.asToken(red.head, 'member:manage')(
          'DELETE',
          `/orgs/${red.org.id}/members/${host.id}`,
        )
      ).status,
      204,
    );
  });
});
