import assert from 'node:assert/strict';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { nodeFiles, type WalFiles } from 'svc/store';

import { run as crashDrill } from '../../../drill/metrics-crash.ts';
import { rounds } from '../../../drill/rounds.ts';
import { hour, matchers, noon, pointsOf, storeHouse, type StoreHouse } from './house.ts';

const row = (host: string, time: number, value: number) => ({
  labels: { __name__: 'm', host },
  time,
  value,
});

async function twoBlocks(house: StoreHouse): Promise<void> {
  for (const [begin, value] of [
    [noon - 9 * hour, 1],
    [noon - 5 * hour, 2],
  ] as const) {
    house.now = begin + 3 * hour;
    await house.store.write(['a', 'b'].map((host) => row(host, begin, value)));
    await house.store.maintain();
  }
  house.now = noon;
  await house.store.write([row('a', noon, 3)]);
  assert.equal(house.store.stats().blocks, 2);
}

test('every acknowledged sample outlives a process that is killed', async () => {
  assert.equal((await crashDrill({ rounds: rounds(1, 2) })).ok, true);
});

test('a block with a flipped byte is left out of answers and told of, and everything else is there', async (t) => {
  const house = await storeHouse(t);
  await twoBlocks(house);
  await house.store.close();
  const blocks = join(house.folder, 'blocks');
  const file = join(blocks, readdirSync(blocks).sort()[0]!);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.from([readFileSync(file)[12]! ^ 1]), 0, 1, 12);
  closeSync(descriptor);
  await house.reopen();
  const left = {
    '__name__=m,host=a': [
      [noon - 5 * hour, 2],
      [noon, 3],
    ],
    '__name__=m,host=b': [[noon - 5 * hour, 2]],
  };
  assert.deepEqual(await pointsOf(house.store, matchers('m')), left);
  assert.equal(house.store.damage().length, 1);
  assert.match(house.store.damage()[0]!, /does not hold what was written/);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), left);
  assert.equal(house.store.stats().damaged, 1);
});

test('a block whose file is gone is told of', async (t) => {
  const house = await storeHouse(t);
  await twoBlocks(house);
  await house.store.close();
  const blocks = join(house.folder, 'blocks');
  renameSync(join(blocks, readdirSync(blocks).sort()[0]!), join(house.folder, 'elsewhere'));
  await house.reopen();
  assert.deepEqual(Object.keys(await pointsOf(house.store, matchers('m'))), [
    '__name__=m,host=a',
    '__name__=m,host=b',
  ]);
  assert.equal(house.store.stats().damaged, 1);
});

test('a log that ends in the middle of a write loses that write alone', async (t) => {
  const house = await storeHouse(t);
  await house.store.write([row('a', noon - 1, 1)]);
  await house.store.write([row('a', noon, 2)]);
  const wal = join(house.folder, 'wal');
  const segment = join(wal, readdirSync(wal).sort()[0]!);
  const list = `${wal}.segments`;
  const copies = [segment, list].map((path) => [path, readFileSync(path)] as const);
  await house.store.close();
  copies.forEach(([path, copy]) => writeFileSync(path, copy));
  truncateSync(segment, statSync(segment).size - 3);
  await house.reopen();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), {
    '__name__=m,host=a': [[noon - 1, 1]],
  });
  await house.store.write([row('a', noon + 1, 3)]);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), {
    '__name__=m,host=a': [
      [noon - 1, 1],
      [noon + 1, 3],
    ],
  });
});

test('on a full disk nothing is acknowledged or shown, what is there can be read, and afterwards it goes on', async (t) => {
  let full = false;
  const files: WalFiles = {
    ...nodeFiles,
    async create(path) {
      const file = await nodeFiles.create(path);
      return {
        ...file,
        write: (parts, position) =>
          full
            ? Promise.reject(
                Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }),
              )
            : file.write(parts, position),
      };
    },
  };
  const house = await storeHouse(t, { wal: { files } });
  await house.store.write([row('a', noon - 2, 1)]);
  full = true;
  await assert.rejects(house.store.write([row('a', noon - 1, 2), row('new', noon - 1, 2)]), {
    code: 'unavailable',
  });
  assert.deepEqual(await pointsOf(house.store, matchers('m')), {
    '__name__=m,host=a': [[noon - 2, 1]],
  });
  full = false;
  assert.equal(
    (await house.store.write([row('a', noon - 1, 2), row('new', noon - 1, 2)])).accepted,
    2,
  );
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), {
    '__name__=m,host=a': [
      [noon - 2, 1],
      [noon - 1, 2],
    ],
    '__name__=m,host=new': [[noon - 1, 2]],
  });
});

test('nearly no space on the disk refuses writes before they are tried', async (t) => {
  const space = { free: 1, total: 1_000 };
  const house = await storeHouse(t, {
    disk: { minFreeBytes: 10, minFreeShare: 0.05, everyMs: 0, look: () => space },
  });
  await assert.rejects(house.store.write([row('a', noon, 1)]), {
    code: 'unavailable',
    retryAfterSeconds: 30,
  });
  space.free = 900;
  assert.equal((await house.store.write([row('a', noon, 1)])).accepted, 1);
});

test('a head that cannot be written to a block stays whole, and is written later', async (t) => {
  const house = await storeHouse(t);
  const points = [
    [noon - 6 * hour, 1],
    [noon - 5 * hour, 2],
    [noon, 3],
  ] as const;
  await house.store.write(points.map(([time, value]) => row('a', time, value)));
  const blocks = join(house.folder, 'blocks');
  renameSync(blocks, `${blocks}-away`);
  writeFileSync(blocks, 'in the way');
  await house.store.maintain();
  assert.equal(house.store.stats().failedCuts, 1);
  assert.deepEqual(await pointsOf(house.store, matchers('m')), { '__name__=m,host=a': points });
  renameSync(blocks, join(house.folder, 'junk'));
  renameSync(`${blocks}-away`, blocks);
  house.now += hour / 2;
  await house.store.maintain();
  assert.equal(house.store.stats().blocks, 1);
  assert.deepEqual(await pointsOf(house.store, matchers('m')), { '__name__=m,host=a': points });
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), { '__name__=m,host=a': points });
});
