import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';

import { nodeFiles, openWal, type Wal, type WalFiles } from 'svc/store';
import { unsummed } from '../../../../plugins/lib/store/bytes/summed.ts';
import { folderOf, listener } from './folder.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);
const segmentsIn = (folder: string): string[] => readdirSync(folder).sort();

interface Opened {
  readonly wal: Wal;
  readonly texts: readonly string[];
  readonly damage: readonly string[];
}

async function opened(folder: string, files?: WalFiles): Promise<Opened> {
  const wal = await openWal({ folder, log: listener(), ...(files && { files }) });
  const texts: string[] = [];
  await wal.replay((record) => void texts.push(record.toString()));
  return { wal, texts, damage: wal.damage.map(({ segment, what }) => `${segment} is ${what}`) };
}

async function found(folder: string): Promise<Omit<Opened, 'wal'>> {
  const { wal, ...rest } = await opened(folder);
  await wal.close();
  return rest;
}

/** Three segments of two records each, closed in order. */
async function filled(folder: string): Promise<void> {
  const { wal } = await opened(folder);
  for (const text of ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']) {
    await wal.append(bytesOf(text));
    if (text.endsWith('2')) {
      await wal.cut();
    }
  }
  await wal.close();
}

const all = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'];
const without = (letter: string): string[] => all.filter((text) => !text.startsWith(letter));

