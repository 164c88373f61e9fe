import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import fc from 'fast-check';

import { inFolder, openIn, withStorage } from './folder.ts';

const place = { table: 'iam_token', row: '7', column: 'secret' };
const hex = (byte: string): string => byte.repeat(32);

test('a secret comes back as it was, and is never twice the same in the database', () =>
  withStorage(async (storage) => {
    const secrets = storage.secrets('iam');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) =>
        assert.equal(secrets.open(place, secrets.seal(place, plain)), plain),
      ),
    );
    assert.notEqual(secrets.seal(place, 'x'), secrets.seal(place, 'x'));
    assert.match(secrets.seal(place, 'x'), /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
  }));

test('a sealed value opens only in its own row, column, table and plugin', () =>
  withStorage(async (storage) => {
    const sealed = storage.secrets('iam').seal(place, 'hush');
    const moved = [
      { ...place, row: '8' },
      { ...place, column: 'other' },
      { ...place, table: 'iam_other' },
      // The same letters, cut elsewhere.
      { table: 'iam_token7', row: '', column: 'secret' },
    ];
    for (const elsewhere of moved) {
      assert.throws(() => storage.secrets('iam').open(elsewhere, sealed), /altered, or moved here/);
    }
    assert.throws(() => storage.secrets('alert').open(place, sealed), /altered, or moved here/);
  }));

test('an altered value does not open, whichever part was altered, and the message holds nothing of it', () =>
  withStorage(async (storage) => {
    const secrets = storage.secrets('iam');
    const sealed = secrets.seal(place, 'hush');
    fc.assert(
      fc.property(
        fc.nat(sealed.length - 1),
        fc.constantFrom('A', 'x', '.', '-', '9'),
        (at, letter) => {
          fc.pre(sealed[at] !== letter);
          const altered = sealed.slice(0, at) + letter + sealed.slice(at + 1);
          // The last letter of a part may carry unused bits.
          fc.pre(
            !altered
              .split('.')
              .every((part, index) =>
                Buffer.from(part, 'base64url').equals(
                  Buffer.from(sealed.split('.')[index] ?? '', 'base64url'),
                ),
              ),
          );
          assert.throws(
            () => secrets.open(place, altered),
            (error: Error) => !error.message.includes('hush'),
          );
        },
      ),
    );
    for (const nonsense of ['', 'v1', 'v2.a.b.c.d', 'v1....', `${sealed}.x`, 'hush']) {
      assert.throws(() => secrets.open(place, nonsense));
    }
  }));

test('the key file is made once, for its owner only, and a start with a readable one is refused', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'keys', 'secret.key');
    let storage = await openIn(dir);
    const sealed = storage.secrets('iam').seal(place, 'hush');
    const derived = storage.derivedKey('cursor').export();
    await storage.close();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(dir, 'keys')).mode & 0o777, 0o700);

    storage = await openIn(dir);
    assert.equal(storage.secrets('iam').open(place, sealed), 'hush');
    assert.deepEqual(storage.derivedKey('cursor').export(), derived);
    assert.notDeepEqual(storage.derivedKey('csrf').export(), derived);
    await storage.close();

    const key = readFileSync(file, 'utf8').trim();
    for (const mode of [0o640, 0o604, 0o644]) {
      chmodSync(file, mode);
      await assert.rejects(
        openIn(dir),
        (error: Error) =>
          /other users can read it .*chmod 600/.test(error.message) && !error.message.includes(key),
      );
    }
    chmodSync(file, 0o600);
    writeFileSync(file, '');
    await assert.rejects(openIn(dir), /is empty/);
    writeFileSync(file, 'too short\n');
    await assert.rejects(
      openIn(dir),
      /Line 1 of .*secret\.key is not a 32-byte key: restore .* from a backup/,
    );
  }));

test('a given key needs no file, the newest seals, and older ones still open', () =>
  inFolder(async (dir) => {
    const given = await openIn(dir, { secretKeys: [hex('ab')] });
    const old = given.secrets('iam').seal(place, 'old');
    await given.close();
    assert.ok(!existsSync(join(dir, 'keys', 'secret.key')));

    const rotated = await openIn(dir, {
      secretKeys: [hex('ab'), Buffer.alloc(32, 7).toString('base64')],
    });
    const fresh = rotated.secrets('iam').seal(place, 'new');
    assert.notEqual(fresh.split('.')[1], old.split('.')[1]);
    assert.equal(rotated.secrets('iam').open(place, old), 'old');
    assert.equal(rotated.secrets('iam').open(place, fresh), 'new');
    await rotated.close();

    for (const bad of ['', 'short', hex('zz'), 'ä'.repeat(40)]) {
      await assert.rejects(
        openIn(dir, { secretKeys: [bad] }),
        (error: Error) =>
          /SVC_SECRET_KEY does not contain a 32-byte key/.test(error.message) &&
          (bad === '' || !error.message.includes(bad)),
      );
    }
  }));

test('with the key lost there is no start until it is put back or given up, and then each secret says what to do', () =>
  inFolder(async (dir) => {
    const before = await openIn(dir);
    const sealed = before.secrets('iam').seal(place, 'hush');
    await before.close();
    const file = join(dir, 'keys', 'secret.key');
    const key = readFileSync(file);
    rmSync(file);
    await assert.rejects(openIn(dir), (error: Error) =>
      /is missing: restore \S+secret\.key from a backup.*openssl rand.* or set SVC_SECRET_KEY/.test(
        error.message,
      ),
    );
    assert.ok(!existsSync(file), 'no other key has taken its place');

    writeFileSync(file, key, { mode: 0o600 });
    const restored = await openIn(dir);
    assert.equal(restored.secrets('iam').open(place, sealed), 'hush');
    await restored.close();

    writeFileSync(file, `${Buffer.alloc(32, 9).toString('base64')}\n`, { mode: 0o600 });
    const after = await openIn(dir);
    assert.throws(
      () => after.secrets('iam').open(place, sealed),
      /was sealed with key [0-9a-f]{8}, which is not in the key ring: put that key back, or enter the secret again/,
    );
    await after.close();
  }));
