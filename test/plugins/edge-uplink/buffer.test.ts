import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { crc32c } from '../../../plugins/edge-uplink/buffer/crc32c.ts';
import { DiskBuffer, type Lane } from '../../../plugins/edge-uplink/buffer/disk-buffer.ts';
import { Pace } from '../../../plugins/edge-uplink/pace.ts';
import { retryAfter } from '../../../plugins/edge-uplink/push.ts';
import { bench } from './buffer-bench.ts';
import { programOf } from '../../program-of.ts';

const child = fileURLToPath(new URL('buffer-child.ts', import.meta.url));

async function openBuffer(t: TestContext, { folder = '', maxBytes = 64 * 1024 * 1024 } = {}) {
  const { clock, scope, end } = bench();
  const made = folder === '' ? mkdtempSync(join(tmpdir(), 'svc-buffer-')) : folder;
  const buffer = await DiskBuffer.open({ folder: made, clock, scope, maxBytes });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) {
      closed = true;
      await buffer.close();
      end();
    }
  };
  t.after(async () => {
    await close();
    rmSync(made, { recursive: true, force: true });
  });
  const put = (lane: Lane, text: string): Promise<void> =>
    buffer.put(lane, { to: '/x', type: 'text/plain', items: 1 }, Buffer.from(text), true);
  /** Returns what leaves, until nothing does. */
  const drain = async (lane: Lane, replay = true): Promise<string[]> => {
    const left: string[] = [];
    for (let next = await buffer.next(lane, replay); next; next = await buffer.next(lane, replay)) {
      left.push(Buffer.from(next.record.body).toString());
      await buffer.left(lane, next);
    }
    return left;
  };
  return { buffer, folder: made, put, drain, close };
}

test('the checksum is that of Castagnoli', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
});

test('what was said to be durable survives a kill, and leaves in the order it came', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-buffer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let acknowledged = -1;
  for (let round = 0; round < 3; round++) {
    const writer = spawn(
      process.execPath,
      [...programOf(child), folder, String(acknowledged + 1_000)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    writer.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.split('\n').length > 30 + 7 * round) {
        writer.kill('SIGKILL');
      }
    });
    await once(writer, 'close');
    acknowledged = Number(text.trimEnd().split('\n').at(-1));
    const { drain, close } = await openBuffer(t, { folder });
    const numbers = (await drain('logs')).map((body) => Number(body.split(' ')[0]));
    assert.ok(numbers.includes(acknowledged), `${acknowledged} was durable`);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    assert.ok(numbers.at(-1)! <= acknowledged + 1);
    await close();
  }
});

test('a torn tail is cut, and what was damaged in the middle is counted and passed over', async (t) => {
  const first = await openBuffer(t);
  for (const text of ['a', 'b', 'c']) {
    await first.put('metrics', text);
  }
  await first.close();
  const lane = join(first.folder, 'metrics');
  const file = join(
    lane,
    readdirSync(lane).find((name) => name.endsWith('.seg'))!,
  );
  appendFileSync(file, Buffer.from([9, 0, 0, 0, 1, 2, 3]));
  const second = await openBuffer(t, { folder: first.folder });
  await second.put('metrics', 'd');
  assert.deepEqual(await second.drain('metrics'), ['d', 'a', 'b', 'c']);
  await second.put('metrics', 'e');
  await second.put('metrics', 'f'.repeat(2 * 1024 * 1024));
  await second.put('metrics', 'g');
  const bytes = readFileSync(file);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(file, bytes);
  assert.deepEqual(
    (await second.drain('metrics')).map((text) => text.slice(0, 1)),
    ['f', 'g'],
  );
  assert.deepEqual([...second.buffer.dropped], [['metrics damaged', 1]]);
});

test('a full buffer drops the oldest of what matters least, says how much, and takes nothing that matters less', async (t) => {
  const { buffer, put, drain } = await openBuffer(t, { maxBytes: 6 * 1024 * 1024 });
  const big = 'x'.repeat(900 * 1024);
  for (const lane of [
    'traces',
    'traces',
    'logs',
    'logs',
    'metrics',
    'metrics',
    'metrics',
    'metrics',
  ] as const) {
    await put(lane, big);
  }
  assert.deepEqual([...buffer.dropped], [['traces full', 2]]);
  await put('events', big);
  assert.deepEqual(
    [...buffer.dropped],
    [
      ['traces full', 2],
      ['logs full', 1],
    ],
  );
  await assert.rejects(
    put('traces', big),
    /This machine's buffer is full of data that has priority over traces/,
  );
  assert.equal((await drain('metrics')).length, 4);
  assert.equal((await drain('events')).length, 1);
  assert.equal(buffer.status.dropped, 3);
});

