import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { nodeFiles, openWal, type Wal, type WalFiles, type WalReplay } from 'svc/store';
import { run as killAgainAndAgain } from '../../../drill/telemetry-wal.ts';
import { folderOf as parentOf, listener } from './folder.ts';

/** The list of segments is beside their folder. */
const folderOf = (t: Parameters<typeof parentOf>[0]): string => join(parentOf(t), 'wal');

const bytesOf = (text: string): Buffer => Buffer.from(text);

async function contents(folder: string): Promise<{
  readonly texts: string[];
  readonly replay: WalReplay;
  readonly damage: readonly string[];
  readonly said: string[];
}> {
  const log = listener();
  const wal = await openWal({ folder, log });
  const texts: string[] = [];
  const replay = await wal.replay((record) => void texts.push(record.toString()));
  await wal.close();
  return {
    texts,
    replay,
    damage: wal.damage.map(({ segment, what }) => `${segment} is ${what}`),
    said: log.said,
  };
}

const filesIn = (folder: string): string[] => readdirSync(folder).sort();

/** Stops like a killed process: nothing is sealed. */
async function abandoned(folder: string, texts: readonly string[]): Promise<Wal> {
  const wal = await openWal({ folder, log: listener() });
  for (const text of texts) {
    await wal.append(bytesOf(text));
  }
  return wal;
}

