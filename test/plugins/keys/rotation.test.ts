import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { readKeys } from '../../../core/storage/keys.ts';
import { run as rotationDrill } from '../../drill/rotation.ts';
import {
  fill,
  newestKey,
  openAll,
  rotationOf,
  type RotationTables,
} from '../../drill/rotation-model.ts';
import { rounds } from '../../drill/rounds.ts';
import { inFolder, openIn, silent, withStorage } from '../../storage/folder.ts';

const keyFile = (dir: string): string => join(dir, 'keys', 'secret.key');
const retiredFile = (dir: string): string => join(dir, 'keys', 'retired.key');

test('a rotation makes a key, seals every secret of every plugin with it, and the next start retires the old key', () =>
  inFolder(async (dir) => {
    let storage = await openIn(dir);
    await fill(storage);
    const old = newestKey(storage);
    const [oldLine] = readFileSync(keyFile(dir), 'utf8').split('\n');

    const { kid, ...rest } = await rotationOf(storage).rotate();
    assert.deepEqual(rest, { resealed: 153, unreadable: 0, unused: [old] });
    assert.equal(newestKey(storage), kid);
    assert.deepEqual([...(await openAll(storage))], [[kid, 153]]);
    assert.equal(statSync(keyFile(dir)).mode & 0o777, 0o600);
    assert.equal(
      readKeys(keyFile(dir)).length,
      2,
      'what was sealed but is not yet written may still need the old key',
    );
    await storage.close();

    storage = await openIn(dir);
    assert.deepEqual([...(await openAll(storage))], [[kid, 153]]);
    assert.equal(readKeys(keyFile(dir)).length, 1);
    assert.equal(
      readFileSync(retiredFile(dir), 'utf8').trim(),
      oldLine,
      'only a person destroys a key',
    );
    assert.equal(statSync(retiredFile(dir)).mode & 0o777, 0o600);
    await storage.close();
  }));

test('secrets of a plugin that is not there any more are sealed again, too', () =>
  inFolder(async (dir) => {
    let storage = await openIn(dir);
    await fill(storage);
    await storage.close();
    storage = await openIn(dir);
    assert.equal((await rotationOf(storage).rotate()).resealed, 153);
    await storage.close();
  }));

test('what a plugin writes during a rotation is kept and opens', () =>
  withStorage(async (storage) => {
    await fill(storage);
    const tables = storage.tables<RotationTables>('drill');
    const place = (id: number) => ({ table: 'drill_vault', row: String(id), column: 'secret' });
    // Sealed with the old key before, written during and after the rotation.
    const late = Array.from({ length: 150 }, (_, index) =>
      storage.secrets('drill').seal(place(index + 1), `late ${index + 1}`),
    );
    const rotating = rotationOf(storage).rotate();
    for (const [index, secret] of late.entries()) {
      await tables.write((tx) =>
        tx
          .updateTable('drill_vault')
          .set({ secret })
          .where('id', '=', index + 1)
          .execute(),
      );
    }
    await rotating;
    for (const { id, secret } of await tables.read
      .selectFrom('drill_vault')
      .select(['id', 'secret'])
      .execute()) {
      assert.equal(storage.secrets('drill').open(place(id), secret), `late ${id}`);
    }
    assert.equal((await rotationOf(storage).rotate()).unreadable, 0);
  }));

test('a key that a late value still needs is not retired', () =>
  inFolder(async (dir) => {
    let storage = await openIn(dir);
    await fill(storage);
    const old = newestKey(storage);
    const late = storage
      .secrets('drill')
      .seal({ table: 'drill_vault', row: '7', column: 'secret' }, 'vault 7');
    await rotationOf(storage).rotate();
    await storage
      .tables<RotationTables>('drill')
      .write((tx) =>
        tx.updateTable('drill_vault').set({ secret: late }).where('id', '=', 7).execute(),
      );
    await storage.close();

    storage = await openIn(dir);
    assert.equal((await openAll(storage)).get(old), 1);
    void rotationOf(storage).resume();
    for (const deadline = Date.now() + 20_000; (await openAll(storage)).has(old); await pause(5)) {
      assert.ok(Date.now() < deadline, 'the start goes on by itself');
    }
    await storage.close();
    storage = await openIn(dir);
    assert.equal(readKeys(keyFile(dir)).length, 1);
    await storage.close();
  }));

test('values that do not open stay as they are, are counted, and keep their key in the ring', () =>
  inFolder(async (dir) => {
    let storage = await openIn(dir);
    await fill(storage);
    const old = newestKey(storage);
    const tables = storage.tables<RotationTables>('drill');
    const secretOf = async (id: number): Promise<string> =>
      (
        await tables.read
          .selectFrom('drill_vault')
          .select('secret')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).secret;
    const [first, second] = [await secretOf(1), await secretOf(2)];
    await tables.write(async (tx) => {
      await tx.updateTable('drill_vault').set({ secret: second }).where('id', '=', 1).execute();
      await tx.updateTable('drill_vault').set({ secret: first }).where('id', '=', 2).execute();
      await tx
        .updateTable('drill_vault')
        .set({ secret: first.replace(old, '00000000') })
        .where('id', '=', 3)
        .execute();
    });
    assert.throws(
      () =>
        storage.secrets('drill').open({ table: 'drill_vault', row: '1', column: 'secret' }, second),
      /altered, or moved here/,
    );

    const { resealed, unreadable, unused } = await rotationOf(storage).rotate();
    assert.deepEqual([resealed, unreadable, unused], [150, 3, []]);
    assert.deepEqual([await secretOf(1), await secretOf(2)], [second, first]);
    await storage.close();
    storage = await openIn(dir);
    assert.equal(readKeys(keyFile(dir)).length, 2);
    await storage.close();
  }));