describe('the list of segments', () => {
  test('reports each deleted segment until its loss is accepted, and never reuses its number', async (t) => {
    for (const [number, letter] of 'abc'.split('').entries()) {
      const folder = join(folderOf(t), 'wal');
      await filled(folder);
      const name = segmentsIn(folder)[number]!;
      rmSync(join(folder, name));
      for (const start of ['first', 'second']) {
        const { texts, damage } = await found(folder);
        assert.deepEqual(texts, without(letter), start);
        assert.deepEqual(damage, [`${name} is missing: it held 2 records, 44 bytes`], start);
      }
      const { wal } = await opened(folder);
      await wal.append(bytesOf('later'));
      await wal.accept();
      assert.deepEqual(wal.damage, []);
      await wal.close();
      const { texts, damage } = await found(folder);
      assert.deepEqual([texts, damage], [[...without(letter), 'later'], []]);
      assert.ok(!existsSync(join(folder, name)));
    }
  });

  test('misses a segment also where the replay drops what it has read, and is killed before that is told', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    rmSync(join(folder, segmentsIn(folder)[0]!));
    truncateSync(join(folder, segmentsIn(folder)[0]!), 30);
    for (const start of ['first', 'second']) {
      const wal = await openWal({ folder, log: listener() });
      assert.deepEqual([wal.oldest, wal.has(1)], [1, true]);
      await wal.replay((_, segment) => wal.drop(segment));
      const missed = wal.damage.map(({ segment }) => segment).sort();
      assert.deepEqual(missed, ['0000000001.wal', '0000000002.wal'], start);
    }
    const { wal } = await opened(folder);
    await wal.drop(3);
    assert.deepEqual(segmentsIn(folder), ['0000000003.wal']);
    await wal.close();
    assert.deepEqual(await found(folder), { texts: ['c1', 'c2'], damage: [] });
  });

  test('misses all of them, folder included', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    rmSync(folder, { recursive: true });
    const { texts, damage } = await found(folder);
    assert.deepEqual([texts.length, damage.length], [0, 3]);
  });

  test('misses the end of a segment that was closed, wherever it is cut', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    const names = segmentsIn(folder);
    for (const [number, name] of names.entries()) {
      const path = join(folder, name);
      const whole = readFileSync(path);
      // Without its seal it still has all records.
      for (const size of [0, 5, 16, 20, 26, 35]) {
        truncateSync(path, size);
        const { texts, damage } = await found(folder);
        assert.equal(damage.length, 1, `${name} cut at ${size}`);
        assert.match(damage[0]!, /is cut off at byte \d+ of 44: [01] of its 2 records were read/);
        const left = all.filter((_, i) => i !== number * 2 + 1 && (i !== number * 2 || size >= 26));
        assert.deepEqual(texts, left, `${name} cut at ${size}`);
        assert.equal(statSync(path).size, size, 'what is damaged stays as it is');
        writeFileSync(path, whole);
      }
    }
    assert.deepEqual(await found(folder), { texts: all, damage: [] }, 'restored');
  });

  test('misses a segment in the place of another, and the end of one that was accepted once', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    const [first] = segmentsIn(folder).map((name) => join(folder, name)) as [string];
    const other = join(folderOf(t), 'wal');
    const { wal } = await opened(other);
    await Promise.all(['x1', 'x2'].map((text) => wal.append(bytesOf(text))));
    await wal.close();
    cpSync(join(other, segmentsIn(other)[0]!), first);
    assert.match((await found(folder)).damage.join(), /not the one that was written: 2 records/);
    const { wal: again } = await opened(folder);
    await again.accept();
    await again.close();
    assert.deepEqual((await found(folder)).damage, []);
    truncateSync(first, 30);
    assert.match((await found(folder)).damage.join(), /cut off at byte 26 of 44/);
  });

  test('lets the segment that was in use when the process was killed end anywhere', async (t) => {
    const parent = folderOf(t);
    const [live, killed] = [join(parent, 'live'), join(parent, 'killed')];
    const folder = join(live, 'wal');
    const { wal } = await opened(folder);
    await wal.append(bytesOf('one'));
    await wal.append(bytesOf('two'));
    for (const size of [0, 7, 16, 20, 26, 27, 33, 36]) {
      cpSync(live, killed, { recursive: true });
      truncateSync(join(killed, 'wal', segmentsIn(folder)[0]!), size);
      assert.deepEqual((await found(join(killed, 'wal'))).damage, [], `cut at ${size}`);
      assert.deepEqual((await found(join(killed, 'wal'))).damage, [], `cut at ${size}, again`);
      rmSync(killed, { recursive: true });
    }
    await wal.close();
  });

  test('is made for a folder of an earlier version, and forgives what such a version drops', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    const list = `${folder}.segments`;
    rmSync(list);
    assert.deepEqual(await found(folder), { texts: all, damage: [] });
    assert.ok(existsSync(list));
    // An earlier version writes on and drops, without the list.
    const kept = readFileSync(list);
    const { wal } = await opened(folder);
    await wal.append(bytesOf('d1'));
    await wal.drop(wal.segment);
    await wal.close();
    writeFileSync(list, kept);
    assert.deepEqual(await found(folder), { texts: ['d1'], damage: [] });
  });

  test('survives any flipped bit; beyond that it is set aside and the damage told', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    const list = `${folder}.segments`;
    const whole = readFileSync(list);
    rmSync(join(folder, segmentsIn(folder)[1]!));
    const content = unsummed(whole)!;
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const bad = Buffer.from(whole);
      bad[bit >> 3]! ^= 1 << (bit & 7);
      assert.deepEqual(unsummed(bad), content, `bit ${bit}`);
      // Opening it syncs files.
      if (bit % 401 === 0) {
        writeFileSync(list, bad);
        const { damage } = await found(folder);
        assert.match(damage.join(), /^0000000002.wal is missing/, `bit ${bit}`);
      }
    }
    for (const bad of [whole.subarray(0, 40), Buffer.from(whole).fill(0, 30, 50), Buffer.of()]) {
      writeFileSync(list, bad);
      const { texts, damage } = await found(folder);
      assert.deepEqual(texts, without('b'));
      assert.match(damage.join(), /^the list of WAL segments is damaged, kept as wal.segments.dam/);
    }
  });

  test('misses a segment that is deleted together with the list, by the copy of the list', async (t) => {
    const folder = join(folderOf(t), 'wal');
    let kept: Uint8Array | undefined;
    const copy = { read: () => kept, write: (list: Uint8Array) => void (kept = list) };
    const open = async (): Promise<Opened> => {
      const wal = await openWal({ folder, log: listener(), copy });
      const texts: string[] = [];
      await wal.replay((record) => void texts.push(record.toString()));
      return { wal, texts, damage: wal.damage.map(({ segment, what }) => `${segment} is ${what}`) };
    };
    const { wal } = await open();
    for (const text of all) {
      await wal.append(bytesOf(text));
      await (text.endsWith('2') && wal.cut());
    }
    await wal.close();
    const missing = ['0000000002.wal is missing: it held 2 records, 44 bytes'];
    rmSync(join(folder, '0000000002.wal'));
    for (const harm of [
      () => rmSync(`${folder}.segments`),
      () => truncateSync(`${folder}.segments`, 40),
    ]) {
      harm();
      const { wal: again, texts, damage } = await open();
      assert.deepEqual([texts, damage], [without('b'), missing]);
      await again.close();
      assert.deepEqual((await found(folder)).damage, missing, 'the list is back');
    }
    // A copy that cannot be read or written costs nothing.
    const broken = (): never => assert.fail('no such table');
    const blind = await openWal({ folder, log: listener(), copy: { read: broken, write: broken } });
    await blind.replay(() => undefined);
    await blind.append(bytesOf('d1'));
    await blind.close();
  });

  test('sees while the log is open what goes missing, and that nothing is once it is dropped', async (t) => {
    const folder = join(folderOf(t), 'wal');
    await filled(folder);
    const { wal } = await opened(folder);
    await wal.append(bytesOf('d1'));
    const path = (index: number): string => join(folder, segmentsIn(folder)[index]!);
    const [first, second, third, open] = [0, 1, 2, 3].map(path) as [string, string, string, string];
    const problems = async (full: boolean): Promise<string[]> => {
      await wal.look({ full });
      return wal.problems.map(({ segment, what }) => `${segment} is ${what}`);
    };
    assert.deepEqual(await problems(true), []);
    renameSync(first, `${first}-away`);
    truncateSync(second, 30);
    const bytes = readFileSync(third);
    bytes[20]! ^= 1;
    writeFileSync(third, bytes);
    truncateSync(open, 10);
    const { segment } = wal;
    assert.deepEqual(
      (await problems(false)).map((text) => text.replace(/:.*/, '')),
      [
        `${basename(first)} is missing`,
        `${basename(second)} is cut off at byte 30 of 44`,
        `${basename(open)} is cut off at byte 10 of 26`,
      ],
    );
    assert.ok(wal.segment > segment, 'nothing more goes into a segment that is damaged');
    await wal.append(bytesOf('e1'));
    assert.match(
      (await problems(true)).join(),
      /damaged at byte 16: 1 records were read, 10 bytes/,
    );
    assert.equal((await problems(false)).length, 4, 'the size says nothing of the content');
    renameSync(`${first}-away`, first);
    assert.equal((await problems(false)).length, 3, 'what is back counts');
    await wal.drop(wal.segment);
    assert.deepEqual(await problems(true), []);
    await wal.close();
    assert.deepEqual(await found(folder), { texts: ['e1'], damage: [] });
  });
});

