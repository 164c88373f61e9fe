import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { iamHouse, type Json } from './house.ts';

describe('GET /me', () => {
  test('shows the caller with memberships and effective grants, and so does /self', async (t) => {
    const { as, user, org } = await iamHouse(t);
    const ann = await user('ann', 'viewer');
    const ops = await org('Ops', { [ann.id]: 'org_admin' });
    const { body } = await as(ann)('GET', '/me');
    assert.deepEqual(
      [body.kind, body.id, body.email, body.display_name, body.role, body.status, body.grants],
      ['user', ann.id, ann.email, 'ann', 'viewer', 'active', ['member:manage']],
    );
    assert.deepEqual(body.memberships, [
      { org_id: 1, name: 'default', role: 'member' },
      { org_id: ops.id, name: 'Ops', role: 'org_admin' },
    ]);
    assert.deepEqual((await as(ann)('GET', '/self')).body, body);
  });

  test('answers the operator and API tokens, too', async (t) => {
    const { ask, asToken, user } = await iamHouse(t);
    const operator = (await ask('GET', '/me')).body;
    assert.deepEqual(
      [operator.kind, operator.id, operator.role, operator.grants, operator.memberships],
      ['operator', 'operator', 'admin', ['*'], []],
    );
    const ann = await user('ann');
    const token = (await asToken(ann, 'edge:create')('GET', '/me')).body;
    assert.deepEqual(
      [token.kind, token.id, token.email, token.grants],
      ['token', ann.id, ann.email, ['edge:create']],
      'what the token holds, not its owner',
    );
  });

  test('has another tag whenever it says something else', async (t) => {
    const { ask, as, user, org } = await iamHouse(t, {
      clock: { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() },
    });
    await ask('POST', '/roles', { name: 'custom', grants: [] });
    const ann = await user('ann', 'custom');
    const ops = await org('Ops');
    const changes: readonly [string, string, Json?][] = [
      ['PATCH', `/users/${ann.id}`, { display_name: 'Anna' }],
      ['POST', `/orgs/${ops.id}/members`, { user_id: ann.id }],
      ['PATCH', `/orgs/${ops.id}/members/${ann.id}`, { role: 'viewer' }],
      ['PATCH', `/orgs/${ops.id}`, { name: 'Operations' }],
      ['PATCH', '/roles/custom', { grants: ['role:manage'] }],
      ['DELETE', `/orgs/${ops.id}`],
    ];
    for (const [method, path, body] of changes) {
      const before = await as(ann)('GET', '/me');
      assert.equal((await ask(method, path, body)).status < 300, true, path);
      const after = await as(ann)('GET', '/me', undefined, {
        'if-none-match': before.headers.get('etag')!,
      });
      assert.equal(after.status, 200, `${method} ${path}`);
      assert.notDeepEqual(after.body, before.body);
    }
  });
});
