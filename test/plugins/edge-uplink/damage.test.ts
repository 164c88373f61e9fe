import assert from 'node:assert/strict';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startTestEdge } from 'svc/testing';

import { DiskBuffer, type LaneLoss } from '../../../plugins/edge-uplink/buffer/disk-buffer.ts';
import { flipBit } from '../../drill/flip-bit.ts';
import { rounds } from '../../drill/rounds.ts';
import { bench } from './buffer-bench.ts';
import { numbers } from '../alert/random.ts';
import { startManager, until } from './far-side.ts';

const began = Date.parse('2026-11-22T00:00:00Z');
const head = { to: '/x', type: 'text/plain', items: 1 };
const lengths = [0, 7, 300, 40_000, 90_000];

/** Fills the buffer in this folder: record n is left in second n, and some of the first have left. */
async function fill(folder: string, records: number, sent: number): Promise<void> {
  const { scope, end } = bench();
  let now = began;
  const clock = { now: () => now, monotonic: () => now };
  const buffer = await DiskBuffer.open({ folder, clock, scope, maxBytes: 64 * 1024 * 1024 });
  for (let n = 0; n < records; n += 1) {
    now = began + n * 1_000;
    // Records that name others in their bodies must not be taken for them.
    const body = `${n} {"to":"/x"} ${String(n % 10).repeat(lengths[n % lengths.length]!)}`;
    await buffer.put('metrics', head, Buffer.from(body), true);
  }
  for (let n = 0; n < sent; n += 1) {
    await buffer.left('metrics', (await buffer.next('metrics', true))!);
  }
  await buffer.close();
  end();
}

/** What leaves a buffer, and what it says to have lost. */
async function drained(folder: string): Promise<{ bodies: string[]; losses: LaneLoss[] }> {
  const { clock, scope, end } = bench();
  const losses: LaneLoss[] = [];
  const buffer = await DiskBuffer.open({
    folder,
    clock,
    scope,
    maxBytes: 64 * 1024 * 1024,
    onDamage: (loss) => losses.push(loss),
  });
  const bodies: string[] = [];
  for (
    let next = await buffer.next('metrics', true);
    next;
    next = await buffer.next('metrics', true)
  ) {
    bodies.push(Buffer.from(next.record.body).toString());
    await buffer.left('metrics', next);
  }
  assert.equal(buffer.status.damaged?.length, losses.length);
  await buffer.close();
  end();
  return { bodies, losses };
}

test('a flipped bit costs the record it is in, which is named with its file, its bytes and its time', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-damage-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const sound = join(home, 'sound');
  await fill(sound, 60, 13);
  const numberOf = (body: string): number => Number(body.split(' ')[0]);
  const copied = join(home, 'copied');
  const fresh = (): string => {
    rmSync(copied, { recursive: true, force: true });
    cpSync(sound, copied, { recursive: true });
    return join(copied, 'metrics');
  };
  fresh();
  const whole = (await drained(copied)).bodies;
  assert.equal(whole.length, 47);
  const seed = rounds(7, Date.now() % 100_000);
  const random = numbers(seed);
  const files = readdirSync(join(sound, 'metrics'));
  assert.ok(files.length >= 3, files.join());
  let lost = 0;
  for (let round = 0; round < rounds(80, 2_000); round += 1) {
    const lane = fresh();
    const file = join(lane, files[round % files.length]!);
    const at = random(statSync(file).size);
    flipBit(file, at);
    const where = `seed ${seed}, bit at ${at} of ${file}`;
    const { bodies, losses } = await drained(copied);
    assert.deepEqual(
      bodies.filter((body) => !whole.includes(body) && numberOf(body) >= 13),
      [],
      `${where}: nothing else than what was put`,
    );
    const missing = whole.filter((body) => !bodies.includes(body));
    assert.ok(missing.length <= 1, `${where}: ${missing.length} are lost`);
    for (const body of missing) {
      lost += 1;
      const [loss] = losses;
      const left = began + numberOf(body) * 1_000;
      assert.deepEqual([losses.length, loss?.lane, loss?.file], [1, 'metrics', file], where);
      assert.ok(loss!.bytes > body.length && loss!.bytes < body.length + 200, where);
      assert.ok((loss!.from ?? 0) <= left && left <= (loss!.to ?? Infinity), where);
      assert.ok(loss!.from !== undefined || loss!.to !== undefined, where);
    }
    assert.ok(missing.length === 1 || losses.length === 0, `${where}: nothing is lost`);
  }
  assert.ok(lost >= rounds(30, 800), `${lost} of the flips cost a record`);

  const lane = fresh();
  const last = join(
    lane,
    files
      .filter((name) => name.endsWith('.seg'))
      .sort()
      .at(-1)!,
  );
  writeFileSync(last, readFileSync(last).subarray(0, -100));
  const torn = await drained(copied);
  assert.deepEqual([torn.bodies.length, torn.losses], [46, []], 'a write that a kill has ended');
});

test('an agent tells its log and its manager what a damaged buffer has cost', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-damage-'));
  const wal = join(dataDir, 'plugins/edge-uplink/wal');
  await fill(wal, 3, 0);
  const file = join(wal, 'metrics/0000000001.seg');
  flipBit(file, 150);
  const manager = await startManager(t);
  writeFileSync(join(dataDir, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  const edge = await startTestEdge(t, { plugins: ['edge-uplink', 'setting'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  await manager.session();
  await until('it is in the log', () =>
    edge.lines.some((line) => line.includes('uplink.buffer_damaged')),
  );
  const line = edge.lines.find((one) => one.includes('uplink.buffer_damaged'))!;
  const logged = JSON.parse(line) as Record<string, unknown>;
  const times = { from: '2026-11-22T00:00:00.000Z', to: '2026-11-22T00:00:02.000Z' };
  assert.deepEqual(
    [logged['file'], logged['lane'], logged['from'], logged['to']],
    [file, 'metrics', times.from, times.to],
  );
  await until('the manager is told', () =>
    manager.events('buffer').some(({ damaged }) => (damaged as unknown[])?.length === 1),
  );
  const { damaged } = manager.events('buffer').at(-1)!;
  assert.deepEqual(damaged, [{ lane: 'metrics', file, bytes: logged['bytes'], ...times }]);
  await until('the others have left', () => manager.pushes.length === 2);
});
