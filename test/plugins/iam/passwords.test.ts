import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { iamHouse, password, statusesOf } from './house.ts';

describe('a password', () => {
  test('is changed by its owner with the current one, and by an administrator without', async (t) => {
    const { ask, as, user, passwords, directory } = await iamHouse(t);
    const ann = await user('ann');
    const before = directory().live(ann.id)!.version;
    const path = `/users/${ann.id}/password`;

    const without = await as(ann)('PATCH', path, { password: 'second passphrase' });
    assert.deepEqual([without.status, without.body.details[0].path], [400, '/current_password']);
    const wrong = await as(ann)('PATCH', path, { password: 'second passphrase', current_password: 'not my passphrase' });
    assert.deepEqual([wrong.status, wrong.body.error], [403, 'forbidden']);
    assert.equal(directory().live(ann.id)!.version, before, 'nothing happened so far');

    assert.equal((await as(ann)('PATCH', path, { password: 'second passphrase', current_password: password })).status, 200);
    assert.equal(await passwords().verify(ann.email, password), undefined);
    assert.equal((await passwords().verify(' ANN@example.org ', 'second passphrase'))?.id, ann.id);
    assert.equal(directory().live(ann.id)!.version, before + 1, 'which ends her sessions');

    assert.equal((await ask('PATCH', path, { password: 'third passphrase' })).status, 200);
    assert.equal((await passwords().verify(ann.email, 'third passphrase'))?.id, ann.id);
    assert.equal((await ask('PATCH', '/users/999/password', { password: 'third passphrase' })).status, 404);
  });

  test('of somebody else is for administrators, whose own takes the current one too', async (t) => {
    const { as, asToken, user } = await iamHouse(t);
    const [ann, bob, ada] = [await user('ann'), await user('bob'), await user('ada', 'admin')];
    const change = { password: 'second passphrase', current_password: password };
    assert.equal((await as(bob)('PATCH', `/users/${ann.id}/password`, change)).status, 403);
    assert.equal((await asToken(ann, 'edge:*')('PATCH', `/users/${ann.id}/password`, change)).status, 403, 'a token is not its owner');
    assert.equal((await as(ada)('PATCH', `/users/${ada.id}/password`, { password: 'second passphrase' })).status, 400);
    assert.equal((await as(ada)('PATCH', `/users/${ann.id}/password`, { password: 'second passphrase' })).status, 200);
  });

  test('that two change at once is set by one of them', async (t) => {
    const { as, ask, user, passwords } = await iamHouse(t);
    const ann = await user('ann');
    const answers = await Promise.all([
      as(ann)('PATCH', `/users/${ann.id}/password`, { password: 'by herself 1', current_password: password }),
      ask('PATCH', `/users/${ann.id}/password`, { password: 'by the admin' }),
    ]);
    assert.deepEqual(statusesOf(answers), [200, 409]);
    const winner = answers[0].status === 200 ? 'by herself 1' : 'by the admin';
    assert.equal((await passwords().verify(ann.email, winner))?.id, ann.id);
  });

  test('opens nothing for the unknown, the disabled and the deleted', async (t) => {
    const { ask, user, passwords } = await iamHouse(t);
    const [ann, bob] = [await user('ann'), await user('bob')];
    await ask('PATCH', `/users/${ann.id}`, { status: 'disabled' });
    await ask('DELETE', `/users/${bob.id}`);
    for (const email of [ann.email, bob.email, 'nobody@example.org', '']) {
      assert.equal(await passwords().verify(email, password), undefined, email);
    }
    assert.equal(await passwords().verify(bob.email, ''), undefined, 'a deleted account has no password, not an empty one');
    await ask('PATCH', `/users/${ann.id}`, { status: 'active' });
    assert.equal((await passwords().verify(ann.email, password))?.id, ann.id);
  });
});
