import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';

import { closeCode, type TunnelHandlers, type TunnelService, type TunnelStream } from 'svc/tunnel';

import { SvcError } from '../../../../core/sdk/index.ts';
import {
  decodeFrame,
  encodeFrame,
  frameType,
} from '../../../../plugins/lib/tunnel/message/frames.ts';
import { ByteQueue } from '../../../../plugins/lib/tunnel/session/byte-queue.ts';
import { memorySides, socketSides, turns, until } from './pair.ts';

const KiB = 1_024;

/** Services of an edge: `echo` sends back, `sink` never reads, `flood` writes without end, `count` tells what came. */
function services(kept: TunnelStream[] = []): TunnelHandlers {
  return {
    methods: new Map([['ping', { handle: () => 'pong' }]]),
    services: new Map<string, TunnelService>([
      ['echo', (stream) => void stream.pipe(stream)],
      ['sink', (stream) => void kept.push(stream)],
      [
        'flood',
        (stream) => {
          const block = Buffer.alloc(32 * KiB, 0x79);
          const more = (): void => {
            while (!stream.destroyed && stream.write(block)) {
              // Until it is told to wait.
            }
          };
          stream.on('drain', more);
          more();
        },
      ],
      [
        'no',
        () => {
          throw new SvcError('forbidden', 'only 127.0.0.1:22 is allowed here');
        },
      ],
      [
        'breaks',
        () => {
          throw new Error('inner');
        },
      ],
      ['later', () => new Promise(() => undefined)],
    ]),
  };
}

test('bytes arrive whole and in order through a real connection, both ways', async (t) => {
  const { manager } = await socketSides(t, { edge: services() });
  const stream = await manager.open('echo', {});
  const sent = createHash('sha256');
  const got = createHash('sha256');
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    got.update(chunk);
    bytes += chunk.length;
  });
  const total = 8 * KiB * KiB;
  for (let left = total; left > 0;) {
    const chunk = randomBytes(Math.min(left, 1 + Math.floor(Math.random() * 100_000)));
    left -= chunk.length;
    sent.update(chunk);
    if (!stream.write(chunk)) {
      await once(stream, 'drain');
    }
  }
  stream.end();
  await once(stream, 'end');
  assert.equal(bytes, total);
  assert.equal(got.digest('hex'), sent.digest('hex'));
  await until(() => manager.stats.streams === 0);
});

test('a service may refuse, break, be unknown, or never answer: the opener hears of it in time', async () => {
  const { manager, edge, log, pass } = memorySides({ edge: services() });
  await assert.rejects(manager.open('no', { host: '10.0.0.1' }), /only 127\.0\.0\.1:22/);
  await assert.rejects(manager.open('breaks', {}), /failed on the other side/);
  assert.match(log.lines.join(), /inner/);
  await assert.rejects(manager.open('toString', {}), /service toString does not exist/);
  const late = assert.rejects(
    manager.open('later', {}, { timeoutMs: 1_000 }),
    /did not open later within 1000 ms/,
  );
  await turns(2);
  pass(1_100);
  await late;
  await turns(2);
  assert.deepEqual([manager.stats.streams, edge.stats.streams], [0, 0]);
});

test('a stream that nobody reads costs its window, stops its writer, and calls go on beside it', async (t) => {
  const kept: TunnelStream[] = [];
  const { manager, edge } = await socketSides(t, { edge: services(kept) });
  const stream = await manager.open('sink', {});
  let written = 0;
  while (stream.write(Buffer.alloc(16 * KiB))) {
    written += 16 * KiB;
  }
  await turns(50);
  while (stream.write(Buffer.alloc(16 * KiB))) {
    written += 16 * KiB;
  }
  await turns(50);
  assert.ok(stream.writableNeedDrain);
  const arrived = edge.stats.bytesIn;
  assert.ok(arrived <= (256 + 16) * KiB, `${arrived} bytes crossed for a window of 256 KiB`);
  assert.ok(written >= 256 * KiB && written <= 512 * KiB, String(written));
  assert.equal(await manager.call('ping', {}, { timeoutMs: 1_000 }), 'pong');
  // Reading sets it going again.
  const drained = once(stream, 'drain');
  kept[0]!.resume();
  await drained;
});

test('32 streams that nobody reads keep 4 MiB and not more', async (t) => {
  const kept: TunnelStream[] = [];
  const { manager, edge } = await socketSides(t, { edge: services(kept) });
  const streams = await Promise.all(Array.from({ length: 32 }, () => manager.open('sink', {})));
  await assert.rejects(manager.open('sink', {}), /32 streams .* are already open/);
  for (const stream of streams) {
    stream.write(Buffer.alloc(1_024 * KiB));
  }
  await turns(200);
  assert.ok(edge.stats.bytesIn <= 4.1 * KiB * KiB, String(edge.stats.bytesIn));
  assert.ok(edge.stats.bytesIn >= 3.9 * KiB * KiB, String(edge.stats.bytesIn));
  assert.equal(await manager.call('ping', {}, { timeoutMs: 1_000 }), 'pong');
});