describe('the log of a store', () => {
  test('gives back what was appended, in order, across restarts and segments', async (t) => {
    const folder = folderOf(t);
    const expected: string[] = [];
    for (let start = 0; start < 3; start++) {
      const wal = await openWal({ folder, segmentBytes: 150, log: listener() });
      const seen: string[] = [];
      await wal.replay((record) => void seen.push(record.toString()));
      assert.deepEqual(seen, expected);
      for (let i = 0; i < 20; i++) {
        await wal.append(bytesOf(`start ${start}`), bytesOf(''), bytesOf(`, record ${i}`));
        expected.push(`start ${start}, record ${i}`);
      }
      await wal.close();
    }
    assert.ok(filesIn(folder).length > 6);
    const { texts, replay, damage } = await contents(folder);
    assert.deepEqual(texts, expected);
    assert.deepEqual(replay, { records: 60, segments: filesIn(folder).length, tornBytes: 0 });
    assert.deepEqual(damage, []);
  });

  test('shares one sync among those that wait, and keeps their order', async (t) => {
    const folder = folderOf(t);
    let syncs = 0;
    const files: WalFiles = {
      ...nodeFiles,
      async create(path) {
        const file = await nodeFiles.create(path);
        return { ...file, sync: () => (syncs++, file.sync()) };
      },
    };
    const wal = await openWal({ folder, log: listener(), files });
    await Promise.all(Array.from({ length: 500 }, (_, i) => wal.append(bytesOf(`record ${i}`))));
    assert.ok(syncs < 10, `${syncs} syncs`);
    await wal.close();
    assert.deepEqual(
      (await contents(folder)).texts,
      Array.from({ length: 500 }, (_, i) => `record ${i}`),
    );
  });

  test('takes records of many parts and of many megabytes', async (t) => {
    const folder = folderOf(t);
    const wal = await openWal({ folder, log: listener() });
    const large = Buffer.alloc(9 * 1024 * 1024, 'large');
    await Promise.all([
      wal.append(...Array.from({ length: 3_000 }, (_, i) => bytesOf(`${i},`))),
      wal.append(large),
      wal.append(bytesOf('end')),
    ]);
    await wal.close();
    const { texts } = await contents(folder);
    assert.deepEqual(
      [texts[0]!.length, texts[1] === large.toString(), texts[2]],
      [Array.from({ length: 3_000 }, (_, i) => `${i},`).join('').length, true, 'end'],
    );
    await assert.rejects(wal.append(bytesOf('late')), { code: 'unavailable' });
    const again = await openWal({ folder, log: listener() });
    await assert.rejects(again.append(), { code: 'invalid_argument' });
    await again.close();
  });

  test('is cut where its head is cut, and dropped below it', async (t) => {
    const folder = folderOf(t);
    const wal = await openWal({ folder, log: listener() });
    const before = wal.append(bytesOf('before'));
    const cut = wal.cut();
    const after = wal.append(bytesOf('after'));
    const number = await cut;
    assert.ok((await before) < number);
    assert.equal(await after, number);
    assert.equal(wal.segment, number);
    const held = wal.bytes;
    await wal.drop(number);
    assert.ok(wal.bytes < held);
    assert.equal(wal.bytes, statSync(join(folder, filesIn(folder)[0]!)).size);
    await wal.drop(number + 5);
    assert.equal(await wal.append(bytesOf('still')), number, 'the segment in use is never dropped');
    assert.equal(await wal.cut(), number + 1);
    assert.equal(await wal.cut(), number + 1, 'nothing was appended since');
    await wal.close();
    assert.deepEqual((await contents(folder)).texts, ['after', 'still']);
  });

  test('cut short at any byte gives back every record before, and goes on', async (t) => {
    const folder = folderOf(t);
    const texts = ['first', 'second', 'third'];
    const wal = await abandoned(join(folder, 'whole'), texts);
    const whole = join(folder, 'whole', filesIn(join(folder, 'whole'))[0]!);
    const { size } = statSync(whole);
    const ends = [16, 16 + 13, 16 + 13 + 14, 16 + 13 + 14 + 13];
    assert.equal(size, ends[3]);
    for (let cut = 0; cut <= size; cut++) {
      for (const filler of ['nothing', 'zeros'] as const) {
        const torn = join(folder, `${cut}-${filler}`);
        mkdirSync(torn, { recursive: true });
        const path = join(torn, '0000000001.wal');
        copyFileSync(whole, path);
        truncateSync(path, cut);
        if (filler === 'zeros') {
          truncateSync(path, cut + 40);
        }
        const count = Math.max(0, ends.filter((end) => end <= cut).length - 1);
        const first = await contents(torn);
        assert.deepEqual(first.texts, texts.slice(0, count), `cut at ${cut}`);
        assert.deepEqual(first.damage, []);
        assert.equal(
          first.replay.tornBytes > 0,
          filler === 'zeros' || (!ends.includes(cut) && cut > 0),
          `cut at ${cut}, ${filler}`,
        );
        const next = await openWal({ folder: torn, log: listener() });
        await next.replay(() => undefined);
        await next.append(bytesOf('more'));
        await next.close();
        const second = await contents(torn);
        assert.deepEqual(second.texts, [...texts.slice(0, count), 'more']);
        assert.equal(second.replay.tornBytes, 0);
      }
    }
    await wal.close();
  });

  test('with any byte of a finished segment changed says so, gives back every other record, and reads the later segments', async (t) => {
    const folder = folderOf(t);
    const wal = await openWal({ folder: join(folder, 'whole'), log: listener() });
    for (const text of ['one', 'two', 'three', 'four']) {
      await wal.append(bytesOf(text));
    }
    await wal.cut();
    await wal.append(bytesOf('later'));
    await wal.close();
    const [first, second] = filesIn(join(folder, 'whole')) as [string, string];
    const good = readFileSync(join(folder, 'whole', first));
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at]! ^= 0x41;
      const changed = join(folder, String(at));
      mkdirSync(changed, { recursive: true });
      writeFileSync(join(changed, first), bad);
      copyFileSync(join(folder, 'whole', second), join(changed, second));
      const { texts, damage, said } = await contents(changed);
      const sealAt = good.length - 8;
      if (at >= sealAt) {
        assert.deepEqual(texts, ['one', 'two', 'three', 'four', 'later'], `byte ${at} of the seal`);
        continue;
      }
      const ends = [27, 38, 51, 63];
      const whole = ['one', 'two', 'three', 'four'].filter(
        (_, i) => at < (ends[i - 1] ?? 16) || ends[i]! <= at,
      );
      assert.deepEqual(texts, [...whole, 'later'], `byte ${at}`);
      assert.equal(damage.length, 1, `byte ${at}`);
      assert.match(
        damage[0]!,
        new RegExp(`${first} is damaged at byte \\d+: ${whole.length} records were read`),
      );
      assert.ok(said.some((line) => line.startsWith('error:')));
      assert.equal(
        readFileSync(join(changed, first)).equals(bad),
        true,
        'what is damaged stays as it is',
      );
    }
  });

  test('with a byte changed in the segment that was in use says so, unless it is the length of the last record', async (t) => {
    const folder = folderOf(t);
    const wal = await abandoned(join(folder, 'whole'), ['one', 'two', 'three', 'four']);
    const good = readFileSync(join(folder, 'whole', '0000000001.wal'));
    for (let at = 16; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at]! ^= 0x41;
      const changed = join(folder, String(at));
      mkdirSync(changed, { recursive: true });
      writeFileSync(join(changed, '0000000001.wal'), bad);
      const { texts, damage } = await contents(changed);
      const ends = [27, 38, 51, 63];
      const whole = ['one', 'two', 'three', 'four'].filter(
        (_, i) => at < (ends[i - 1] ?? 16) || ends[i]! <= at,
      );
      assert.deepEqual(texts, whole, `byte ${at}`);
      assert.equal(damage.length, at < 51 || at >= 55 ? 1 : 0, `byte ${at}`);
    }
    await wal.close();
  });

  test('refuses what would pass its bounds', async (t) => {
    const folder = folderOf(t);
    const wal = await openWal({ folder, maxBytes: 1_000, log: listener() });
    await wal.append(Buffer.alloc(900));
    await assert.rejects(wal.append(Buffer.alloc(200)), {
      code: 'unavailable',
      retryAfterSeconds: 5,
    });
    const number = await wal.cut();
    await wal.drop(number);
    await wal.append(Buffer.alloc(200));
    await wal.close();
    const busy = await openWal({ folder: join(folder, 'busy'), log: listener() });
    const body = Buffer.alloc(50 * 1024 * 1024);
    const waiting = [busy.append(body), busy.append(body)];
    await assert.rejects(busy.append(body), { code: 'rate_limited', retryAfterSeconds: 1 });
    await Promise.all(waiting);
    await busy.append(bytesOf('again'));
    await busy.close();
  });
});

