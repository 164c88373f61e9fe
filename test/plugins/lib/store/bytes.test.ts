import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';

import {
  ByteReader,
  ByteWriter,
  codecs,
  compress,
  crc32,
  decompress,
  gunzip,
  Unpacker,
} from 'svc/store';

type Step =
  | readonly ['u8' | 'u16le' | 'u32le' | 'f64le' | 'uvarint' | 'svarint', number]
  | readonly ['utf8', string]
  | readonly ['block', Uint8Array];

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('u8' as const), fc.integer({ min: 0, max: 255 })),
  fc.tuple(fc.constant('u16le' as const), fc.integer({ min: 0, max: 65_535 })),
  fc.tuple(fc.constant('u32le' as const), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  fc.tuple(fc.constant('f64le' as const), fc.double()),
  fc.tuple(
    fc.constant('uvarint' as const),
    fc.oneof(
      fc.maxSafeNat(),
      fc.nat(300),
      fc.constantFrom(0, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
    ),
  ),
  fc.tuple(
    fc.constant('svarint' as const),
    fc.oneof(fc.integer(), fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 })),
  ),
  fc.tuple(fc.constant('utf8' as const), fc.string({ unit: 'grapheme', maxLength: 60 })),
  fc.tuple(fc.constant('block' as const), fc.uint8Array({ maxLength: 40 })),
);

function written(steps: readonly Step[]): Uint8Array {
  const writer = new ByteWriter(1);
  for (const [kind, value] of steps) {
    (writer[kind] as (value: unknown) => void)(value);
  }
  return writer.take();
}

describe('bytes', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const reader = new ByteReader(written(steps));
        for (const [kind, value] of steps) {
          const read = reader[kind]();
          assert.deepEqual(kind === 'block' ? Uint8Array.from(read as Uint8Array) : read, value);
        }
        assert.equal(reader.remaining, 0);
      }),
    );
  });

  test('that were cut anywhere are refused, never read past their end', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(), (steps, cut) => {
        const whole = written(steps);
        const reader = new ByteReader(whole, 0, cut % whole.length);
        assert.throws(
          () => {
            for (const [kind] of steps) {
              reader[kind]();
            }
          },
          { code: 'invalid_argument' },
        );
      }),
    );
  });

  test('that are forged are refused', () => {
    assert.throws(() => new ByteReader(new Uint8Array(12).fill(0xff)).uvarint(), {
      code: 'invalid_argument',
    });
    assert.throws(
      () => new ByteReader(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)).block(),
      { code: 'invalid_argument' },
    );
    assert.throws(() => new ByteReader(new Uint8Array(4), 2, 9), { code: 'invalid_argument' });
    assert.throws(() => new ByteReader(new Uint8Array(4)).seek(5), { code: 'invalid_argument' });
    assert.throws(() => new ByteReader(new Uint8Array(4)).seek(NaN), { code: 'invalid_argument' });
  });

  test('keep a byte order mark, and make something of what is no UTF-8', () => {
    const writer = new ByteWriter();
    writer.utf8('\ufeffa');
    writer.block(Uint8Array.of(0xff, 0x41));
    const reader = new ByteReader(writer.take());
    assert.equal(reader.utf8(), '\ufeffa');
    assert.equal(reader.utf8(), '\ufffdA');
  });

  test('of a length that is known later are patched', () => {
    const writer = new ByteWriter();
    writer.u32le(0);
    writer.utf8('abc');
    writer.patchU32le(0, writer.length - 4);
    assert.equal(new ByteReader(writer.take()).u32le(), 4);
    writer.reset();
    assert.equal(writer.take().length, 0);
  });
});