test('a full disk costs what matters least, which is counted, breaks nothing, and is over when there is room again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-buffer-full-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'none', folder]).status !== 0) {
    rmSync(folder, { recursive: true });
    t.skip('only root can mount a small disk');
    return;
  }
  const first = await openBuffer(t, { folder: join(folder, 'wal') });
  t.after(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const big = 'x'.repeat(200_000);
  const refused = new Map<string, number>();
  for (let round = 0; round < 12; round++) {
    for (const lane of ['traces', 'logs', 'metrics'] as const) {
      await first.put(lane, big).catch(() => refused.set(lane, (refused.get(lane) ?? 0) + 1));
    }
  }
  assert.equal(refused.get('metrics'), undefined);
  for (let round = 0; round < 30; round++) {
    await first.put('metrics', `${round} ${big}`);
  }
  await first.put('events', 'a shell was opened');
  // Whatever room a dropped segment has left is used up.
  await assert.rejects(async () => {
    for (let round = 0; round < 30; round++) {
      await first.put('traces', big);
      await first.put('metrics', `${round} ${big}`);
    }
  }, /Failed to write to this machine's buffer: ENOSPC/);
  const { dropped } = first.buffer;
  assert.ok(dropped.get('traces full')! > 0 && dropped.get('logs full')! > 0);
  await first.close();

  const second = await openBuffer(t, { folder: join(folder, 'wal') });
  assert.deepEqual(await second.drain('events'), ['a shell was opened']);
  const kept = (await second.drain('metrics')).map((text) => Number(text.slice(0, 2)));
  assert.ok(kept.length >= 20, kept.join());
  assert.ok(
    kept.every((round, index) => index === 0 || round === kept[index - 1]! + 1 || round === 0),
    kept.join(),
  );
  assert.equal(second.buffer.dropped.size, 0);
  await second.put('traces', big);
  assert.equal((await second.drain('traces')).length, 1);
  await second.close();
});

test('what is new goes before what has waited, and what has waited stays in order', async (t) => {
  const { buffer, put, drain } = await openBuffer(t);
  await put('logs', 'old one');
  await put('logs', 'old two');
  await buffer.markWaiting('logs');
  await put('logs', 'new one');
  assert.deepEqual(await drain('logs', false), ['new one']);
  assert.equal(buffer.hasWaited('logs'), true);
  await put('logs', 'new two');
  await buffer.markWaiting('logs');
  await put('logs', 'newest');
  assert.deepEqual(await drain('logs'), ['newest', 'old one', 'old two', 'new two']);
  assert.equal(buffer.hasWaited('logs'), false);
  assert.equal(buffer.status.queued_bytes, 0);
});

test('what has waited follows at twice the pace of what is new, and slowly when nothing is', () => {
  let now = 0;
  const pace = new Pace({ now: () => now, monotonic: () => now });
  const replayed = (seconds: number, livePerSecond: number): number => {
    let sent = 0;
    for (const end = now + seconds * 1_000; now < end; now += 100) {
      pace.sentLive(livePerSecond / 10);
      for (; pace.waitMs() === 0; sent += 50_000) {
        pace.sentReplay(50_000);
      }
    }
    return sent / seconds;
  };
  assert.ok(Math.abs(replayed(20, 0) / (256 * 1024) - 1) < 0.2);
  replayed(120, 1_000_000);
  const fast = replayed(60, 1_000_000);
  assert.ok(fast <= 2_100_000 && fast > 1_500_000, String(fast));
});

test('Retry-After is read as seconds and as a date, and never beyond ten minutes', () => {
  const clock = { now: () => Date.parse('2026-11-22T00:00:00Z') };
  assert.equal(retryAfter('7', clock), 7_000);
  assert.equal(retryAfter('Sun, 22 Nov 2026 00:00:30 GMT', clock), 30_000);
  assert.equal(retryAfter('86400', clock), 600_000);
  assert.equal(retryAfter('soon', clock), undefined);
});
