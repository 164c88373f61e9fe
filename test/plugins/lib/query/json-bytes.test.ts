import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { formatFloat, JsonBytes } from 'svc/query';

const written = (write: (json: JsonBytes) => void): string => {
  const json = new JsonBytes(1);
  write(json);
  return Buffer.from(json.finish()).toString();
};

/** Values as they are measured: whole, with few decimals, or any. */
const value = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc
    .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 9 }))
    .map(([digits, places]) => digits / 10 ** places),
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 9 }))
    .map(([digits, places]) => digits / 10 ** places),
  fc.constantFrom(
    -0,
    0.001,
    0.0015,
    0.000001,
    999_999_999.999999,
    1e9,
    1e15,
    1e15 - 1,
    1e21,
    1e-7,
    0.1 + 0.2,
    123456.7891,
    999999999.9999999,
  ),
);

describe('JSON in bytes', () => {
  test('has the numbers that the text of Go has', () => {
    fc.assert(
      fc.property(value, (number) => {
        assert.equal(
          written((json) => json.value(number)),
          `"${formatFloat(number)}"`,
        );
        if (Number.isFinite(number)) {
          assert.equal(JSON.parse(written((json) => json.number(number))) as number, number);
        }
      }),
      { numRuns: 20_000 },
    );
    assert.equal(
      written((json) => json.value(NaN).raw(',').value(-Infinity)),
      '"NaN","-Inf"',
    );
    assert.equal(
      written((json) => json.number(Infinity)),
      'null',
    );
  });

  test('has the strings that JSON.stringify makes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 40 }),
          fc.string({
            unit: fc.constantFrom('a', '"', '\\', '\n', '\u2028', '\ud800', 'é', '😀', '\u007f'),
          }),
        ),
        (text) => {
          const bytes = written((json) => json.string(text));
          assert.equal(JSON.parse(bytes), JSON.parse(JSON.stringify(text)));
          assert.ok(
            Array.from(bytes).every(
              (char) => char >= ' ' && char !== '\u2028' && char !== '\u2029',
            ),
          );
        },
      ),
    );
  });

  test('has times in seconds, with three decimals where there are any', () => {
    const seconds = (ms: number): string => written((json) => json.timestampSeconds(ms));
    assert.equal(seconds(1_795_200_788_500), '1795200788.500');
    assert.equal(seconds(1_795_200_788_000), '1795200788');
    assert.equal(seconds(1_795_200_788_007), '1795200788.007');
    assert.equal(seconds(0), '0');
    assert.equal(seconds(-1_500), '-1.500');
    assert.equal(seconds(-1), '-0.001');
    fc.assert(
      fc.property(
        fc.integer({ min: -9e12, max: 9e12 }),
        (ms) => Math.round(Number(seconds(ms)) * 1000) === ms,
      ),
    );
  });

  test('has points as pairs of a time and a value, series after series with the same times or others', () => {
    const times = fc.array(fc.integer({ min: 0, max: 4e12 }), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(times, fc.boolean()), { maxLength: 6 }),
        fc.array(value, { minLength: 5, maxLength: 5 }),
        (rows, values) => {
          const before: Float64Array[] = [];
          for (const [own, again] of rows) {
            before.push(again && before.length > 0 ? before.at(-1)! : Float64Array.from(own));
          }
          const naive = before.map(
            (row) =>
              `[${[...row].map((time, i) => `[${written((json) => json.timestampSeconds(time))},"${formatFloat(values[i]!)}"]`).join(',')}]`,
          );
          assert.equal(
            written((json) =>
              before.forEach((row) =>
                json.points(row, Float64Array.from(values.slice(0, row.length))),
              ),
            ),
            naive.join(''),
          );
        },
      ),
    );
  });

  test('has the shortest decimal of any double, next to powers of ten and of two as well', () => {
    const bits = new BigInt64Array(1);
    const numbers = new Float64Array(bits.buffer);
    fc.assert(
      fc.property(
        fc.integer({ min: -22, max: 52 }),
        fc.constantFrom(2, 10),
        fc.integer({ min: -400, max: 400 }),
        (power, base, steps) => {
          numbers[0] = base ** power;
          bits[0]! += BigInt(steps);
          assert.equal(
            written((json) => json.value(numbers[0]!)),
            `"${formatFloat(numbers[0])}"`,
          );
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test('grows to whatever it is asked to hold', () => {
    const row = 'é'.repeat(1000);
    const text = written((json) => {
      json.raw('[');
      for (let i = 0; i < 500; i++) {
        json
          .raw(i === 0 ? '' : ',')
          .string(row)
          .raw(',')
          .rawBytes(Buffer.from('{"a":1}'));
      }
      json.raw(']');
    });
    assert.equal((JSON.parse(text) as unknown[]).length, 1000);
  });
});
