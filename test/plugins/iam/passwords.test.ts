import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Guesses } from '../../../plugins/iam/passwords/guesses.ts';
import { movableClock } from '../session/people.ts';
import { iamHouse, password, statusesOf } from './house.ts';

describe('a password', () => {
  test('is changed by its owner with the current one, and by an administrator without', async (t) => {
    const { ask, as, user, passwords, directory } = await iamHouse(t);
    const ann = await user('ann');
    const before = directory().live(ann.id)!.version;
    const path = `/users/${ann.id}/password`;

    const without = await as(ann)('PATCH', path, { password: 'second passphrase' });
    assert.deepEqual([without.status, without.body.details[0].path], [400, '/current_password']);
    const wrong = await as(ann)('PATCH', path, {
      password: 'second passphrase',
      current_password: 'not my passphrase',
    });
    assert.deepEqual([wrong.status, wrong.body.error], [403, 'forbidden']);
    assert.equal(directory().live(ann.id)!.version, before, 'nothing happened so far');

    assert.equal(
      (await as(ann)('PATCH', path, { password: 'second passphrase', current_password: password }))
        .status,
      200,
    );
    assert.equal(await passwords().verify(ann.email, password), undefined);
    assert.equal((await passwords().verify(' ANN@example.org ', 'second passphrase'))?.id, ann.id);
    assert.equal(directory().live(ann.id)!.version, before + 1, 'which ends her sessions');

    assert.equal((await ask('PATCH', path, { password: 'third passphrase' })).status, 200);
    assert.equal((await passwords().verify(ann.email, 'third passphrase'))?.id, ann.id);
    assert.equal(
      (await ask('PATCH', '/users/999/password', { password: 'third passphrase' })).status,
      404,
    );
  });

  test('of somebody else is for administrators, whose own takes the current one too', async (t) => {
    const { as, asToken, user } = await iamHouse(t);
    const [ann, bob, ada] = [await user('ann'), await user('bob'), await user('ada', 'admin')];
    const change = { password: 'second passphrase', current_password: password };
    assert.equal((await as(bob)('PATCH', `/users/${ann.id}/password`, change)).status, 403);
    assert.equal(
      (await asToken(ann, 'edge:*')('PATCH', `/users/${ann.id}/password`, change)).status,
      403,
      'a token is not its owner',
    );
    assert.equal(
      (await as(ada)('PATCH', `/users/${ada.id}/password`, { password: 'second passphrase' }))
        .status,
      400,
    );
    assert.equal(
      (await as(ada)('PATCH', `/users/${ann.id}/password`, { password: 'second passphrase' }))
        .status,
      200,
    );
  });

  test('that two change at once is set by one of them', async (t) => {
    const { as, ask, user, passwords } = await iamHouse(t);
    const ann = await user('ann');
    const answers = await Promise.all([
      as(ann)('PATCH', `/users/${ann.id}/password`, {
        password: 'by herself 1',
        current_password: password,
      }),
      ask('PATCH', `/users/${ann.id}/password`, { password: 'by the admin' }),
    ]);
    assert.deepEqual(statusesOf(answers), [200, 409]);
    const winner = answers[0].status === 200 ? 'by herself 1' : 'by the admin';
    assert.equal((await passwords().verify(ann.email, winner))?.id, ann.id);
  });

  test('is not guessed at a session somebody left open: after ten wrong ones its owner waits, too', async (t) => {
    const clock = movableClock();
    const { as, user } = await iamHouse(t, { clock });
    const [ann, bob] = [await user('ann'), await user('bob')];
    const change = ({ id }: { readonly id: number }, current: string) =>
      as({ id })('PATCH', `/users/${id}/password`, {
        password: 'second passphrase',
        current_password: current,
      });
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => change(ann, 'not her passphrase')),
    );
    assert.deepEqual(statusesOf(guesses), [...Array.from({ length: 10 }, () => 403), 429, 429]);
    clock.move(60_000);
    const refused = await change(ann, password);
    assert.deepEqual(
      [refused.status, refused.body.error, refused.headers.get('retry-after')],
      [429, 'rate_limited', '540'],
    );
    assert.equal((await change(bob, password)).status, 200, 'others need not wait');
    clock.move(540_000);
    assert.equal((await change(ann, password)).status, 200);
  });

  test('opens nothing for the unknown, the disabled and the deleted', async (t) => {
    const { ask, user, passwords } = await iamHouse(t);
    const [ann, bob] = [await user('ann'), await user('bob')];
    await ask('PATCH', `/users/${ann.id}`, { status: 'disabled' });
    await ask('DELETE', `/users/${bob.id}`);
    for (const email of [ann.email, bob.email, 'nobody@example.org', '']) {
      assert.equal(await passwords().verify(email, password), undefined, email);
    }
    assert.equal(
      await passwords().verify(bob.email, ''),
      undefined,
      'a deleted account has no password, not an empty one',
    );
    await ask('PATCH', `/users/${ann.id}`, { status: 'active' });
    assert.equal((await passwords().verify(ann.email, password))?.id, ann.id);
  });
});

describe('guesses', () => {
  const wrong = async (): Promise<boolean> => false;
  const right = async (): Promise<boolean> => true;

  test('are forgotten with a right one, and do not count when nobody could tell', async () => {
    const guesses = new Guesses(movableClock());
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 9; i++) {
        assert.equal(await guesses.check(1, wrong), false);
        await assert.rejects(
          guesses.check(1, () => Promise.reject(new Error('too many at once'))),
          /too many at once/,
        );
      }
      assert.equal(await guesses.check(1, right), true);
    }
  });

  test('take bounded room: the account guessed at longest ago makes place', async () => {
    const guesses = new Guesses(movableClock(), 2);
    for (const id of [1, 2, 3]) {
      for (let i = 0; i < 10; i++) {
        await guesses.check(id, wrong);
      }
    }
    assert.equal(await guesses.check(1, wrong), false);
    await assert.rejects(guesses.check(3, right), /try again in 600 s/);
  });
});
