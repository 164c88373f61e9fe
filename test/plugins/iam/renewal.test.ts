import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { Hasher } from '../../../plugins/iam/passwords/hasher.ts';
import { iamHouse } from './house.ts';

const ids = { uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') };

describe('an account with a dated hash', () => {
  test('gets a better one at the next login, which ends no session', async (t) => {
    const { user, passwords, directory, rows, sql } = await iamHouse(t);
    const { id, email } = await user('ann');
    const weak = new Hasher(ids, { ln: 14, r: 8, p: 1 });
    const dated = await weak.hash('an old passphrase');
    await sql('update iam_users set password_hash = ? where id = ?', dated, id);
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

  test('does not bring back a password that was changed meanwhile', async (t) => {
    const { ask, user, passwords, directory, sql } = await iamHouse(t);
    const { id, email } = await user('ann');
    const weak = new Hasher(ids, { ln: 14, r: 8, p: 1 });
    await sql(
      'update iam_users set password_hash = ? where id = ?',
      await weak.hash('an old passphrase'),
      id,
    );
    await passwords().verify(email, 'an old passphrase');
    await ask('PATCH', `/users/${id}/password`, { password: 'a new passphrase' });
    await directory().noteLogin(id);
    assert.equal(await passwords().verify(email, 'an old passphrase'), undefined);
    assert.equal((await passwords().verify(email, 'a new passphrase'))?.id, id);
  });
});