describe('compressed bytes', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(20), (bytes, times) => {
        const raw = Buffer.concat(Array.from({ length: times }, () => bytes));
        const { codec, bytes: packed } = compress(raw);
        assert.ok(packed.length <= raw.length);
        assert.deepEqual(Buffer.from(decompress(codec, packed, raw.length)), raw);
      }),
    );
  });

  test('that hold more or less than is written, or garbage, are refused', () => {
    const { codec, bytes } = compress(Buffer.alloc(10_000, 'ab'));
    assert.equal(codec, codecs.brotli);
    assert.throws(() => decompress(codec, bytes, 9_999), { code: 'internal' });
    assert.throws(() => decompress(codec, bytes, 10_001), { code: 'internal' });
    assert.throws(() => decompress(codec, Buffer.from('garbage'), 10), { code: 'internal' });
    assert.throws(() => decompress(codecs.none, Buffer.alloc(3), 4), { code: 'internal' });
    assert.throws(() => decompress(77, bytes, 10), { code: 'unavailable', message: /codec 77/ });
  });

  test('are unpacked one after another, each giving back its memory, also after some that were damaged', () => {
    const unpacker = new Unpacker();
    const texts = ['a', '', 'long '.repeat(30_000), 'short', 'x'.repeat(5_000_000)].map((text) =>
      Buffer.from(text),
    );
    const homes = texts.map((raw) => {
      const { codec, bytes } = compress(raw);
      unpacker.room(bytes.length).set(bytes);
      const unpacked = unpacker.unpack(codec, unpacker.room(bytes.length), raw.length);
      assert.ok(raw.equals(unpacked));
      return { codec, bytes, raw, home: unpacked.buffer };
    });
    const { codec, bytes, raw } = homes[2]!;
    const first = unpacker.unpack(codec, bytes, raw.length);
    const other = compress(Buffer.alloc(10_000, 'ab'));
    unpacker.unpack(other.codec, other.bytes, 10_000);
    assert.equal(first.length, 0, 'its memory was given back');
    for (const [packed, length] of [
      [other.bytes, 9_999],
      [other.bytes, 10_001],
      [other.bytes.subarray(0, -1), 10_000],
      [Buffer.from('garbage'), 10],
    ] as const) {
      assert.throws(() => unpacker.unpack(other.codec, packed, length), { code: 'internal' });
      assert.ok(
        raw.equals(unpacker.unpack(codec, bytes, raw.length)),
        'what comes next is not concerned',
      );
    }
    assert.throws(() => unpacker.unpack(77, bytes, 10), {
      code: 'unavailable',
      message: /codec 77/,
    });
    unpacker.close();
    assert.ok(raw.equals(unpacker.unpack(codec, bytes, raw.length)));
    unpacker.close();
  });

  test('with zstd say which Node can read them, where this one cannot', (t) => {
    if ('zstdDecompressSync' in process.getBuiltinModule('node:zlib')) {
      t.skip('this Node can');
      return;
    }
    assert.throws(() => decompress(codecs.zstd, Buffer.alloc(8), 8), {
      code: 'unavailable',
      message: /Node 22\.15/,
    });
  });

  test('from a sender are unpacked up to a limit', () => {
    assert.equal(gunzip(gzipSync('hello'), { maxBytes: 5 }).toString(), 'hello');
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    assert.ok(bomb.length < 60_000);
    assert.throws(() => gunzip(bomb, { maxBytes: 1024 * 1024 }), {
      code: 'invalid_argument',
      status: 413,
    });
    const two = Buffer.concat([gzipSync('hello'), gzipSync('world')]);
    assert.throws(() => gunzip(two, { maxBytes: 9 }), { status: 413 });
    assert.throws(() => gunzip(gzipSync('hello').subarray(0, 12), { maxBytes: 100 }), {
      code: 'invalid_argument',
      message: 'gzip: corrupt input',
    });
    assert.throws(() => gunzip(Buffer.from('no gzip'), { maxBytes: 100 }), {
      message: 'gzip: corrupt input',
    });
  });
});

test('a checksum is the one that everyone means by CRC-32, and goes on from part to part', () => {
  assert.equal(crc32(Buffer.from('123456789')), 0xcbf43926);
  assert.equal(crc32(Buffer.from('6789'), crc32(Buffer.from('12345'))), 0xcbf43926);
});

test('a column of numbers is written as one number after the other would be', () => {
  fc.assert(
    fc.property(fc.uint32Array(), (values) => {
      const many = new ByteWriter(1);
      const single = new ByteWriter(1);
      many.uvarints(values);
      values.forEach((value) => single.uvarint(value));
      assert.deepEqual(many.take(), single.take());
    }),
  );
});
