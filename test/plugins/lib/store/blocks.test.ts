import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import {
  type BlockRow,
  type Catalogue,
  compress,
  diskSpace,
  endingIfDamaged,
  isDamagedBlock,
  mendBits,
  openBlock,
  openCatalogue,
  overdue,
  problemsOf,
  retain,
  RetentionClock,
  rowFor,
  sectionCache,
  Unpacker,
  writeBlock,
} from 'svc/store';
import { folderOf, listener } from './folder.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('a block', () => {
  test('holds its sections, packed or not', async (t) => {
    const folder = join(folderOf(t), 'blocks');
    const large = Buffer.alloc(200_000, 'many of the same bytes ');
    const { file, bytes } = await writeBlock(folder, 'b1', async (block) => {
      assert.equal(block.section(large), 0);
      await Promise.resolve();
      assert.equal(block.section(Buffer.from('raw'), { raw: true }), 1);
      assert.equal(block.section(new Uint8Array(0)), 2);
    });
    assert.equal(bytes, statSync(join(folder, file)).size);
    assert.ok(bytes < 5_000);
    const block = openBlock(join(folder, file));
    assert.equal(block.sections, 3);
    assert.ok(large.equals(block.read(0)));
    assert.equal(text(block.read(1)), 'raw');
    assert.equal(block.read(2).length, 0);
    assert.deepEqual([block.storedBytes(1), block.rawBytes(0)], [3, 200_000]);
    assert.throws(() => block.read(3), isDamagedBlock);
    block.close();
    block.close();
    assert.throws(() => block.read(0), { code: 'internal' });
  });

  test('with any byte changed says so, and only the section that has it is lost', async (t) => {
    const folder = folderOf(t);
    const sections = ['first first first first first', 'second', 'third third third third third'];
    await writeBlock(folder, 'good', (block) =>
      sections.forEach((section, i) => block.section(Buffer.from(section), { raw: i === 1 })),
    );
    const good = readFileSync(join(folder, 'good'));
    const isolated = new Set<number>();
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at]! ^= 0x21;
      const path = join(folder, 'bad');
      writeFileSync(path, bad);
      const read: string[] = [];
      try {
        const block = openBlock(path);
        for (let i = 0; i < block.sections; i++) {
          try {
            read.push(text(block.read(i)));
          } catch (error) {
            assert.ok(isDamagedBlock(error), `byte ${at}: ${String(error)}`);
            read.push('damaged');
          }
        }
        block.close();
      } catch (error) {
        assert.ok(isDamagedBlock(error), `byte ${at}: ${String(error)}`);
        assert.equal(error.damagedBlock, path);
        continue;
      }
      const lost = read.indexOf('damaged');
      isolated.add(lost);
      assert.deepEqual(read, sections.toSpliced(lost, 1, 'damaged'), `byte ${at}`);
    }
    assert.deepEqual(
      [...isolated].sort((a, b) => a - b),
      [0, 1, 2],
    );
  });

  test('with one bit flipped loses nothing of its index, and is mended to the byte', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'good');
    await describedBlock(folder, 'good');
    const good = readFileSync(path);
    let read = 0;
    for (let at = 0; at < good.length * 8; at += 5) {
      const bad = Buffer.from(good);
      bad[at >> 3]! ^= 1 << (at & 7);
      writeFileSync(path, bad);
      const block = openBlock(path);
      read += block.flipped === undefined ? 0 : 1;
      block.close();
      assert.equal((await problemsOf(path)).length, 1, `bit ${at}`);
      assert.equal(mendBits(path), true);
      assert.ok(readFileSync(path).equals(good), `bit ${at}`);
    }
    assert.ok(read > 10);
    assert.equal(mendBits(path), false);
  });

  test('that is cut anywhere, empty or missing is damaged', async (t) => {
    const folder = folderOf(t);
    await writeBlock(
      folder,
      'good',
      (block) => void block.section(Buffer.from('content content content')),
    );
    const good = readFileSync(join(folder, 'good'));
    for (let cut = 0; cut < good.length; cut++) {
      writeFileSync(join(folder, 'bad'), good.subarray(0, cut));
      assert.throws(() => openBlock(join(folder, 'bad')), isDamagedBlock);
    }
    assert.throws(() => openBlock(join(folder, 'none')), isDamagedBlock);
  });

  test('that cannot be finished leaves nothing behind', async (t) => {
    const folder = folderOf(t);
    await assert.rejects(
      writeBlock(folder, 'b', (block) => {
        block.section(Buffer.from('x'));
        throw new Error('no more');
      }),
      /no more/,
    );
    assert.deepEqual(readdirSync(folder), []);
    writeFileSync(join(folder, 'b.tmp'), 'left by a crash');
    await writeBlock(folder, 'b', (block) => void block.section(Buffer.from('x')));
    assert.deepEqual(readdirSync(folder), ['b']);
  });

  test('is searched: what is not wanted is neither kept nor cached, what is wanted stays as it is', async (t) => {
    const folder = folderOf(t);
    const texts = [0, 1, 2, 3].map((i) => Buffer.alloc(1_000, `section ${i} `));
    const { file } = await writeBlock(folder, 'searched', (block) => {
      assert.equal(block.compressed(compress(texts[0]!), 1_000), 0);
      texts.slice(1).forEach((section, i) => block.section(section, { raw: i === 2 }));
    });
    const unpacker = new Unpacker();
    const holds = (wanted: string) => (section: Uint8Array) =>
      Buffer.from(section).includes(wanted);
    for (const cache of [undefined, sectionCache(100_000)]) {
      const block = openBlock(join(folder, file), cache);
      const search = (wanted: string): (Uint8Array | undefined)[] =>
        texts.map((_, i) => block.search(i, unpacker, holds(wanted)));
      assert.deepEqual(search('nothing of the kind'), [undefined, undefined, undefined, undefined]);
      assert.equal(cache?.bytes ?? 0, 0);
      for (const [i, raw] of texts.entries()) {
        const found = search(`section ${i}`);
        search('nothing of the kind');
        assert.deepEqual(
          found.map((section) => section && text(section)),
          texts.map((_, k) => (k === i ? raw.toString() : undefined)),
        );
      }
      assert.equal(cache?.bytes ?? 4_000, 4_000);
      assert.equal(text(block.read(2)), texts[2]!.toString());
      assert.equal(search('section 2').filter((section) => section !== undefined).length, 1);
      block.close();
      assert.throws(() => block.search(0, unpacker, () => true), { code: 'internal' });
    }
    unpacker.close();
  });

  test('is unpacked once while its sections are in use, and the cache keeps to its size', async (t) => {
    const folder = folderOf(t);
    for (const name of ['a', 'b']) {
      await writeBlock(folder, name, (block) =>
        [0, 1, 2, 3].forEach((i) => block.section(Buffer.alloc(100, i))),
      );
    }
    const cache = sectionCache(450);
    const [a, b] = [openBlock(join(folder, 'a'), cache), openBlock(join(folder, 'b'), cache)];
    const first = a.read(0);
    assert.equal(a.read(0), first);
    [1, 2, 3].forEach((i) => a.read(i));
    assert.equal(cache.bytes, 400);
    a.read(0);
    b.read(0);
    assert.equal(cache.bytes, 400);
    assert.equal(a.read(0), first, 'what was used last stays');
    a.close();
    assert.equal(cache.bytes, 100);
    b.close();
    assert.equal(cache.bytes, 0);
    const small = sectionCache(200);
    const again = openBlock(join(folder, 'a'), small);
    again.read(0);
    assert.equal(
      small.bytes,
      0,
      'a section that is large for the cache does not push out the others',
    );
    again.close();
  });
});

