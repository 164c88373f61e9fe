import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { reusableBuffer, snappyDecode, snappyEncode } from 'svc/store';

const limit = { maxBytes: 64 * 1024 * 1024 };
const decode = (...bytes: readonly (number | Uint8Array)[]): string =>
  Buffer.from(
    snappyDecode(
      Buffer.concat(bytes.map((part) => (typeof part === 'number' ? Buffer.of(part) : part))),
      limit,
    ),
  ).toString('latin1');

function preamble(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest > 127; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + 128);
  }
  return Uint8Array.from([...bytes, rest]);
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

function refused(...bytes: readonly (number | Uint8Array)[]): void {
  assert.throws(() => decode(...bytes), {
    code: 'invalid_argument',
    message: 'snappy: corrupt input',
  });
}

describe('a body in snappy', () => {
  test('holds literals of every class of length', () => {
    assert.equal(decode(0), '');
    assert.equal(decode(1, 0, text('x')), 'x');
    assert.equal(decode(60, 59 << 2, text('x'.repeat(60))), 'x'.repeat(60));
    for (const [width, size] of [
      [1, 61],
      [1, 256],
      [2, 257],
      [2, 65_536],
      [3, 65_537],
      [4, 70_000],
    ] as const) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(size - 1);
      assert.equal(
        decode(
          preamble(size),
          (59 + width) << 2,
          length.subarray(0, width),
          text('y'.repeat(size)),
        ),
        'y'.repeat(size),
      );
    }
  });

  test('copies with offsets of one, two and four bytes', () => {
    assert.equal(decode(8, 3 << 2, text('abcd'), 0b000_000_01, 4), 'abcdabcd');
    assert.equal(decode(15, 3 << 2, text('abcd'), 0b000_111_01, 4), 'abcdabcdabcdabc');
    const far = 'z'.repeat(255) + 'ABCD' + 'z'.repeat(900);
    const literal = Buffer.concat([
      Buffer.of(61 << 2, (far.length - 1) & 255, (far.length - 1) >> 8),
      text(far),
    ]);
    assert.equal(
      decode(preamble(far.length + 4), literal, 0b000_000_01 | ((904 >> 8) << 5), 904 & 255),
      `${far}ABCD`,
    );
    assert.equal(
      decode(preamble(far.length + 4), literal, (3 << 2) | 2, 904 & 255, 904 >> 8),
      `${far}ABCD`,
    );
    assert.equal(
      decode(preamble(far.length + 4), literal, (3 << 2) | 3, 904 & 255, 904 >> 8, 0, 0),
      `${far}ABCD`,
    );
    assert.equal(decode(5, 0, text('x'), (3 << 2) | 2, 1, 0), 'xxxxx');
    assert.equal(decode(66, text('\x04ab'), (63 << 2) | 2, 2, 0), 'ab'.repeat(33));
  });

  test('is refused when it is cut, or tells of what is not there', () => {
    refused();
    refused(0x80);
    refused(5);
    refused(0xff, 0xff, 0xff, 0xff, 0x7f);
    refused(0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    refused(4, 3 << 2, text('abc'));
    refused(3, 3 << 2, text('abcd'));
    refused(5, 3 << 2, text('abcd'));
    refused(61, 60 << 2);
    refused(61, 61 << 2, 60);
    refused(100, 63 << 2, 0xff, 0xff, 0xff, 0xff, text('abc'));
    refused(8, 3 << 2, text('abcd'), 0b01);
    refused(8, 3 << 2, text('abcd'), 0b01, 5);
    refused(8, 3 << 2, text('abcd'), 0b01, 0);
    refused(7, 3 << 2, text('abcd'), 0b01, 4);
    refused(8, 3 << 2, text('abcd'), (3 << 2) | 2, 4);
    refused(8, 3 << 2, text('abcd'), (3 << 2) | 3, 4, 0, 0);
    refused(8, 3 << 2, text('abcd'), (3 << 2) | 3, 4, 0, 0, 0xff);
  });

  test('comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 80 }),
            fc.constantFrom(text('http_requests_total'), Buffer.alloc(70, 1), text('abab')),
          ),
          {
            maxLength: 60,
          },
        ),
        (parts) => {
          const raw = Buffer.concat(parts);
          assert.ok(raw.equals(snappyDecode(snappyEncode(raw), limit)));
        },
      ),
    );
    for (const size of [59, 60, 61, 255, 256, 257, 65_535, 65_536, 65_537, 200_000]) {
      const noise = Buffer.from(
        Array.from({ length: size }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255),
      );
      assert.ok(noise.equals(snappyDecode(snappyEncode(noise), limit)), `${size}`);
    }
    assert.ok(snappyEncode(Buffer.alloc(100_000)).length < 6_000);
  });

  test('that is changed or cut anywhere is refused or decoded, and nothing else', () => {
    const good = snappyEncode(text('abcabcabcabc hello hello hello, this is a body '.repeat(4)));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, value, cut) => {
        const bad = Uint8Array.from(good.subarray(0, cut));
        if (at < bad.length) {
          bad[at] = value;
        }
        try {
          snappyDecode(bad, { maxBytes: 4096 });
        } catch (error) {
          assert.match(
            (error as Error).message,
            /^snappy: corrupt input$|has more than 4096 bytes/,
          );
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('that would not fit is refused before any memory is taken', () => {
    assert.throws(
      () =>
        snappyDecode(Buffer.concat([preamble(1_000_000), Buffer.alloc(200_000)]), {
          maxBytes: 999_999,
        }),
      {
        code: 'invalid_argument',
        status: 413,
      },
    );
    const memory = reusableBuffer(16);
    assert.throws(
      () => snappyDecode(Buffer.concat([preamble(60_000_000), Buffer.of(0, 1)]), limit, memory),
      { message: 'snappy: corrupt input' },
    );
    assert.equal(memory.bytes.length, 16);
  });

  test('is decoded into the same memory again and again', () => {
    const memory = reusableBuffer(4);
    const first = snappyDecode(snappyEncode(text('a'.repeat(1000))), limit, memory);
    const held = memory.bytes;
    const second = snappyDecode(snappyEncode(text('b'.repeat(500))), limit, memory);
    assert.equal(memory.bytes, held);
    assert.equal(first.buffer, second.buffer);
    assert.equal(Buffer.from(second).toString(), 'b'.repeat(500));
  });
});
