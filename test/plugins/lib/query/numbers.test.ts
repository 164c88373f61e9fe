import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import {
  formatDuration,
  formatFloat,
  parseDuration,
  parseFloatGo,
  parseGoDuration,
  readGoDuration,
} from 'svc/query';

describe('a number as text', () => {
  test('is written as Go writes it', () => {
    const written: readonly (readonly [number, string])[] = [
      [0, '0'],
      [-0, '-0'],
      [1, '1'],
      [-1.5, '-1.5'],
      [100, '100'],
      [0.1, '0.1'],
      [1 / 3, '0.3333333333333333'],
      [1e-6, '0.000001'],
      [1e-7, '1e-07'],
      [1.5e-9, '1.5e-09'],
      [1.25e-10, '1.25e-10'],
      [5e-324, '5e-324'],
      [1e20, '100000000000000000000'],
      [1e21, '1e+21'],
      [1.7976931348623157e308, '1.7976931348623157e+308'],
      [Number.MAX_SAFE_INTEGER, '9007199254740991'],
      [NaN, 'NaN'],
      [Infinity, '+Inf'],
      [-Infinity, '-Inf'],
    ];
    for (const [value, text] of written) {
      assert.equal(formatFloat(value), text);
    }
  });

  test('is read as Go reads it', () => {
    const read: readonly (readonly [string, number | undefined])[] = [
      ['1', 1],
      ['+1.', 1],
      ['.5e1', 5],
      ['1E-3', 0.001],
      ['007', 7],
      ['1_000', 1000],
      ['1_23.50_0_0e+1_2', 1.235e14],
      ['1__0', undefined],
      ['_1', undefined],
      ['1_', undefined],
      ['1_.5', undefined],
      ['inf', Infinity],
      ['+Inf', Infinity],
      ['-infinity', -Infinity],
      ['NaN', NaN],
      ['-nan', undefined],
      ['0x1p-2', 0.25],
      ['-0X1.8P1', -3],
      ['0x_1F.8p0', 31.5],
      ['0x1', undefined],
      ['0x.p1', undefined],
      ['0x1p-1074', 5e-324],
      ['0x1p-1075', 0],
      ['0x1.8p-1075', 5e-324],
      ['0x1.fffffffffffff8p0', 2],
      ['0x1.fffffffffffff7p0', 1.9999999999999998],
      ['0x0p9', 0],
      ['0x1p1024', undefined],
      ['0x1p99999', undefined],
      ['0x1p-99999', 0],
      ['1e400', undefined],
      ['1e-400', 0],
      ['', undefined],
      [' 1', undefined],
      ['1 ', undefined],
      ['e5', undefined],
      ['.', undefined],
      ['0b1', undefined],
      ['1n', undefined],
      ['１', undefined],
    ];
    for (const [text, value] of read) {
      assert.equal(parseFloatGo(text), value, text);
    }
  });

  test('comes back as it was', () => {
    fc.assert(
      fc.property(fc.double(), (value) => Object.is(parseFloatGo(formatFloat(value)), value)),
    );
  });

  test('in hexadecimal is rounded once', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 80n }),
        fc.integer({ min: -1100, max: 900 }),
        (mantissa, exponent) => {
          const exact = exponent >= 0 ? Number(mantissa << BigInt(exponent)) : undefined;
          const read = parseFloatGo(`0x${mantissa.toString(16)}p${exponent}`);
          if (exact !== undefined) {
            assert.equal(read, Number.isFinite(exact) ? exact : undefined);
          } else if (exponent >= -1000) {
            assert.equal(read, Number(mantissa) * 2 ** exponent);
          }
        },
      ),
    );
  });
});

describe('a duration', () => {
  test('is read from large to small units', () => {
    assert.equal(parseDuration('1h30m'), 5_400_000);
    assert.equal(
      parseDuration('1y2w3d4h5m6s7ms'),
      365 * 864e5 + 2 * 7 * 864e5 + 3 * 864e5 + 4 * 36e5 + 5 * 6e4 + 6e3 + 7,
    );
    assert.equal(parseDuration('0'), 0);
    assert.equal(parseDuration('0s'), 0);
    for (const text of [
      '',
      '1',
      '1m1h',
      '1h1h',
      '-1h',
      '1.5h',
      '1 h',
      'h',
      '1µs',
      `${'9'.repeat(30)}y`,
      '300y',
    ]) {
      assert.throws(() => parseDuration(text), { code: 'invalid_argument' }, text);
    }
  });

  test('is written without days that do not divide it', () => {
    assert.equal(formatDuration(0), '0s');
    assert.equal(formatDuration(90_000), '1m30s');
    assert.equal(formatDuration(86_400_000), '1d');
    assert.equal(formatDuration(93_600_000), '26h');
    assert.equal(formatDuration(7 * 86_400_000), '1w');
    assert.equal(formatDuration(-1_500), '-1s500ms');
  });

  test('comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9e12 }),
        (ms) => parseDuration(formatDuration(ms)) === ms,
      ),
    );
  });

  test('of Go has any units in any order', () => {
    assert.equal(parseGoDuration('1.5h'), 5.4e12);
    assert.equal(parseGoDuration('300ms'), 3e8);
    assert.equal(parseGoDuration('-10µs'), -10_000);
    assert.equal(parseGoDuration('10us5ns'), 10_005);
    assert.equal(parseGoDuration('.5s'), 5e8);
    assert.equal(parseGoDuration('1m1h'), 3.66e12);
    assert.equal(parseGoDuration('0'), 0);
    for (const text of ['', '1', 's', '1d', '1h ', '--1s', '.s', `${'9'.repeat(40)}h`]) {
      assert.equal(readGoDuration(text), undefined, text);
      assert.throws(() => parseGoDuration(text), { code: 'invalid_argument' });
    }
  });
});