test('two rotations do not run at once; one after the other they do', () =>
  withStorage(async (storage) => {
    await fill(storage);
    const rotation = rotationOf(storage);
    const [first, second] = await Promise.allSettled([rotation.rotate(), rotation.rotate()]);
    assert.equal(first.status, 'fulfilled');
    assert.equal(
      second.status === 'rejected' && (second.reason as { code: string }).code,
      'conflict',
    );
    const { kid, unused } = await rotation.rotate();
    assert.equal(unused.length, 2);
    assert.deepEqual([...(await openAll(storage))], [[kid, 153]]);
  }));

test('a stop during a rotation is not kept waiting, and the next start goes on', () =>
  inFolder(async (dir) => {
    let storage = await openIn(dir);
    await fill(storage, 2_000);
    const rotation = rotationOf(storage);
    const stopped = assert.rejects(rotation.rotate(), {
      code: 'unavailable',
      message: /The rotation was stopped; the remaining secrets/,
    });
    await rotation.stop();
    await storage.close();
    await stopped;

    storage = await openIn(dir);
    assert.ok((await openAll(storage)).size >= 1);
    assert.equal(readKeys(keyFile(dir)).length, 2);
    const { kid } = await rotationOf(storage).rotate();
    assert.deepEqual([...(await openAll(storage))], [[kid, 2_003]]);
    await storage.close();
  }));

test('no key is made when the trail of the change cannot be written', () =>
  withStorage(async (storage, dir) => {
    await fill(storage);
    const before = readFileSync(keyFile(dir), 'utf8');
    const refusal = new Error('the trail is full');
    await assert.rejects(
      storage.witness(
        { beforeCommit: () => Promise.reject(refusal), undone: () => undefined },
        () => rotationOf(storage).rotate(),
      ),
      refusal,
    );
    assert.equal(readFileSync(keyFile(dir), 'utf8'), before);
    assert.equal((await rotationOf(storage).rotate()).resealed, 153);
  }));

test('a key file that cannot be written leaves the old key sealing, and the start after that comes up', () =>
  inFolder(async (dir) => {
    const storage = await openIn(dir);
    await fill(storage);
    const old = newestKey(storage);
    // In the way of the draft that would take the file's place.
    mkdirSync(`${keyFile(dir)}.tmp`);
    await assert.rejects(rotationOf(storage).rotate(), {
      code: 'unavailable',
      message: /The key file cannot be written .*; the old key stays in use/,
    });
    assert.equal(newestKey(storage), old);
    rmdirSync(`${keyFile(dir)}.tmp`);

    await rotationOf(storage).rotate();
    await storage.close();
    mkdirSync(`${retiredFile(dir)}.tmp`);
    const lines: string[] = [];
    const next = await openIn(dir, {
      log: { ...silent, warn: (_fields, message) => void lines.push(message) },
    });
    assert.equal((await openAll(next)).size, 1);
    assert.deepEqual(lines, ['failed to retire a replaced master key; retrying at the next start']);
    await next.close();
  }));

test('a key that somebody put back into the file while svc serves survives a rotation', () =>
  withStorage(async (storage, dir) => {
    const putBack = Buffer.alloc(32, 5).toString('base64url');
    writeFileSync(keyFile(dir), `${putBack}\n${readFileSync(keyFile(dir), 'utf8')}`);
    chmodSync(keyFile(dir), 0o600);
    await rotationOf(storage).rotate();
    const lines = readFileSync(keyFile(dir), 'utf8').trim().split('\n');
    assert.equal(lines.length, 3);
    assert.ok(lines.includes(putBack));
  }));

test('with the key in the environment a rotation says how, and with a second one there it only seals again', () =>
  inFolder(async (dir) => {
    const [one, two] = [
      Buffer.alloc(32, 1).toString('base64'),
      Buffer.alloc(32, 2).toString('base64'),
    ];
    let storage = await openIn(dir, { secretKeys: [one] });
    await fill(storage);
    const old = newestKey(storage);
    await assert.rejects(rotationOf(storage).rotate(), {
      code: 'conflict',
      message:
        /comes from SVC_SECRET_KEY.*append it to the old one, separated by a comma, and start svc again/,
    });
    await storage.close();

    storage = await openIn(dir, { secretKeys: [one, two] });
    const { kid, resealed, unused } = await rotationOf(storage).rotate();
    assert.deepEqual([resealed, unused], [153, [old]]);
    assert.equal((await rotationOf(storage).rotate()).resealed, 0);
    await storage.close();
    assert.ok(!existsSync(keyFile(dir)) && !existsSync(retiredFile(dir)));

    storage = await openIn(dir, { secretKeys: [two] });
    assert.deepEqual([...(await openAll(storage))], [[kid, 153]]);
    await storage.close();
  }));

test('kill -9 during a rotation: every secret opens, and the next start finishes it', async () => {
  await rotationDrill({ rounds: rounds(1, 4) });
});