test('a segment whose header is still being written is no damage', async (t) => {
  const folder = join(folderOf(t), 'wal');
  const gate = new EventEmitter();
  const header = once(gate, 'header');
  const created = once(gate, 'created');
  const files: WalFiles = {
    ...nodeFiles,
    async create(path) {
      const file = await nodeFiles.create(path);
      return {
        ...file,
        async write(parts, at) {
          gate.emit('created');
          await header;
          await file.write(parts, at);
        },
        sync: () => file.sync(),
        truncate: (size) => file.truncate(size),
        close: () => file.close(),
      };
    },
  };
  const { wal } = await opened(folder, files);
  const appended = wal.append(bytesOf('one'));
  await created;
  for (const full of [false, true]) {
    await wal.look({ full });
    assert.deepEqual(wal.problems, []);
  }
  gate.emit('header');
  await appended;
  await wal.close();
  assert.deepEqual(await found(folder), { texts: ['one'], damage: [] });
});

/** Keeps a copy of a folder as each step on files leaves it, which is what a kill after it leaves. */
function watched(parent: string, copied: (step: string) => void): WalFiles {
  const after = <A extends readonly unknown[], R>(
    name: string,
    step: (...given: A) => Promise<R>,
  ): ((...given: A) => Promise<R>) => {
    return async (...given) => {
      const result = await step(...given);
      copied(`${name} ${typeof given[0] === 'string' ? given[0].slice(parent.length) : ''}`);
      return result;
    };
  };
  return {
    replace: after('replace', nodeFiles.replace),
    rename: after('rename', nodeFiles.rename),
    empty: after('empty', nodeFiles.empty),
    remove: after('remove', nodeFiles.remove),
    create: after('create', async (path) => {
      const file = await nodeFiles.create(path);
      return {
        write: after('write', file.write),
        sync: after('sync', file.sync),
        truncate: after('truncate', file.truncate),
        close: after('close', file.close),
      };
    }),
  };
}