const row = (
  file: string,
  mint: number,
  maxt: number,
  bytes = 10,
): { file: string; level: number; mint: number; maxt: number; bytes: number; rows: number } => ({
  file,
  level: 0,
  mint,
  maxt,
  bytes,
  rows: 1,
});

async function withBlocks(
  folder: string,
  names: readonly string[],
  schema: readonly string[] = [],
): Promise<Catalogue> {
  const catalogue = openCatalogue(join(folder, 'catalogue.db'), schema);
  for (const [i, name] of names.entries()) {
    const { file, bytes } = await writeBlock(
      catalogue.blocksFolder,
      name,
      (block) => void block.section(Buffer.from(name)),
    );
    catalogue.blocks.add(row(file, i * 100, i * 100 + 99, bytes));
  }
  return catalogue;
}

/** A block that says what it holds. */
async function describedBlock(
  folder: string,
  name: string,
  replaces: readonly string[] = [],
): Promise<ReturnType<typeof rowFor>> {
  const description = { ...row(name, 1, 99), meta: '{}', replaces, store: {} };
  const written = await writeBlock(folder, name, (block) => {
    block.section(Buffer.from(name));
    block.describe(description);
  });
  return rowFor(written, description);
}

async function describedBlocks(folder: string): Promise<Catalogue> {
  const catalogue = openCatalogue(join(folder, 'catalogue.db'), []);
  for (const name of ['a', 'b']) {
    catalogue.blocks.add(await describedBlock(catalogue.blocksFolder, name));
  }
  return catalogue;
}