test('streams take turns, and calls overtake all of them', async () => {
  const { manager, wires } = memorySides({ edge: services() });
  const [a, b] = await Promise.all([manager.open('echo', 'a'), manager.open('echo', 'b')]);
  wires.manager.stalled = true;
  wires.manager.sent.length = 0;
  a.write(Buffer.alloc(200 * KiB));
  b.write(Buffer.alloc(200 * KiB));
  const call = manager.call('ping', {}, { timeoutMs: 1_000 });
  await turns(2);
  wires.manager.stalled = false;
  wires.manager.flow();
  assert.equal(await call, 'pong');
  const order = wires.manager.sent
    .map((bytes) => decodeFrame(bytes)!)
    .filter(({ type }) => type === frameType.data || type === frameType.request);
  const request = order.findIndex(({ type }) => type === frameType.request);
  assert.ok(
    request <= 5,
    `the call went out as number ${request}, behind data that was still waiting`,
  );
  const both = order
    .filter(({ type }) => type === frameType.data)
    .map(({ id, n }) => (assert.ok(n <= 16 * KiB), id));
  // Once both have something to send they alternate.
  const later = both.slice(5, 20);
  assert.ok(
    later.every((id, at) => at === 0 || id !== later[at - 1]),
    later.join(),
  );
});

test('a flood in one stream does not starve another, nor calls', async (t) => {
  const { manager } = await socketSides(t, { edge: services() });
  const floods = await Promise.all([1, 2, 3].map(() => manager.open('flood', {})));
  const received = floods.map(() => 0);
  floods.forEach((stream, at) =>
    stream.on('data', (chunk: Buffer) => (received[at]! += chunk.length)),
  );
  const echo = await manager.open('echo', {});
  for (let round = 0; round < 50; round += 1) {
    echo.write(`line ${round}`);
    const [answer] = (await once(echo, 'data')) as [Buffer];
    assert.equal(answer.toString(), `line ${round}`);
    await manager.call('ping', {}, { timeoutMs: 5_000 });
  }
  const [least, most] = [Math.min(...received), Math.max(...received)];
  assert.ok(least > 0 && most < 3 * least, received.join());
  floods.forEach((stream) => stream.destroy());
  await until(() => manager.stats.streams === 1);
});

test('a reset tells the other side why; what is late for it harms nothing', async () => {
  const kept: TunnelStream[] = [];
  const { manager, edge } = memorySides({ edge: services(kept) });
  const stream = await manager.open('sink', {});
  const failed = once(kept[0]!, 'error');
  kept[0]!.write('never read');
  stream.reset('forbidden', 'your access has ended');
  const [error] = (await failed) as [SvcError];
  assert.deepEqual([error.code, error.message], ['forbidden', 'your access has ended']);
  await turns(3);
  assert.ok(manager.live && edge.live);
  assert.deepEqual([manager.stats.streams, edge.stats.streams], [0, 0]);
});

test('half of a stream may end before the other', async () => {
  const { manager } = memorySides({ edge: { services: new Map([['upper', answer]]) } });
  function answer(stream: TunnelStream): void {
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('end', () => stream.end(text.toUpperCase()));
  }
  const stream = await manager.open('upper', {});
  stream.end('some words');
  let got = '';
  stream.on('data', (chunk: Buffer) => (got += chunk.toString()));
  await once(stream, 'end');
  assert.equal(got, 'SOME WORDS');
  await turns(3);
  assert.equal(manager.stats.streams, 0);
});

test('streams end with their connection, and nobody has to listen to that', async () => {
  const kept: TunnelStream[] = [];
  const { manager, wires } = memorySides({ edge: services(kept) });
  const stream = await manager.open('sink', {});
  stream.write(Buffer.alloc(1_024 * KiB));
  wires.manager.terminate();
  await turns(2);
  assert.ok(stream.destroyed && kept[0]!.destroyed);
  assert.match(String(stream.errored), /has ended/);
});

test('who sends more than was granted, or after the end, loses the connection', async () => {
  const open = (id: number): Buffer => encodeFrame(frameType.open, id, '{"s":"sink","w":65536}');
  const block = encodeFrame(frameType.data, 1, Buffer.alloc(64 * KiB));
  for (const messages of [
    [open(1), ...Array.from({ length: 5 }, () => block)],
    [open(1), encodeFrame(frameType.fin, 1), encodeFrame(frameType.data, 1, 'x')],
    [open(1), encodeFrame(frameType.fin, 1), encodeFrame(frameType.fin, 1)],
    [open(1), encodeFrame(frameType.reset, 1, '{}'), encodeFrame(frameType.data, 1, 'x')],
  ]) {
    const { manager, wires } = memorySides({ manager: services() });
    for (const message of messages) {
      wires.manager.arrive(message);
      await turns(1);
    }
    assert.equal((await manager.closed).code, closeCode.protocol);
  }
});

test('a stream sent byte by byte is kept at the price of its bytes', () => {
  const queue = new ByteQueue();
  const bytes = randomBytes(300_000);
  const taken: Buffer[] = [];
  let seed = 7;
  for (let at = 0; at < bytes.length;) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const size = seed % 7 === 0 ? 1 + (seed % 5_000) : 1 + (seed % 40);
    queue.push(bytes.subarray(at, at + size));
    at += size;
    if (seed % 5 === 0) {
      taken.push(queue.take(1 + (seed % 3_000)));
    }
  }
  taken.push(queue.take(Infinity));
  assert.equal(queue.length, 0);
  assert.ok(Buffer.concat(taken).equals(bytes));

  const before = process.memoryUsage().arrayBuffers;
  const trickle = new ByteQueue();
  for (let at = 0; at < 256 * KiB; at += 1) {
    trickle.push(bytes.subarray(at % 1_000, (at % 1_000) + 1));
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 512 * KiB);
  assert.equal(trickle.length, 256 * KiB);
});
