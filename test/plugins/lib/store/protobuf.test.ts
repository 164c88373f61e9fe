import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { ProtoReader, ProtoWriter } from 'svc/store';

function only<T>(message: ProtoWriter, read: (reader: ProtoReader) => T): T {
  const reader = new ProtoReader(message.finish());
  assert.notEqual(reader.next(), 0);
  const value = read(reader);
  assert.equal(reader.next(), 0);
  return value;
}

const field = 7;
const write = (): ProtoWriter => new ProtoWriter(1);

describe('a protobuf message', () => {
  test('gives back the numbers that were put in', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (big) => {
        assert.equal(
          only(write().int64(field, big), (reader) => reader.int64Big()),
          big,
        );
        assert.equal(
          only(write().int64(field, big), (reader) => reader.uint64Big()),
          BigInt.asUintN(64, big),
        );
        assert.equal(
          only(write().fixed64(field, BigInt.asUintN(64, big)), (reader) => reader.fixed64Big()),
          BigInt.asUintN(64, big),
        );
        const near = Number(BigInt.asIntN(53, big));
        assert.equal(
          only(write().int64(field, near), (reader) => reader.int64()),
          near,
        );
        assert.equal(
          only(write().sint64(field, near), (reader) => reader.sint64()),
          near,
        );
        assert.equal(
          only(write().fixed64(field, BigInt.asUintN(64, BigInt(near))), (reader) =>
            reader.sfixed64(),
          ),
          near,
        );
        const small = Number(BigInt.asIntN(32, big));
        assert.equal(
          only(write().int64(field, small), (reader) => reader.int32()),
          small,
        );
        assert.equal(
          only(write().sint64(field, small), (reader) => reader.sint32()),
          small,
        );
        assert.equal(
          only(write().fixed32(field, small >>> 0), (reader) => reader.fixed32()),
          small >>> 0,
        );
        const positive = Math.abs(near);
        assert.equal(
          only(write().uint(field, positive), (reader) => reader.uint64()),
          positive,
        );
        assert.equal(
          only(write().fixed64(field, BigInt(positive)), (reader) => reader.fixed64()),
          positive,
        );
      }),
    );
    fc.assert(
      fc.property(fc.double(), (value) =>
        Object.is(
          only(write().double(field, value), (reader) => reader.double()),
          value,
        ),
      ),
    );
    assert.equal(
      only(write().bool(1, true), (reader) => reader.bool()),
      true,
    );
    assert.equal(
      only(write().fixed32(1, 0x3fc00000), (reader) => reader.float()),
      1.5,
    );
  });

  test('gives back times in nanoseconds without a loss', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (nanos) => {
        for (const reader of [
          new ProtoReader(write().fixed64(1, nanos).finish()),
          new ProtoReader(write().int64(1, nanos).finish()),
        ]) {
          reader.next();
          if (reader.wire === 1) {
            reader.nanos();
          } else {
            reader.varintNanos();
          }
          assert.equal(BigInt(reader.ms) * 1_000_000n + BigInt(reader.ns), nanos);
          assert.ok(reader.ns >= 0 && reader.ns < 1e6);
        }
      }),
    );
  });

  test('gives back texts, bytes and messages, and skips what nobody asks for', () => {
    const bytes = write()
      .uint(900, 1)
      .fixed32(901, 1)
      .double(902, 1)
      .string(1, 'héllo')
      .bytes(2, Uint8Array.of(1, 2))
      .message(3, (inner) => inner.string(1, 'in').message(2, (deep) => deep.uint(1, 5)))
      .finish();
    const reader = new ProtoReader(bytes);
    const seen: unknown[] = [];
    for (let number = reader.next(); number !== 0; number = reader.next()) {
      if (number === 1) {
        seen.push(reader.string());
      } else if (number === 2) {
        seen.push([...reader.bytes()]);
      } else if (number === 3) {
        const inner = reader.message();
        inner.next();
        seen.push(inner.string());
        inner.next();
        const deep = inner.message();
        deep.next();
        seen.push(deep.uint32(), deep.next(), inner.next());
      } else {
        reader.skip();
      }
    }
    assert.deepEqual(seen, ['héllo', [1, 2], 'in', 5, 0, 0]);
  });

  test('may pack its numbers or not', () => {
    const read = (
      message: ProtoWriter,
      name: 'packedDoubles' | 'packedFixed64' | 'packedVarints' | 'packedSint64',
    ): number[] => {
      const values: number[] = [];
      const reader = new ProtoReader(message.finish());
      while (reader.next() !== 0) {
        reader[name]((value) => values.push(value));
      }
      return values;
    };
    assert.deepEqual(read(write().packedDoubles(1, [1.5, NaN]).double(1, 2), 'packedDoubles'), [
      1.5,
      NaN,
      2,
    ]);
    assert.deepEqual(
      read(
        write()
          .packedFixed64(1, [1n, 2n ** 40n])
          .fixed64(1, 3n),
        'packedFixed64',
      ),
      [1, 2 ** 40, 3],
    );
    assert.deepEqual(
      read(
        write()
          .packedVarints(1, [0, 300, 2 ** 50])
          .uint(1, 4),
        'packedVarints',
      ),
      [0, 300, 2 ** 50, 4],
    );
    assert.deepEqual(read(write().packedVarints(1, [0, 1, 2, 3, 2 ** 41 - 1]), 'packedSint64'), [
      0,
      -1,
      1,
      -2,
      -(2 ** 40),
    ]);
    assert.throws(() => read(write().bytes(1, new Uint8Array(9)), 'packedDoubles'), {
      code: 'invalid_argument',
    });
    assert.throws(() => read(write().bytes(1, new Uint8Array(7)), 'packedFixed64'), {
      code: 'invalid_argument',
    });
    assert.throws(
      () => read(write().bytes(1, Uint8Array.of(1, 0x80)).uint(2, 1), 'packedVarints'),
      { code: 'invalid_argument' },
    );
  });

  test('tells the marker of a series that ended from any other NaN', () => {
    const stale = write().fixed64(1, 0x7ff0000000000002n).double(1, NaN);
    const reader = new ProtoReader(stale.finish());
    reader.next();
    assert.equal(reader.staleNext(), true);
    assert.ok(Number.isNaN(reader.double()));
    reader.next();
    assert.equal(reader.staleNext(), false);
  });

  test('that is cut anywhere is refused, never read past its end', () => {
    const whole = write()
      .uint(1, 300)
      .fixed64(2, 1n)
      .string(3, 'abc')
      .fixed32(4, 1)
      .message(5, (inner) => inner.uint(1, 2 ** 40))
      .finish();
    const walk = (reader: ProtoReader): void => {
      for (let number = reader.next(); number !== 0; number = reader.next()) {
        if (number === 5) {
          walk(reader.message());
        } else {
          reader.skip();
        }
      }
    };
    walk(new ProtoReader(whole));
    const ends = [3, 12, 17, 22];
    for (let cut = 1; cut < whole.length; cut++) {
      if (!ends.includes(cut)) {
        assert.throws(
          () => walk(new ProtoReader(whole.subarray(0, cut))),
          { code: 'invalid_argument' },
          `cut at ${cut}`,
        );
      }
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          walk(new ProtoReader(bytes));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'invalid_argument');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('that is forged is refused', () => {
    const refused = (bytes: readonly number[], read: (reader: ProtoReader) => unknown): void => {
      const reader = new ProtoReader(Uint8Array.from(bytes));
      assert.throws(
        () => {
          reader.next();
          read(reader);
        },
        { code: 'invalid_argument' },
      );
    };
    refused([0x00], (reader) => reader.skip());
    refused([0x0b], (reader) => reader.skip());
    refused([0x0f], (reader) => reader.skip());
    refused([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], (reader) =>
      reader.uint64(),
    );
    refused([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1], (reader) =>
      reader.string(),
    );
    refused([0x08, 1], (reader) => reader.string());
    refused([0x0a, 1, 65], (reader) => reader.uint64());
    refused([0x0a, 1, 65], (reader) => reader.double());
  });

  test('is not followed into any depth', () => {
    let nested = new ProtoWriter().uint(1, 1).finish();
    for (let depth = 0; depth < 70; depth++) {
      nested = new ProtoWriter().bytes(1, nested).finish();
    }
    const dive = (reader: ProtoReader): void => {
      while (reader.next() !== 0 && reader.wire === 2) {
        dive(reader.message());
      }
    };
    assert.throws(() => dive(new ProtoReader(nested)), {
      code: 'invalid_argument',
      message: /nested more than 64/,
    });
  });
});