const files = (folder: string): string[] => readdirSync(join(folder, 'blocks')).sort();

describe('the catalogue of the blocks', () => {
  test('keeps what it is told, beside what the store keeps in it', async (t) => {
    const folder = folderOf(t);
    const catalogue = await withBlocks(
      folder,
      ['a', 'b', 'c'],
      ['create table series (id integer primary key) strict'],
    );
    const ids = catalogue.blocks.list().map(({ id }) => id);
    const added = catalogue.blocks.add(
      { ...row('d', 0, 1), level: 1, meta: '{"k":1}' },
      ({ id }) => void catalogue.db.prepare('insert into series values (?)').run(id),
    );
    assert.deepEqual(
      { ...added },
      { ...row('d', 0, 1), level: 1, meta: '{"k":1}', id: added.id, damaged: 0, cause: null },
    );
    assert.deepEqual(catalogue.db.prepare('select id from series').pluck().all(), [added.id]);
    assert.deepEqual(
      catalogue.blocks.list({ mint: 99, maxt: 100 }).map(({ file }) => file),
      ['a', 'b'],
    );
    assert.deepEqual(
      catalogue.blocks.list({ mint: 0, maxt: 1e9, level: 1 }).map(({ file }) => file),
      ['d'],
    );
    assert.throws(
      () =>
        catalogue.blocks.add(row('e', 0, 1), () => {
          throw new Error('no');
        }),
      /no/,
    );
    assert.throws(
      () =>
        catalogue.blocks.remove(ids, () => {
          throw new Error('no');
        }),
      /no/,
    );
    assert.deepEqual(files(folder), ['a', 'b', 'c'], 'a file goes only when its row is gone');
    assert.equal(catalogue.blocks.list().length, 4);
    await writeBlock(
      catalogue.blocksFolder,
      'merged',
      (block) => void block.section(Buffer.from('ab')),
    );
    catalogue.blocks.replace(ids.slice(0, 2), [row('merged', 0, 199, 7)]);
    assert.deepEqual(files(folder), ['c', 'merged']);
    assert.equal(catalogue.blocks.bytes(), 7 + 10 + statSync(join(folder, 'blocks', 'c')).size);
    assert.equal(statSync(join(folder, 'catalogue.db')).mode & 0o777, 0o600);
    catalogue.close();
  });

  test('takes on new versions of its schema, and refuses one it does not know', (t) => {
    const path = join(folderOf(t), 'catalogue.db');
    const first = 'create table series (id integer primary key) strict';
    openCatalogue(path, [first]).close();
    const second = openCatalogue(path, [first, 'alter table series add column name text']);
    second.db.prepare("insert into series (name) values ('x')").run();
    second.close();
    openCatalogue(path, [first, 'alter table series add column name text']).close();
    assert.throws(() => openCatalogue(path, [first]), { code: 'unavailable', message: /newer/ });
    assert.throws(
      () =>
        openCatalogue(path, [
          first,
          'alter table series add column name text',
          'create table half (a)',
          'nonsense',
        ]),
      /nonsense/,
    );
    const unchanged = openCatalogue(path, [first, 'alter table series add column name text']);
    assert.deepEqual(
      unchanged.db.prepare("select name from sqlite_master where name = 'half'").all(),
      [],
    );
    unchanged.close();
  });

  test('that is no database is set aside, three times at the most', async (t) => {
    const folder = folderOf(t);
    (await withBlocks(folder, ['a'])).close();
    const path = join(folder, 'catalogue.db');
    const log = listener();
    for (let i = 0; i < 5; i++) {
      writeFileSync(path, 'this is no database, whatever else it is'.repeat(40));
      openCatalogue(path, [], { log }).close();
    }
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('damaged')),
      ['catalogue.db.damaged-3', 'catalogue.db.damaged-4', 'catalogue.db.damaged-5'],
    );
    assert.match(log.said[0]!, /error: block catalogue was damaged; set it aside and rebuilt it/);
  });

  test('agrees with the files after a crash at any step of making a block', async (t) => {
    const folder = folderOf(t);
    (await withBlocks(folder, ['a'])).close();
    const blocks = join(folder, 'blocks');

    writeFileSync(join(blocks, 'b.tmp'), 'half of a bl');
    openCatalogue(join(folder, 'catalogue.db'), []).close();
    assert.deepEqual(files(folder), ['a'], 'while the file was written');

    await writeBlock(blocks, 'b', (block) => void block.section(Buffer.from('b')));
    const log = listener();
    openCatalogue(join(folder, 'catalogue.db'), [], { log }).close();
    assert.deepEqual(files(folder), ['a'], 'after the file had its name, before it had its row');
    assert.deepEqual(log.said, ['info: removed an unfinished or replaced block']);

    const { file } = await writeBlock(blocks, 'b', (block) => void block.section(Buffer.from('b')));
    const complete = openCatalogue(join(folder, 'catalogue.db'), [], { log });
    assert.deepEqual(files(folder), ['a']);
    await writeBlock(blocks, 'b', (block) => void block.section(Buffer.from('b')));
    complete.blocks.add(row(file, 100, 199));
    complete.close();
    openCatalogue(join(folder, 'catalogue.db'), []).close();
    assert.deepEqual(files(folder), ['a', 'b'], 'after it had its row');
  });

  test('agrees with the files after a crash at any step of removing one', async (t) => {
    const folder = folderOf(t);
    const catalogue = await withBlocks(folder, ['a', 'b']);
    const [a] = catalogue.blocks.list();
    const content = readFileSync(join(folder, 'blocks', 'a'));
    catalogue.blocks.remove([a!.id]);
    catalogue.close();
    writeFileSync(join(folder, 'blocks', 'a'), content);
    const again = openCatalogue(join(folder, 'catalogue.db'), []);
    assert.deepEqual(files(folder), ['b']);
    assert.deepEqual(
      again.blocks.list().map(({ file }) => file),
      ['b'],
    );
    again.close();
  });

  test('marks a block whose file is gone, once, and keeps its row', async (t) => {
    const folder = folderOf(t);
    (await withBlocks(folder, ['a', 'b'])).close();
    rmSync(join(folder, 'blocks', 'a'));
    const log = listener();
    for (let i = 0; i < 2; i++) {
      const catalogue = openCatalogue(join(folder, 'catalogue.db'), [], { log });
      assert.deepEqual(
        catalogue.blocks.list().map(({ file, damaged, cause }) => [file, damaged, cause]),
        [
          ['a', 1, 'the file is missing'],
          ['b', 0, null],
        ],
      );
      catalogue.close();
    }
    assert.deepEqual(log.said, [
      'error: block file is missing; query results will lack its data until it is restored from a backup',
    ]);
  });

  test('that was lost is made anew of blocks that say what they hold', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    const rows = first.blocks.list();
    first.close();
    rmSync(path);
    const log = listener();
    const again = openCatalogue(path, [], { log });
    assert.deepEqual(again.blocks.list(), rows);
    assert.deepEqual(
      [again.losses.list(), log.said],
      [[], ['error: block catalogue was missing; rebuilt it from the blocks']],
    );
    again.close();
  });

  test('that was lost while it was made anew is made anew by the next start', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    const rows = first.blocks.list();
    first.close();
    writeFileSync(path, 'no database');
    const content = {
      rebuilt: () => {
        throw new Error('killed');
      },
    };
    assert.throws(() => openCatalogue(path, [], { content }), /killed/);
    assert.equal(existsSync(path), false, 'it has no name before it is complete');
    const again = openCatalogue(path, []);
    assert.deepEqual(again.blocks.list(), rows);
    again.close();
  });

  test('takes in a complete block without a row, and lets go of those that it replaces', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    await describedBlock(first.blocksFolder, 'merged', ['a', 'b']);
    first.close();
    const again = openCatalogue(path, []);
    assert.deepEqual(
      again.blocks.list().map(({ file }) => file),
      ['merged'],
    );
    assert.deepEqual(files(folder), ['merged']);
    again.close();
  });

  test('leaves a complete block where it is when it cannot be entered', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    await describedBlock(first.blocksFolder, 'c');
    first.close();
    const content = {
      enter: () => {
        throw new Error('no space');
      },
    };
    assert.throws(() => openCatalogue(path, [], { content }), /no space/);
    const again = openCatalogue(path, []);
    assert.deepEqual(
      again.blocks.list().map(({ file }) => file),
      ['a', 'b', 'c'],
    );
    again.close();
  });

  test('with a row that is not what the block says is made anew, also after a kill', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    const rows = first.blocks.list();
    first.db.prepare("update blocks set maxt = maxt + 1 where file = 'a'").run();
    first.close();
    rmSync(`${path}.seal`);
    const log = listener();
    const again = openCatalogue(path, [], { log });
    assert.deepEqual(again.blocks.list(), rows);
    assert.match(log.said.join(), /block catalogue was damaged/);
    again.close();
  });

  test('gives blocks of earlier versions a description, by which they outlive it', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await withBlocks(folder, ['a', 'b']);
    const rows = first.blocks.list();
    first.close();
    rmSync(`${path}.seal`);
    openCatalogue(path, []).close();
    assert.deepEqual(files(folder), ['a', 'a.about', 'b', 'b.about']);
    rmSync(path);
    const again = openCatalogue(path, []);
    assert.deepEqual(again.blocks.list(), rows);
    again.blocks.remove(again.blocks.list().map(({ id }) => id));
    assert.deepEqual(files(folder), []);
    again.close();
  });

  test('that nothing can be made of says so with every answer, until the blocks are back', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    (await withBlocks(folder, ['a'])).close();
    rmSync(path);
    const without = openCatalogue(path, []);
    const [row] = without.blocks.list();
    assert.deepEqual([row!.file, row!.damaged], ['a', 1]);
    assert.deepEqual(
      without.losses.list().map(({ part, mint }) => [part, mint]),
      [['a', -Infinity]],
    );
    without.close();
    await describedBlock(join(folder, 'blocks'), 'a');
    const again = openCatalogue(path, []);
    assert.deepEqual(
      [again.blocks.list().map(({ file, damaged }) => [file, damaged]), again.losses.list()],
      [[['a', 0]], []],
    );
    again.close();
  });

  test('takes back blocks that an earlier version put aside', async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = await describedBlocks(folder);
    const rows = first.blocks.list();
    first.close();
    const shelter = join(folder, 'blocks', 'without-catalogue');
    mkdirSync(shelter);
    ['a', 'b'].forEach((name) => renameSync(join(folder, 'blocks', name), join(shelter, name)));
    rmSync(path);
    const again = openCatalogue(path, []);
    assert.deepEqual(again.blocks.list(), rows);
    assert.equal(existsSync(shelter), false);
    again.close();
  });

  test('found damaged while it is open ends the thread, and its caller is told to come back', async (t) => {
    const ends: (() => void)[] = [];
    t.mock.method(globalThis, 'setImmediate', (end: () => void) => void ends.push(end));
    const corrupt = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT_INDEX' });
    const failing = (error: Error) => endingIfDamaged(() => Promise.reject(error))();
    await assert.rejects(failing(corrupt), { code: 'unavailable', retryAfterSeconds: 2 });
    await assert.rejects(failing(new Error('something else')), /something else/);
    assert.equal(ends.length, 1);
    assert.throws(ends[0]!, corrupt);
  });

  test('keeps losses in a file of their own; a damaged one is a loss of unknown extent', (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'catalogue.db');
    const first = openCatalogue(path, []);
    first.losses.add({ part: 'x', cause: 'gone', mint: -Infinity, maxt: 5 });
    first.close();
    writeFileSync(path, 'no database');
    const second = openCatalogue(path, []);
    assert.deepEqual(second.losses.list(), [
      { part: 'x', cause: 'gone', mint: -Infinity, maxt: 5 },
    ]);
    second.close();
    const bytes = readFileSync(join(folder, 'losses.json'));
    bytes[20]! ^= 1;
    writeFileSync(join(folder, 'losses.json'), bytes);
    const third = openCatalogue(path, []);
    assert.deepEqual(
      third.losses.list().map(({ part }) => part),
      ['the list of losses'],
    );
    third.losses.forget(Infinity);
    assert.equal(existsSync(join(folder, 'losses.json')), false);
    third.close();
  });
});

