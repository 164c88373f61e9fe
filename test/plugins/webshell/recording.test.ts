import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Cast } from '../../../plugins/webshell/recording/cast.ts';
import { Recorder } from '../../../plugins/webshell/recording/recorder.ts';
import { readSealedFile, SealedFile } from '../../../plugins/webshell/recording/sealed-file.ts';
import { until } from './house.ts';

const key = Buffer.alloc(32, 7);
const clock = { now: () => 1_700_000_000_000, monotonic: () => performance.now() };
/** Timer that never fires: a test flushes by itself. */
const after = () => {};
const counted = () => ({ bytesIn: 3, bytesOut: 70_000 });
const size = { counted, cols: 80, rows: 24, term: 'xterm', title: 'root@host' };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-recording-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function read(
  place: { path: string; key: Uint8Array; name: string },
  torn = false,
): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of readSealedFile(place, { torn })) {
    pieces.push(piece);
  }
  return gunzipSync(Buffer.concat(pieces)).toString('utf8');
}

test('characters that a connection cuts anywhere are whole in the recording', () => {
  const text = 'grüße 漢字 🦊 é ok';
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at += 1) {
    const cast = new Cast({ ...size, timestamp: 0 });
    const lines =
      cast.output(1, bytes.subarray(0, at)) + cast.output(2, bytes.subarray(at)) + cast.end(3);
    const shown = lines
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as [number, string, string])[2]);
    assert.equal(shown.join(''), text, `cut at ${at}`);
  }
});

test('a recording is sealed, reads as it was written, and does not open when anything of it is another', async (t) => {
  const path = join(folder(t), '1');
  const place = { path, key, name: '1' };
  const recorder = await Recorder.start({
    ...size,
    file: await SealedFile.create(place),
    clock,
    after,
    maxBytes: 1e6,
    failed: () => assert.fail(),
    drained: () => {},
  });
  recorder.output(Buffer.from('a secret line\r\n'));
  await recorder.flush();
  recorder.resize({ cols: 100, rows: 30 });
  const kept = await recorder.finish();
  assert.ok(kept && kept.bytes > 0 && /^[0-9a-f]{64}$/.test(kept.sha256));
  const lines = (await read(place)).trimEnd().split('\n');
  const header = JSON.parse(lines[0]!) as { version: number; width: number };
  assert.deepEqual([header.version, header.width, lines.length], [2, 80, 3]);
  assert.ok(lines[1]!.includes('a secret line') && lines[2]!.includes('100x30'));

  const bytes = readFileSync(path);
  assert.equal(bytes.includes('secret'), false);
  await assert.rejects(read({ ...place, name: '2' }), /Recording 2 is damaged/);
  await assert.rejects(read({ ...place, key: Buffer.alloc(32, 8) }), /is damaged/);
  for (const at of [9, 40, bytes.length - 1]) {
    const altered = Buffer.from(bytes);
    altered[at]! ^= 1;
    writeFileSync(`${path}.altered`, altered);
    await assert.rejects(read({ ...place, path: `${path}.altered` }), /is damaged/, `byte ${at}`);
  }
});

test('what was shown goes to the disk by itself within 50 ms, and no batch is begun before the one under way is there', async (t) => {
  const path = join(folder(t), '1');
  const timed: { ms: number; work: () => void }[] = [];
  const file = await SealedFile.create({ path, key, name: '1' });
  const pieces: Uint8Array[] = [];
  let release: (() => void) | undefined;
  const write = file.write.bind(file);
  file.write = async (piece, tally) => {
    pieces.push(piece);
    if (pieces.length === 2) {
      await new Promise<void>((resolve) => (release = resolve));
    }
    await write(piece, tally);
  };
  const recorder = await Recorder.start({
    ...size,
    file,
    clock,
    maxBytes: 1e6,
    drained: () => {},
    failed: () => assert.fail(),
    after: (ms, work) => void timed.push({ ms, work }),
  });
  const shown = (at: number): string => gunzipSync(pieces[at]!).toString();
  timed.shift()!.work();
  await new Promise((resolve) => setImmediate(resolve));
  recorder.output(Buffer.from('one'));
  recorder.output(Buffer.from('two'));
  assert.ok(timed.length === 1 && timed[0]!.ms <= 50, 'one timer for both');
  timed.shift()!.work();
  await until('the first batch is under way', () => release !== undefined);
  assert.ok(shown(1).includes('one') && shown(1).includes('two'));
  recorder.output(Buffer.from('three'));
  timed.shift()!.work();
  recorder.output(Buffer.from('four'));
  assert.equal(pieces.length, 2);
  release!();
  await until('the next one is', () => pieces.length === 3);
  assert.ok(shown(2).includes('three') && shown(2).includes('four'));
  await recorder.finish();
});

test('of a recording that a crash has cut off, everything up to the last whole batch is there', async (t) => {
  const path = join(folder(t), '1');
  const place = { path, key, name: '1' };
  const recorder = await Recorder.start({
    ...size,
    file: await SealedFile.create(place),
    clock,
    after,
    maxBytes: 1e6,
    failed: () => assert.fail(),
    drained: () => {},
  });
  recorder.output(Buffer.from('first'));
  await recorder.flush();
  recorder.output(Buffer.from('second'));
  await recorder.flush();
  copyFileSync(path, `${path}.cut`);
  await recorder.finish();
  const cut = { ...place, path: `${path}.cut` };
  await assert.rejects(read(cut), /is damaged/);
  assert.ok((await read(cut, true)).includes('second'));
  truncateSync(cut.path, readFileSync(cut.path).length - 3);
  const rest = await read(cut, true);
  assert.ok(rest.includes('first') && !rest.includes('second'));
});

test('a disk that takes no more is told at once, and so is a recording that is as long as it may be', async (t) => {
  const full = join(folder(t), 'full');
  symlinkSync('/dev/full', full);
  await assert.rejects(SealedFile.create({ path: full, key, name: '1' }), { code: 'ENOSPC' });

  const place = { path: join(folder(t), '2'), key, name: '2' };
  const told: string[] = [];
  const file = await SealedFile.create(place);
  let broken = false;
  const write = file.write.bind(file);
  file.write = (...piece) => (broken ? Promise.reject(new Error('ENOSPC')) : write(...piece));
  const recorder = await Recorder.start({
    ...size,
    file,
    clock,
    after,
    maxBytes: 1e6,
    failed: (why) => told.push(why),
    drained: () => {},
  });
  broken = true;
  recorder.output(Buffer.from('lost'));
  await recorder.flush();
  assert.deepEqual(told, ['disk']);
  assert.equal(await recorder.finish(), undefined);

  const small = { path: join(folder(t), '3'), key, name: '3' };
  const short = await Recorder.start({
    ...size,
    file: await SealedFile.create(small),
    clock,
    after,
    maxBytes: 1_000,
    failed: (why) => told.push(why),
    drained: () => {},
  });
  short.output(
    Buffer.from(
      Array.from({ length: 60 }, (_, index) =>
        createHash('sha512').update(String(index)).digest('base64'),
      ).join(''),
    ),
  );
  await short.flush();
  assert.deepEqual(told, ['disk', 'full']);
  assert.ok(await short.finish());
  assert.ok((await read(small)).startsWith('{"version":2'));
});
