import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { budget, matcher } from 'svc/query';

import { body, linesOf, openStore, present, push, read } from './fixture.ts';

describe('lines that were pushed', () => {
  test('are found at once, after they went into a block, and after a restart', async (t) => {
    const opened = await openStore(t);
    const labels = { app: 'web', host: 'h1' };
    assert.deepEqual(
      await push(opened.store, labels, [
        [1, 'one'],
        [2, 'two', { trace_id: 'abc' }],
        [3, 'lvl=error three'],
      ]),
      { accepted: 3, rejected: 0, reasons: [] },
    );
    const expected = [
      {
        at: 1,
        line: 'one',
        labels: { app: 'web', host: 'h1', service_name: 'web' },
        metadata: { detected_level: 'unknown' },
      },
      {
        at: 2,
        line: 'two',
        labels: { app: 'web', host: 'h1', service_name: 'web' },
        metadata: { detected_level: 'unknown', trace_id: 'abc' },
      },
      {
        at: 3,
        line: 'lvl=error three',
        labels: { app: 'web', host: 'h1', service_name: 'web' },
        metadata: { detected_level: 'error' },
      },
    ];
    const plain = async (): Promise<unknown> =>
      JSON.parse(JSON.stringify(await read(opened.store)));
    assert.deepEqual(await plain(), expected, 'in memory');
    await opened.again();
    assert.deepEqual(await plain(), expected, 'from the log');
    await opened.store.flush();
    assert.deepEqual([opened.store.status().blocks, opened.store.status().heldBytes], [1, 0]);
    assert.deepEqual(await plain(), expected, 'in a block');
    await opened.again();
    assert.deepEqual(await plain(), expected, 'in a block, after a restart');
  });

  test('come in the asked direction over blocks, chunks that wait and memory, each once', async (t) => {
    const opened = await openStore(t, { cuts: { chunkBytes: 400 } });
    const times = Array.from({ length: 300 }, (_, i) => (i * 7919) % 1000);
    for (let i = 0; i < times.length; i += 10) {
      await push(
        opened.store,
        { app: `a${i % 3}` },
        times.slice(i, i + 10).map((at) => [at, `line ${at}`]),
      );
      if (i === 100 || i === 200) {
        await opened.store.flush();
      }
    }
    const sorted = [...new Set(times)].sort((a, b) => a - b);
    for (const app of ['a0', 'a1', 'a2']) {
      const matchers = [matcher('app', '=', app)];
      const forward = await read(opened.store, { matchers });
      assert.deepEqual(
        forward.map(({ at }) => at),
        [...forward].map(({ at }) => at).sort((a, b) => a - b),
        `${app} forward`,
      );
      assert.deepEqual(
        await read(opened.store, { matchers, direction: 'backward' }),
        [...forward].reverse(),
        `${app} backward`,
      );
      const window = await read(opened.store, { matchers, start: 200, end: 500 });
      assert.deepEqual(
        window,
        forward.filter(({ at }) => at >= 200 && at < 500),
        'start is inclusive, end is not',
      );
    }
    assert.equal((await read(opened.store)).length, sorted.length);
  });

  test('are told once when they were pushed twice, also when a block lies between', async (t) => {
    const { store } = await openStore(t);
    const values = [
      [5, 'same'],
      [5, 'other'],
      [5, 'same', { pod: 'p' }],
      [1, 'early'],
    ] as const;
    await push(store, { app: 'web' }, values);
    await push(store, { app: 'web' }, values);
    assert.deepEqual(linesOf(await read(store)), ['early', 'same', 'other', 'same']);
    await store.flush();
    await push(store, { app: 'web' }, values);
    assert.deepEqual(linesOf(await read(store)).sort(), ['early', 'other', 'same', 'same']);
    await store.flush();
    assert.deepEqual(linesOf(await read(store, { direction: 'backward' })).sort(), [
      'early',
      'other',
      'same',
      'same',
    ]);
  });

  test('that a question reads from memory stay as they are while they go into chunks and others take their place', async (t) => {
    const { store } = await openStore(t, { cuts: { chunkBytes: 2_000 } });
    const lineOf = (app: string, round: number, i: number): string =>
      `${app}, round ${round}, line ${i} `.padEnd(100, '-');
    const fill = (app: string, round: number): Promise<unknown> =>
      push(
        store,
        { app },
        Array.from({ length: 12 }, (_, i) => [round * 1_000 + i, lineOf(app, round, i)] as const),
      );
    await fill('early', 0);
    await fill('late', 1);
    const limits = budget({ timeoutMs: 60_000, now: () => performance.now() });
    const found: string[] = [];
    const everything = [
      { ms: 0, ns: 0 },
      { ms: 2e12, ns: 0 },
      { direction: 'forward', contains: ['round'] },
      limits,
    ] as const;
    for await (const { entries } of store
      .source()
      .select([matcher('app', '=~', '.+')], ...everything)) {
      if (found.length === 0) {
        for (let round = 2; round < 12; round++) {
          await fill('late', round);
        }
        await store.flush();
      }
      found.push(...entries.map(({ line }) => line));
    }
    const asked = (app: string, round: number): string[] =>
      Array.from({ length: 12 }, (_, i) => lineOf(app, round, i));
    assert.deepEqual(found, [...asked('early', 0), ...asked('late', 1)]);
    assert.deepEqual(linesOf(await read(store, { contains: ['round 7'] })), asked('late', 7));
    assert.equal((await read(store)).length, 12 * 12);
  });

  test('keep their nanoseconds, and any text', async (t) => {
    const { store } = await openStore(t);
    const texts = [
      '',
      'tab\tand "quotes" \\ and \u0000',
      'Grüße 🚀 漢字',
      '\ud83d half a pair',
      'line\nbreak',
    ];
    await push(
      store,
      { app: 'web' },
      texts.map((text, i) => [`${present}00000${i}`, text]),
    );
    await store.flush();
    const found = await read(store);
    assert.deepEqual(
      linesOf(found),
      texts.map((text) => text.replace('\ud83d half', '\ufffd half')),
    );
    assert.deepEqual(
      found.map(({ at }) => Math.round(at * 1e6)),
      [0, 1, 2, 3, 4],
    );
  });

  test('are found by texts they hold, never across the border of two lines', async (t) => {
    const { store } = await openStore(t);
    await push(store, { app: 'web' }, [
      [1, 'abc needle'],
      [2, 'xneed'],
      [3, 'le'],
      [4, 'needle and pin'],
      [5, 'pin'],
    ]);
    for (const place of ['memory', 'block']) {
      assert.deepEqual(
        linesOf(await read(store, { contains: ['needle'] })),
        ['abc needle', 'needle and pin'],
        place,
      );
      assert.deepEqual(
        linesOf(await read(store, { contains: ['pin', 'needle'], direction: 'backward' })),
        ['needle and pin'],
        place,
      );
      assert.deepEqual(await read(store, { contains: ['absent'] }), [], place);
      await store.flush();
    }
  });
});

