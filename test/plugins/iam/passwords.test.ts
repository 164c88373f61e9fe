import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { isSvcError } from 'svc/sdk';

import { createHasher } from '../../../plugins/iam/hasher.ts';
import { iamHouse, password } from './house.ts';

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
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const winner = answers[0]!.status === 200 ? 'by herself 1' : 'by the admin';
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

  test('check takes its place in the queue whoever is asked for, and the 23rd is told when to come back', async (t) => {
    const { user, passwords } = await iamHouse(t);
    await user('ann');
    const checks = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => passwords().verify(index % 2 ? 'ann@example.org' : 'nobody@example.org', password)),
    );
    const refused = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason as unknown] : []));
    assert.equal(refused.length, 8);
    assert.ok(refused.every((error) => isSvcError(error) && error.status === 429 && error.retryAfterSeconds === 3));
    const found = checks.flatMap((check) => (check.status === 'fulfilled' ? [check.value?.email] : []));
    assert.deepEqual([found.length, found.filter(Boolean).length], [22, 11]);
  });

  test('with a dated hash gets a better one at the next login, which ends no session', async (t) => {
    const { user, passwords, directory, rows, sql } = await iamHouse(t);
    const { id, email } = await user('ann');
    const weak = createHasher({ uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') }, { ln: 14, r: 8, p: 1 });
    const dated = await weak.hash('an old passphrase');
    sql('update iam_users set password_hash = ? where id = ?', dated, id);
    const before = directory().live(id)!;

    assert.equal(await passwords().verify(email, 'a wrong passphrase'), undefined);
    await directory().noteLogin(id);
    assert.equal(rows('iam_users')[0].password_hash, dated, 'only the right password renews it');

    assert.equal((await passwords().verify(email, 'an old passphrase'))?.id, id);
    assert.equal(rows('iam_users')[0].password_hash, dated, 'checking writes nothing');
    await directory().noteLogin(id);
    assert.match(rows('iam_users')[0].password_hash, /^\$scrypt\$ln=15,r=8,p=3\$/);
    assert.equal((await passwords().verify(email, 'an old passphrase'))?.id, id);
    assert.deepEqual(directory().live(id), before);
  });

  test('renewal does not bring back a password that was changed meanwhile', async (t) => {
    const { ask, user, passwords, directory, sql } = await iamHouse(t);
    const { id, email } = await user('ann');
    const weak = createHasher({ uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') }, { ln: 14, r: 8, p: 1 });
    sql('update iam_users set password_hash = ? where id = ?', await weak.hash('an old passphrase'), id);
    await passwords().verify(email, 'an old passphrase');
    await ask('PATCH', `/users/${id}/password`, { password: 'a new passphrase' });
    await directory().noteLogin(id);
    assert.equal(await passwords().verify(email, 'an old passphrase'), undefined);
    assert.equal((await passwords().verify(email, 'a new passphrase'))?.id, id);
  });
});