describe('retention', () => {
  const block = (
    id: number,
    maxt: number,
    bytes = 10,
  ): Pick<BlockRow, 'id' | 'maxt' | 'bytes'> => ({ id, maxt, bytes });

  test('lets go of what is too old, or too much, oldest first', () => {
    const blocks = [block(3, 300), block(1, 100), block(2, 200), block(4, 400)];
    assert.deepEqual(overdue(blocks, { maxAgeMs: 1_000, maxBytes: 1_000 }, 500), []);
    assert.deepEqual(overdue(blocks, { maxAgeMs: 250, maxBytes: 1_000 }, 500), [1, 2]);
    assert.deepEqual(
      overdue(blocks, { maxAgeMs: 300, maxBytes: 1_000 }, 500),
      [1],
      'a block that ends at the limit stays',
    );
    assert.deepEqual(overdue(blocks, { maxAgeMs: 1_000, maxBytes: 25 }, 500), [1, 2]);
    assert.deepEqual(
      overdue(blocks, { maxAgeMs: 0, maxBytes: 0 }, 5_000),
      [1, 2, 3],
      'the newest stays',
    );
    assert.deepEqual(overdue([], { maxAgeMs: 0, maxBytes: 0 }, 0), []);
  });

  test('never takes more than it must, nor a newer one before an older', () => {
    const some = fc
      .array(fc.tuple(fc.nat(1_000), fc.nat(50)), { maxLength: 12 })
      .map((all) => all.map(([maxt, bytes], id) => block(id, maxt, bytes)));
    fc.assert(
      fc.property(some, fc.nat(1_000), fc.nat(300), (blocks, maxAgeMs, maxBytes) => {
        const now = 1_000;
        const gone = new Set(overdue(blocks, { maxAgeMs, maxBytes }, now));
        const kept = blocks.filter(({ id }) => !gone.has(id));
        const taken = blocks.filter(({ id }) => gone.has(id));
        assert.ok(blocks.length === 0 || kept.length > 0);
        assert.ok(taken.every(({ maxt }) => kept.every((other) => other.maxt >= maxt)));
        if (kept.length > 1) {
          assert.ok(kept.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes);
          assert.ok(kept.every(({ maxt }) => maxt >= now - maxAgeMs));
        }
        const last = taken.toSorted((a, b) => a.maxt - b.maxt || a.id - b.id).at(-1);
        if (last !== undefined) {
          assert.ok(
            last.maxt < now - maxAgeMs ||
              kept.reduce((sum, { bytes }) => sum + bytes, last.bytes) > maxBytes,
            'the last one had to go',
          );
        }
      }),
    );
  });

  test('removes rows and files, and what the store keeps for them in the same step', async (t) => {
    const folder = folderOf(t);
    const catalogue = await withBlocks(folder, ['a', 'b', 'c']);
    const told: number[][] = [];
    const at = (now: number): RetentionClock =>
      new RetentionClock(catalogue, { now: () => now, log: listener() });
    assert.deepEqual(
      retain(catalogue, { maxAgeMs: 150, maxBytes: 1e9 }, at(300), (ids) =>
        told.push([...ids]),
      ).map(({ file }) => file),
      ['a'],
    );
    assert.deepEqual(files(folder), ['b', 'c']);
    assert.equal(told.length, 1);
    assert.deepEqual(retain(catalogue, { maxAgeMs: 1e9, maxBytes: 1e9 }, at(300)), []);
    catalogue.close();
  });
});