describe('what the store keeps', () => {
  test('goes by age and by bytes, oldest first, with the streams that are empty then', async (t) => {
    const opened = await openStore(t, { retention: { maxAgeMs: 86_400_000, maxBytes: 1e9 } });
    const { store, clock } = opened;
    await push(store, { app: 'old' }, [[0, 'old']]);
    await store.flush();
    clock.now += 2 * 86_400_000;
    await push(store, { app: 'new' }, [[2 * 86_400_000, 'new']]);
    await store.flush();
    await store.tidy();
    assert.deepEqual(linesOf(await read(store)), ['new']);
    assert.equal(store.status().streams, 1);
    await push(store, { app: 'new' }, [[2 * 86_400_000 + 1, 'newest']]);
    await store.flush();
    store.setLimits({}, { maxAgeMs: 1e12, maxBytes: 1 });
    await store.tidy();
    assert.deepEqual(
      linesOf(await read(store)),
      ['newest'],
      'the newest block stays whatever the limit',
    );
    await opened.again();
    assert.deepEqual(
      linesOf(await read(opened.store)),
      ['newest'],
      'and nothing comes back from the log',
    );
  });

  test('leaves memory when a stream falls silent', async (t) => {
    const { store, clock } = await openStore(t);
    await push(store, { app: 'web' }, [[1, 'x']]);
    clock.now += 5 * 60_000;
    await store.tidy();
    assert.equal(store.status().activeStreams, 0);
    clock.now += 15 * 60_000;
    await store.tidy();
    assert.deepEqual([store.status().blocks, store.status().heldBytes], [1, 0]);
    assert.deepEqual(linesOf(await read(store)), ['x']);
  });

  test('of slow streams does not hold on to a log full of lines that are in blocks', async (t) => {
    const cuts = {
      chunkBytes: 20_000,
      blockBytes: 60_000,
      segmentBytes: 100_000,
      slackBytes: 100_000,
    };
    const opened = await openStore(t, { cuts });
    const most = 4 * cuts.segmentBytes;
    for (let round = 0; round < 100; round++) {
      await push(opened.store, { app: 'slow' }, [[round, `tick ${round}`]]);
      await push(opened.store, { app: 'fast' }, [[round, `${round} ${'x'.repeat(20_000)}`]]);
    }
    await opened.store.tidy();
    const { walBytes, heldBytes } = opened.store.status();
    assert.ok(walBytes - heldBytes <= most, `${walBytes} bytes of log, ${heldBytes} in memory`);
    await opened.again();
    assert.equal(
      (await read(opened.store, { matchers: [matcher('app', '=', 'slow')] })).length,
      100,
    );
    assert.equal(
      (await read(opened.store, { matchers: [matcher('app', '=', 'fast')] })).length,
      100,
    );
  });

  test('a damaged chunk costs its own lines only, and is told', async (t) => {
    const opened = await openStore(t);
    await push(opened.store, { app: 'one' }, [[1, 'a'.repeat(300)]]);
    await push(opened.store, { app: 'two' }, [[1, 'intact']]);
    await opened.store.flush();
    const [name] = readdirSync(join(opened.folder, 'blocks'));
    const path = join(opened.folder, 'blocks', name!);
    const bytes = readFileSync(path);
    bytes[12] = bytes[12]! ^ 0xff;
    writeFileSync(path, bytes);
    await opened.again();
    const told: string[] = [];
    assert.deepEqual(linesOf(await read(opened.store, { unread: (what) => told.push(what) })), [
      'intact',
    ]);
    assert.equal(told.length, 1);
    assert.match(told[0]!, /1 lines cannot be read: The block .* section 0 does not hold/);
    assert.match(opened.store.status().damage.join(), /does not hold what was written/);
    assert.ok(
      !told.join().includes(opened.folder),
      'an answer does not tell where the data folder is',
    );
    bytes[12] = bytes[12] ^ 0xff;
    writeFileSync(path, bytes);
    assert.deepEqual(
      linesOf(await read(opened.store)).length,
      2,
      'what was put back is there at once',
    );
    await opened.store.tidy();
    assert.deepEqual(opened.store.status().damage, []);
  });

  test('two damages of one block are both told by check and mend, and mending one keeps the other', async (t) => {
    const opened = await openStore(t);
    for (let n = 0; n < 4; n++) {
      await push(opened.store, { app: `of ${n}` }, [[1, `${n} `.repeat(300)]]);
    }
    await opened.store.flush();
    const [name] = readdirSync(join(opened.folder, 'blocks'));
    const path = join(opened.folder, 'blocks', name!);
    const bytes = readFileSync(path);
    bytes.fill(0x55, 10, 20);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(path, bytes);
    await opened.again();
    const both =
      /: its index has a flipped bit at byte \d+, and is read as it was written; section 0 does not hold what was written$/;
    const checked = await opened.store.care('check');
    assert.match(checked.damage.join(), both);
    assert.deepEqual(checked.acceptable, []);
    for (const request of ['mend', 'accept', 'check'] as const) {
      const { damage, acceptable } = await opened.store.care(request);
      assert.match(damage.join(), /^[^:]+: section 0 does not hold what was written$/, request);
      assert.deepEqual(acceptable, []);
    }
    bytes.fill(0x55, 8, bytes.length - 400);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(path, bytes);
    const { damage } = await opened.store.care('check');
    assert.match(damage.join(), /: sections 0-\d+ do not hold what was written$/);
    rmSync(path);
    const missing = await opened.store.care('mend');
    assert.match(missing.damage.join(), /: the file is missing$/);
    assert.deepEqual(missing.acceptable, missing.damage);
    assert.deepEqual((await opened.store.care('accept')).acceptable, []);
  });

  test('is refused while the disk is full, and read all the same; then it goes on by itself', async (t) => {
    let free = 1e12;
    const { store } = await openStore(t, {
      disk: { look: () => ({ free, total: 1e12 }), everyMs: 0 },
    });
    await push(store, { app: 'web' }, [[1, 'before']]);
    free = 1;
    await assert.rejects(push(store, { app: 'web' }, [[2, 'during']]), {
      code: 'unavailable',
      retryAfterSeconds: 30,
    });
    assert.match(store.status().trouble!, /nothing new is stored/);
    assert.deepEqual(linesOf(await read(store)), ['before']);
    free = 1e12;
    await push(store, { app: 'web' }, [[3, 'after']]);
    assert.deepEqual(linesOf(await read(store)), ['before', 'after']);
  });

  test('stays in memory while no block can be written, within bounds, and goes into one later', async (t) => {
    const opened = await openStore(t, { cuts: { memoryBytes: 20_000 } });
    const blocks = join(opened.folder, 'blocks');
    renameSync(blocks, `${blocks}-away`);
    writeFileSync(blocks, '');
    let taken = 0;
    const more = async (): Promise<void> => {
      for (; taken < 500; taken++) {
        await push(opened.store, { app: 'web' }, [[taken, `line ${taken} ${'x'.repeat(1_000)}`]]);
      }
    };
    await assert.rejects(more(), {
      code: 'unavailable',
      message: /a block of \d+ chunks could not be written/,
    });
    assert.ok(taken > 20 && taken < 100, `${taken} were taken`);
    assert.match(opened.store.status().trouble!, /could not be written/);
    assert.equal((await read(opened.store)).length, taken);

    rmSync(blocks);
    renameSync(`${blocks}-away`, blocks);
    opened.clock.now += 5_000;
    await opened.store.flush();
    assert.deepEqual(
      [opened.store.status().trouble, opened.store.status().heldBytes],
      [undefined, 0],
    );
    await more();
    assert.equal((await read(opened.store)).length, 500);
  });

  test('comes back after a crash that left more in the log than memory may hold', async (t) => {
    const opened = await openStore(t);
    for (let i = 0; i < 40; i++) {
      await push(
        opened.store,
        { app: `a${i % 5}` },
        Array.from(
          { length: 50 },
          (_, n) => [i * 50 + n, `line ${i * 50 + n} ${'x'.repeat(100)}`] as const,
        ),
      );
    }
    const store = await opened.again({ cuts: { memoryBytes: 50_000 } });
    assert.ok(store.status().blocks > 0, 'some of it went into blocks on the way');
    assert.ok(store.status().heldBytes < 150_000);
    assert.equal((await read(store)).length, 2_000);
  });
});

test('a body that is no push is refused as a whole', async (t) => {
  const { store } = await openStore(t);
  const refused = (text: string): Promise<void> =>
    assert.rejects(store.push('loki-json', Buffer.from(text), {}), { code: 'invalid_argument' });
  await refused('{');
  await refused('[]');
  await refused('{"streams":[{"stream":{"app":"t"},"values":[[1,"x"]]}]}');
  await refused('{"streams":[{"stream":{"app":"t"},"values":[["abc","x"]]}]}');
  await refused('{"streams":[{"stream":{"app":1},"values":[]}]}');
  await assert.rejects(store.push('loki-json', Buffer.from('{"streams":[]}'), {}), {
    status: 422,
    message: 'error at least one valid stream is required for ingestion',
  });
  await assert.rejects(store.push('loki-json', Buffer.from('{}'), {}), { status: 422 });
  await assert.rejects(store.push('loki-proto', Buffer.from('x'), {}), {
    message: 'snappy: corrupt input',
  });
  await assert.rejects(store.push('loki-json', body({}, []), { encoding: 'lzma' }), {
    status: 415,
  });
});
