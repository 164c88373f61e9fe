import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { readFrame } from '../../../plugins/webshell/protocol/frames.ts';
import { shellHouse } from './house.ts';

/** The same numbers each time. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const whole = JSON.stringify({
  type: 'open',
  cols: 80,
  rows: 24,
  term: 'xterm',
  user: 'root',
  auth: { type: 'password', password: 'x' },
  acks: true,
});

/**
 * Returns a frame that no browser would send: truncated, doubled, altered, nested, huge or not text
 * at all.
 */
function wrongFrame(roll: (sides: number) => number): string | Buffer {
  const at = roll(whole.length - 1) + 1;
  const value = [null, -1, Number.MAX_VALUE, [], {}, 'x'.repeat(70_000), { __proto__: 1 }, true][
    roll(8)
  ];
  const field = ['type', 'cols', 'rows', 'term', 'auth', 'acks'][roll(6)]!;
  switch (roll(7)) {
    case 0:
      return whole.slice(0, at);
    case 1:
      return whole + whole.slice(0, at);
    case 2:
      return JSON.stringify({ ...JSON.parse(whole), [field]: field === 'acks' ? 'x' : value });
    case 3:
      return '['.repeat(roll(20_000) + 1);
    case 4:
      return Buffer.from(Array.from({ length: roll(512) }, () => roll(256)));
    case 5:
      return JSON.stringify({
        type: ['resize', 'ack', 'close', 'attach', 'constructor'][roll(5)],
        cols: value,
        bytes: value,
      });
    default:
      return `${whole.slice(0, at)}${String.fromCharCode(roll(0xffff))}${whole.slice(at + 1)}\u0000`;
  }
}

test('a thousand frames that are none are read as none, and those that are well formed as what they say', () => {
  const roll = dice(1);
  for (let count = 0; count < 1_000; count += 1) {
    const frame = wrongFrame(roll);
    const read = readFrame(frame.toString('utf8'));
    assert.ok(read === undefined || read.type !== 'open', frame.toString('utf8').slice(0, 200));
    assert.ok(read === undefined || Object.getPrototypeOf(read) === Object.prototype);
  }
  assert.equal(readFrame(whole)?.type, 'open');
});

test('whoever says such things to the service is sent away with 4400, in however many fragments they come', async (t: TestContext) => {
  const { house, device, open } = await shellHouse(t, () => 9);
  const id = await device(1);
  const roll = dice(2);
  const codes = new Map<number, number>();
  for (let round = 0; round < 25; round += 1) {
    const ends = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { ws, closed } = await open(id, { bearer: house.token });
        const frame = wrongFrame(roll);
        const bytes = Buffer.from(frame);
        const binary = typeof frame !== 'string';
        const cut = roll(bytes.length + 1);
        for (const [piece, fin] of roll(2) === 0
          ? ([[bytes, true]] as const)
          : ([
              [bytes.subarray(0, cut), false],
              [bytes.subarray(cut), true],
            ] as const)) {
          ws.send(piece, { binary, fin });
        }
        return { code: (await closed).code, length: bytes.length };
      }),
    );
    for (const { code, length } of ends) {
      assert.equal(code, length > 64 * 1024 ? 1009 : 4400);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  }
  assert.ok(codes.get(4400)! > 50 && codes.get(1009)! > 0, JSON.stringify([...codes]));
  assert.equal(house.host.explain('webshell').state, 'active');
  assert.deepEqual(house.host.explain('webshell').strikes, []);
});
