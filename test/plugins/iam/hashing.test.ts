import assert from 'node:assert/strict';
import { randomBytes, scryptSync } from 'node:crypto';
import { describe, test } from 'node:test';

import { isSvcError } from 'svc/sdk';

import { Hasher } from '../../../plugins/iam/passwords/hasher.ts';

const ids = { uuid: () => '', token: (bytes = 32) => randomBytes(bytes).toString('base64url') };
const cheap = { ln: 10, r: 8, p: 1 };

describe('a hash', () => {
  test('is made with the work factors of the house and names them', async () => {
    const hash = await new Hasher(ids).hash('correct horse');
    const [, salt = '', key] = /^\$scrypt\$ln=15,r=8,p=3\$([^$]+)\$([^$]+)$/.exec(hash) ?? [];
    const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
    const real = scryptSync('correct horse', Buffer.from(salt, 'base64'), 32, cost);
    assert.equal(key, real.toString('base64').replace(/=+$/, ''), 'and they are the real ones');
    assert.equal(await new Hasher(ids).verify(hash, 'correct horse'), true);
    assert.equal(await new Hasher(ids).verify(hash, 'correct horsf'), false);
  });

  test('differs each time and holds for its password only, however that is typed', async () => {
    const hasher = new Hasher(ids, cheap);
    const [one, other] = [await hasher.hash('pässwörter'), await hasher.hash('pässwörter')];
    assert.notEqual(one, other);
    assert.equal(
      await hasher.verify(one, 'pa\u0308sswo\u0308rter'),
      true,
      'composed and decomposed letters are the same letters',
    );
    assert.equal(await hasher.verify(one, 'Pässwörter'), false);
    assert.equal(await hasher.verify(one, 'pässwörter '), false, 'blanks count');
  });

  test('that is missing or broken holds for nothing, not even for nothing', async () => {
    const hasher = new Hasher(ids, cheap);
    const whole = await hasher.hash('x'.repeat(300));
    for (const hash of [
      undefined,
      '',
      'plain',
      '$scrypt$ln=10,r=8,p=1$$',
      whole.slice(0, -1),
      whole.replace('scrypt', 'bcrypt'),
    ]) {
      assert.equal(await hasher.verify(hash, ''), false);
    }
    assert.equal(
      await hasher.verify(whole, 'x'.repeat(300)),
      false,
      'longer than a password can be',
    );
  });

  test('is dated when it was cheaper than hashes are today, and not when it was dearer', async () => {
    const [weak, strong] = [new Hasher(ids, cheap), new Hasher(ids, { ln: 11, r: 8, p: 2 })];
    assert.equal(strong.isDated(await weak.hash('a password')), true);
    assert.equal(weak.isDated(await strong.hash('a password')), false);
    assert.equal(weak.isDated(await weak.hash('a password')), false);
    assert.equal(
      await strong.verify(await weak.hash('a password'), 'a password'),
      true,
      'a dated one still opens',
    );
  });

  test('that nobody has costs what a wrong one costs: both take a place in the queue', async () => {
    const hasher = new Hasher(ids, { ln: 13, r: 8, p: 1 });
    const known = await hasher.hash('a password');
    for (const hash of [known, undefined]) {
      const checks = await Promise.allSettled(
        Array.from({ length: 30 }, () => hasher.verify(hash, 'a wrong one')),
      );
      const refused = checks.flatMap((check) =>
        check.status === 'rejected' ? [check.reason as unknown] : [],
      );
      assert.equal(refused.length, 8);
      assert.ok(refused.every((error) => isSvcError(error) && error.status === 429));
    }
  });

  test('that nobody has is looked for in the same time', async () => {
    const hasher = new Hasher(ids, { ln: 13, r: 8, p: 1 });
    const known = await hasher.hash('a password');
    const spent = { known: 0, unknown: 0 };
    // In turns, so that a busy machine slows both down; generous, since the costs are the same by construction.
    for (let round = 0; round < 20; round++) {
      for (const [who, hash] of [
        ['known', known],
        ['unknown', undefined],
      ] as const) {
        const begun = process.hrtime.bigint();
        await hasher.verify(hash, 'a wrong one');
        spent[who] += Number(process.hrtime.bigint() - begun);
      }
    }
    const ratio = spent.unknown / spent.known;
    assert.ok(ratio > 0.5 && ratio < 2, `an unknown e-mail took ${ratio.toFixed(2)} times as long`);
  });
});

test('passwords are checked two at a time, and one more than twenty that wait is told to come back', async () => {
  const hasher = new Hasher(ids, cheap);
  const all = Array.from({ length: 22 }, () => hasher.hash('correct horse'));
  await assert.rejects(hasher.hash('one more'), {
    code: 'rate_limited',
    status: 429,
    retryAfterSeconds: 3,
  });
  await Promise.all(all);
});