describe('a clock that cannot be believed', () => {
  test('makes nothing old for an hour, at a start and while it runs; then it does', async (t) => {
    const folder = folderOf(t);
    const catalogue = await withBlocks(folder, ['a', 'b', 'c']);
    const day = 86_400_000;
    const began = 20_000 * day;
    for (const [what, jump] of Object.entries({ ahead: 3_650 * day, back: -3_650 * day })) {
      for (const when of ['at a start', 'while it runs'] as const) {
        catalogue.lastSeen.set(began);
        let [wall, steady] = [began, 0];
        const opened = (): RetentionClock =>
          new RetentionClock(catalogue, {
            now: () => wall,
            monotonic: () => steady,
            log: listener(),
          });
        let clock = opened();
        assert.equal(clock.time(5), 5);
        wall += jump;
        clock = when === 'at a start' ? opened() : clock;
        for (const minutes of [0, 30, 29]) {
          wall += minutes * 60_000;
          steady += minutes * 60_000;
          assert.equal(clock.time(began + jump * 2), -Infinity, `${what} ${when}`);
        }
        assert.equal(catalogue.lastSeen.get(), began, 'a doubted time is not noted');
        wall += 120_000;
        steady += 120_000;
        assert.equal(clock.time(Infinity), wall);
      }
    }
    catalogue.close();
  });
});