/** Creates a disk with limited capacity: what does not fit is written partially, and fails. */
function diskOf(room: { left: number; broken?: 'sync' | 'truncate' | 'close' }): WalFiles {
  const full = (): Error => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  return {
    ...nodeFiles,
    async create(path) {
      const file = await nodeFiles.create(path);
      return {
        ...file,
        async write(parts, position) {
          const whole = Buffer.concat(parts);
          const fits = Math.min(whole.length, room.left);
          room.left -= fits;
          await file.write([whole.subarray(0, fits)], position);
          if (fits < whole.length) {
            throw full();
          }
        },
        async sync() {
          if (room.broken === 'sync') {
            throw Object.assign(new Error('input/output error'), { code: 'EIO' });
          }
          await file.sync();
        },
        async truncate(size) {
          if (room.broken === 'truncate') {
            throw full();
          }
          await file.truncate(size);
        },
        async close() {
          await file.close();
          if (room.broken === 'close') {
            throw Object.assign(new Error('input/output error'), { code: 'EIO' });
          }
        },
      };
    },
  };
}

describe('the log of a store on a full or broken disk', () => {
  for (const broken of [undefined, 'truncate'] as const) {
    test(`acknowledges nothing that does not fit${broken === undefined ? '' : ', also where it cannot be cut back'}, and goes on when there is space`, async (t) => {
      for (let space = 0; space < 120; space += 7) {
        const folder = folderOf(t);
        const room = { left: space, ...(broken !== undefined && { broken }) };
        const wal = await openWal({ folder, log: listener(), files: diskOf(room) });
        const acknowledged: string[] = [];
        for (const text of ['one', 'two', 'three', 'four', 'five', 'six']) {
          await wal.append(bytesOf(text)).then(
            () => acknowledged.push(text),
            (error: unknown) =>
              assert.deepEqual(
                [
                  (error as { code: string }).code,
                  (error as { retryAfterSeconds: number }).retryAfterSeconds,
                ],
                ['unavailable', 5],
              ),
          );
        }
        room.left = 1_000_000;
        await Promise.all(
          ['seven', 'eight'].map((text) =>
            wal.append(bytesOf(text)).then(() => acknowledged.push(text)),
          ),
        );
        await wal.close();
        const { texts, damage } = await contents(folder);
        assert.deepEqual(texts, acknowledged, `space for ${space} bytes`);
        assert.deepEqual(damage, []);
      }
    });
  }

  test('goes on when a segment cannot be closed', async (t) => {
    const folder = folderOf(t);
    const wal = await openWal({
      folder,
      segmentBytes: 20,
      log: listener(),
      files: diskOf({ left: 1e9, broken: 'close' }),
    });
    await wal.append(bytesOf('one'));
    await wal.cut();
    await wal.append(bytesOf('two'));
    await wal.close();
    assert.deepEqual((await contents(folder)).texts, ['one', 'two']);
  });

  test('fails all that waited for a sync that failed, and never trusts that file again', async (t) => {
    const folder = folderOf(t);
    const room: { left: number; broken?: 'sync' } = { left: 1e9 };
    const wal = await openWal({ folder, log: listener(), files: diskOf(room) });
    const first = await wal.append(bytesOf('safe'));
    room.broken = 'sync';
    const results = await Promise.allSettled([wal.append(bytesOf('a')), wal.append(bytesOf('b'))]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    delete room.broken;
    assert.ok((await wal.append(bytesOf('after'))) > first);
    await wal.close();
    assert.deepEqual((await contents(folder)).texts, ['safe', 'after']);
  });
});

test('a process that appends and is killed loses nothing that it acknowledged', async () => {
  const outcome = await killAgainAndAgain({ rounds: 4 });
  assert.ok(Number(outcome['acknowledged appends']) > 100, JSON.stringify(outcome));
});
