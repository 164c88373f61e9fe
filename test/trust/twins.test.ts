import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type Household, household, type SignedIn } from './household.ts';

interface Twin {
  readonly person: SignedIn;
  readonly orgId: number;
  readonly ids: Readonly<Record<string, string | number>>;
}

/** An organization with one member, who has a session and an API token, and is nowhere else. */
async function twin(people: Household, name: string): Promise<Twin> {
  const { house, ask } = people;
  const person = await people.person(name, 'user');
  const { body: org } = await ask('POST', '/api/v1/orgs', house.token, { name: `Org of ${name}` });
  assert.equal((await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, { user_id: person.id, role: 'org_admin' })).status, 201);
  const { body: orgs } = await ask('GET', '/api/v1/orgs', house.token);
  const home = orgs.items.find(({ name: other }: { name: string }) => other === 'default');
  assert.equal((await ask('DELETE', `/api/v1/orgs/${home.id}/members/${person.id}`, house.token)).status, 204);
  const fresh = await people.signIn(person.email);
  const { body: token } = await ask('POST', '/api/v1/tokens', fresh.access, {
    name: 'script',
    actions: [],
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const { body: sessions } = await ask('GET', '/api/v1/sessions', fresh.access);
  return { person: fresh, orgId: org.id, ids: { users: person.id, orgs: org.id, tokens: token.id, sessions: sessions.items[0].id } };
}

describe('two organizations that know nothing of each other', () => {
  test('find nothing of the other under any route that takes an id', async (t) => {
    const people = await household(t);
    const [a, b] = [await twin(people, 'anna'), await twin(people, 'bert')];
    const { ask, house } = people;
    let asked = 0;
    for (const { value: route } of house.registry.current.routes.values()) {
      const collection = /^\/api\/v1\/([a-z-]+)\/\{/.exec(route.path)?.[1];
      if (collection === undefined || !(collection in b.ids)) {
        continue;
      }
      const path = route.path.replace(/\{[^}]+\}/, String(b.ids[collection])).replaceAll(/\{[^}]+\}/g, String(b.person.id));
      const body = bodyFor(route.path);
      const { status, text } = await ask(route.method, path, a.person.access, route.body ? body : undefined);
      asked += 1;
      // Routes for administrators refuse before anybody looks for the row: that tells nothing about it either.
      const expected = route.access === 'admin' || (typeof route.access === 'object' && route.access.action === 'admin') ? 403 : 404;
      assert.equal(status, expected, `${route.method} ${path}: ${text}`);
    }
    assert.ok(asked >= 8, `${asked} routes take an id`);
    t.diagnostic(`${asked} routes asked with the ids of the other organization`);
  });

  test('do not see each other in lists, nor go on with a cursor of the other', async (t) => {
    const people = await household(t);
    const [a, b] = [await twin(people, 'anna'), await twin(people, 'bert')];
    const { ask, house } = people;
    const mine = (await ask('GET', '/api/v1/users', a.person.access)).body;
    assert.deepEqual(
      mine.items.map(({ email }: { email: string }) => email),
      ['anna@example.org'],
    );
    assert.equal(mine.total, 1);
    assert.equal((await ask('GET', `/api/v1/users?q=bert`, a.person.access)).body.total, 0);
    assert.equal((await ask('GET', '/api/v1/orgs', a.person.access)).body.items.length, 1);
    const cursor = (await ask('GET', '/api/v1/users?limit=1', house.token)).body.next_cursor;
    assert.notEqual(cursor, '');
    assert.equal((await ask('GET', `/api/v1/users?limit=1&cursor=${cursor}`, b.person.access)).status, 400);
  });
});

function bodyFor(path: string): unknown {
  if (path.endsWith('/members')) {
    return { user_id: 1, role: 'member' };
  }
  return path.includes('/members/') ? { role: 'viewer' } : { name: 'Mine now', description: 'taken over' };
}