describe('the space on the disk', () => {
  test('refuses writes in time, and takes them again by itself', () => {
    let now = 0;
    let free = 1_000;
    const disk = diskSpace('/data', {
      minFreeBytes: 100,
      minFreeShare: 0.05,
      everyMs: 10,
      now: () => now,
      look: () => ({ free, total: 4_000 }),
    });
    assert.equal(disk.refusal(), undefined);
    disk.assertWritable();
    free = 199;
    assert.equal(disk.refusal(), undefined, 'it looks only now and then');
    now = 10;
    assert.match(disk.refusal()!, /only 0 MiB of the disk under \/data are free/);
    assert.throws(() => disk.assertWritable(), { code: 'unavailable', retryAfterSeconds: 30 });
    free = 210;
    now = 20;
    assert.notEqual(disk.refusal(), undefined, 'not to and fro');
    free = 221;
    now = 30;
    assert.equal(disk.refusal(), undefined);
  });

  test('refuses when the disk does not answer, and asks the real one', (t) => {
    const disk = diskSpace('/nowhere/at/all');
    assert.match(disk.refusal()!, /does not answer/);
    assert.equal(diskSpace(folderOf(t), { minFreeBytes: 1, minFreeShare: 0 }).refusal(), undefined);
    assert.match(
      diskSpace(folderOf(t), { minFreeBytes: Number.MAX_SAFE_INTEGER }).refusal()!,
      /are needed/,
    );
  });
});
