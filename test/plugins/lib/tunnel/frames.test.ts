import assert from 'node:assert/strict';
import { test } from 'node:test';

import { closeCode } from 'svc/tunnel';

import {
  decodeFrame,
  encodeCredit,
  encodeFrame,
  frameType,
  ProtocolViolation,
} from '../../../../plugins/lib/tunnel/message/frames.ts';
import { memorySides, turns } from './pair.ts';

const request = (id: number, body: object): Buffer =>
  encodeFrame(frameType.request, id, JSON.stringify(body));

function changed(frame: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(frame);
  change(copy);
  return copy;
}

const good = request(3, { m: 'm', dl: 10 });
const deep = `{"m":"m","dl":10,"p":${'['.repeat(40)}${']'.repeat(40)}}`;

/** Messages that an edge may send in violation of the protocol. */
const violations: Readonly<Record<string, string | Buffer>> = {
  'a text message': 'hello',
  'nothing at all': Buffer.alloc(0),
  'half a header': good.subarray(0, 11),
  'reserved bits': changed(good, (bytes) => (bytes[3] = 1)),
  'an unknown type': changed(good, (bytes) => (bytes[0] = 99)),
  'flags that a request does not have': changed(good, (bytes) => (bytes[1] = 1)),
  'a length that is not that of the payload': changed(good, (bytes) => bytes.writeUInt32BE(5, 8)),
  'a body that is no JSON': encodeFrame(frameType.request, 3, 'x'),
  'a body that is a list': encodeFrame(frameType.request, 3, '[]'),
  'a body nested too deeply': encodeFrame(frameType.request, 3, deep),
  'a call without a method': request(3, { dl: 10 }),
  'a call without a deadline': request(3, { m: 'm' }),
  'a call with an id of the other side': request(4, { m: 'm', dl: 10 }),
  'a call with the id 0': request(0, { m: 'm', dl: 10 }),
  'an answer to nothing': encodeFrame(frameType.response, 2, '{}'),
  'an answer to a call of its own': encodeFrame(frameType.response, 3, '{}'),
  'a cancel of nothing': encodeFrame(frameType.cancel, 3),
  'data for a stream that never was': encodeFrame(frameType.data, 3, 'x'),
  'data for one of ours that never was': encodeFrame(frameType.data, 2, 'x'),
  'credit for a stream that never was': encodeCredit(3, 10),
  'an end of a stream that never was': encodeFrame(frameType.fin, 5),
  'a ping with an id': encodeFrame(frameType.ping, 1),
  'a ping with a payload': encodeFrame(frameType.ping, 0, 'x'),
  'a frame of the handshake': encodeFrame(frameType.hello, 0, '{}'),
  'a good-bye without a reason': encodeFrame(frameType.goAway, 0, '{}'),
  'an event without a name': encodeFrame(frameType.event, 0, '{}'),
  'an opening without a window': encodeFrame(frameType.open, 3, '{"s":"x"}'),
  'an opening with an absurd window': encodeFrame(frameType.open, 3, '{"s":"x","w":1e12}'),
};

for (const [what, message] of Object.entries(violations)) {
  test(`${what} ends that connection, and harms nothing else`, async () => {
    const broken = memorySides();
    const other = memorySides({ edge: { methods: new Map([['m', { handle: () => 'fine' }]]) } });
    broken.wires.manager.arrive(message);
    await turns(3);
    const { code } = await broken.manager.closed;
    assert.equal(code, closeCode.protocol);
    assert.equal(broken.log.lines.length, 1, broken.log.lines.join('\n'));
    assert.equal((await broken.edge.closed).code, closeCode.protocol);
    assert.equal(await other.manager.call('m', {}, { timeoutMs: 100 }), 'fine');
  });
}

test('a frame of a type to come is skipped when it says that it may be', async () => {
  const { manager, wires } = memorySides();
  wires.manager.arrive(
    changed(good, (bytes) => {
      bytes[0] = 99;
      bytes[1] = 0x80;
    }),
  );
  await turns(3);
  assert.ok(manager.live);
});

test('the same id twice, ids that go back, and a flood of pings end the connection', async () => {
  for (const messages of [
    [good, good],
    [request(7, { m: 'm', dl: 10 }), request(5, { m: 'm', dl: 10 })],
    Array.from({ length: 50 }, () => encodeFrame(frameType.ping, 0)),
  ]) {
    const { manager, wires } = memorySides();
    messages.forEach((message) => wires.manager.arrive(message));
    assert.ok(!manager.live);
  }
});

test('random frames never do worse than to end the connection', async () => {
  let seed = 20261122;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const bodies = [
    '{}',
    '{"m":"echo","dl":50}',
    '{"m":"__proto__","dl":50}',
    '{"s":"sink","w":9}',
    '{"e":"x"}',
    '{"code":4400,"message":"m"}',
    '{"code":1,"message":7}',
    '',
  ];
  const sensible = [
    [frameType.request, 1, '{"m":"echo","dl":50}'],
    [frameType.request, 1, '{"m":"echo","dl":50,"p":{"__proto__":{"a":1}}}'],
    [frameType.open, 1, '{"s":"sink","w":9}'],
    [frameType.event, 0, '{"e":"x"}'],
    [frameType.ping, 0, ''],
    [frameType.pong, 0, ''],
  ] as const;
  let survivors = 0;
  for (let round = 0; round < 1_500; round += 1) {
    const sides = memorySides({
      manager: {
        methods: new Map([['echo', { handle: (params: unknown) => params }]]),
        services: new Map([['sink', (stream) => void stream.resume()]]),
      },
    });
    for (let step = 0; step < 8 && sides.manager.live; step += 1) {
      const [type, id, body] = sensible[random(sensible.length)]!;
      const frame = encodeFrame(
        type,
        id && 1 + 2 * step,
        random(12) === 0 ? bodies[random(bodies.length)]! : body,
      );
      for (let flips = Math.max(0, random(12) - 9); flips > 0; flips -= 1) {
        frame[random(frame.length)] = random(256);
      }
      sides.wires.manager.arrive(
        frame.subarray(0, frame.length - (random(20) === 0 ? random(frame.length) : 0)),
      );
    }
    survivors += sides.manager.live ? 1 : 0;
    if (round % 100 === 0) {
      await turns(2);
    }
    assert.ok(
      !sides.log.lines.some((line) => line.includes('failed to process a frame')),
      sides.log.lines.join('\n'),
    );
    void sides.manager.close();
  }
  assert.ok(
    survivors > 50 && survivors < 1_450,
    `${survivors} of 1,500 connections lived through it; the frames are too wild or too tame to test much`,
  );
});

test('every truncation and every flipped bit of a frame is either read or refused', () => {
  for (let bit = 0; bit < good.length * 8; bit += 1) {
    try {
      decodeFrame(changed(good, (bytes) => (bytes[bit >> 3]! ^= 1 << (bit & 7))));
    } catch (error) {
      assert.ok(error instanceof ProtocolViolation, String(error));
    }
  }
});