test('a kill after any step of the log makes no false alarm and loses nothing', async (t) => {
  const parent = folderOf(t);
  const folder = join(parent, 'live', 'wal');
  const cases: { at: string; copy: string; acknowledged: string[]; dropped: number }[] = [];
  const acknowledged: [text: string, segment: number][] = [];
  let dropped = 0;
  const files = watched(parent, (step) => {
    const copy = join(parent, `case-${cases.length}`);
    cpSync(dirname(folder), copy, { recursive: true });
    const texts = acknowledged.filter(([, segment]) => segment >= dropped).map(([text]) => text);
    cases.push({ at: step, copy, acknowledged: texts, dropped });
  });
  for (let start = 0; start < 2; start++) {
    const { wal } = await opened(folder, files);
    const append = async (text: string): Promise<void> =>
      void acknowledged.push([text, await wal.append(bytesOf(text))]);
    await append(`${start} a`);
    await wal.cut();
    await append(`${start} b`);
    await Promise.all([wal.cut(), append(`${start} c`)]);
    dropped = wal.segment - 1;
    await wal.drop(dropped);
    await append(`${start} d`);
    await wal.close();
  }
  assert.ok(cases.length > 40, `${cases.length} steps`);
  for (const { at, copy, acknowledged: texts } of cases) {
    for (const start of ['first', 'second']) {
      const { texts: there, damage } = await found(join(copy, 'wal'));
      assert.deepEqual(damage, [], `after ${at}, ${start} start`);
      assert.deepEqual(
        texts.filter((text) => !there.includes(text)),
        [],
        `after ${at}, ${start} start`,
      );
    }
  }
});

test('a full disk gets the space of what is dropped back, although the list does not fit', async (t) => {
  const folder = join(folderOf(t), 'wal');
  let isFull = false;
  const files: WalFiles = {
    ...nodeFiles,
    async replace(path, content) {
      const used = readdirSync(folder).reduce(
        (sum, name) => sum + statSync(join(folder, name)).size,
        0,
      );
      if (isFull && used > 0) {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      }
      await nodeFiles.replace(path, content);
    },
  };
  const { wal } = await opened(folder, files);
  await wal.append(bytesOf('one'));
  const number = await wal.cut();
  isFull = true;
  await wal.drop(number);
  assert.deepEqual(segmentsIn(folder), []);
  await wal.append(bytesOf('two'));
  await wal.close();
  assert.deepEqual(await found(folder), { texts: ['two'], damage: [] });
});
