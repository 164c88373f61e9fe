import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import {
  anyValueFromJson,
  anyValueText,
  type AnyValue,
  decodeAnyValue,
  decodeKeyValue,
  decodeResource,
  decodeScope,
  jsonHex,
  jsonNanos,
  jsonNumber,
  plain,
  ProtoReader,
  ProtoWriter,
  resourceFromJson,
  scopeFromJson,
} from 'svc/store';

const whole = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** Value of a sender, as itself, in protobuf, and in JSON. */
type Said = {
  readonly value: AnyValue;
  readonly proto: (message: ProtoWriter) => void;
  readonly json: object;
};

const said = fc.letrec<{ value: Said }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string().map((value): Said => ({
      value,
      proto: (message) => void message.string(1, value),
      json: { stringValue: value },
    })),
    fc.boolean().map((value): Said => ({
      value,
      proto: (message) => void message.bool(2, value),
      json: { boolValue: value },
    })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Said => ({
      value: whole(value),
      proto: (message) => void message.int64(3, value),
      json: { intValue: String(value) },
    })),
    fc.integer().map((value): Said => ({
      value,
      proto: (message) => void message.int64(3, value),
      json: { intValue: value },
    })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Said => ({
      value,
      proto: (message) => void message.double(4, value),
      json: { doubleValue: value },
    })),
    fc.uint8Array().map((value): Said => ({
      value,
      proto: (message) => void message.bytes(7, value),
      json: { bytesValue: Buffer.from(value).toString('base64') },
    })),
    fc.array(tie('value'), { maxLength: 3 }).map((values): Said => ({
      value: values.map(({ value }) => value),
      proto: (message) =>
        void message.message(5, (list) => values.forEach(({ proto }) => list.message(1, proto))),
      json: { arrayValue: { values: values.map(({ json }) => json) } },
    })),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value')), {
        maxLength: 3,
        selector: ([key]) => key,
      })
      .map((pairs): Said => ({
        value: new Map(pairs.map(([key, { value }]) => [key, value])),
        proto: (message) =>
          void message.message(6, (list) =>
            pairs.forEach(([key, { proto }]) =>
              list.message(1, (pair) => pair.string(1, key).message(2, proto)),
            ),
          ),
        json: { kvlistValue: { values: pairs.map(([key, { json }]) => ({ key, value: json })) } },
      })),
  ),
})).value;

function inProto(write: (message: ProtoWriter) => void): ProtoReader {
  const message = new ProtoWriter();
  write(message);
  return new ProtoReader(message.finish());
}

describe('what every OTLP sender says', () => {
  test('is the same in protobuf and in JSON', () => {
    fc.assert(
      fc.property(said, ({ value, proto, json }) => {
        assert.deepEqual(decodeAnyValue(inProto(proto)), value);
        assert.deepEqual(
          anyValueFromJson(JSON.parse(JSON.stringify(json))),
          Object.is(value, -0) ? 0 : value,
        );
      }),
    );
    assert.equal(decodeAnyValue(inProto(() => undefined)), undefined);
    assert.equal(anyValueFromJson({}), undefined);
    assert.equal(anyValueFromJson(null), undefined);
  });

  test('has resources and scopes with attributes', () => {
    const attribute = (message: ProtoWriter): void =>
      void message
        .string(1, 'k')
        .uint(9, 1)
        .message(2, (value) => value.string(1, 'v'));
    const attributes = [{ key: 'k', value: 'v' }];
    const json = [{ key: 'k', value: { stringValue: 'v' } }];
    assert.deepEqual(decodeKeyValue(inProto(attribute)), attributes[0]);
    assert.deepEqual(
      decodeResource(inProto((message) => void message.message(1, attribute).uint(2, 3))),
      { attributes },
    );
    assert.deepEqual(resourceFromJson({ attributes: json, droppedAttributesCount: 3 }), {
      attributes,
    });
    assert.deepEqual(resourceFromJson(undefined), { attributes: [] });
    const scope = { name: 'n', version: '1', attributes };
    assert.deepEqual(
      decodeScope(
        inProto(
          (message) => void message.string(1, 'n').string(2, '1').message(3, attribute).uint(4, 1),
        ),
      ),
      scope,
    );
    assert.deepEqual(scopeFromJson({ name: 'n', version: '1', attributes: json }), scope);
  });

  test('becomes the text of a label', () => {
    assert.equal(anyValueText('x'), 'x');
    assert.equal(anyValueText(5), '5');
    assert.equal(anyValueText(1e-7), '1e-07');
    assert.equal(anyValueText(2n ** 60n), '1152921504606846976');
    assert.equal(anyValueText(true), 'true');
    assert.equal(anyValueText(undefined), '');
    assert.equal(anyValueText(Uint8Array.of(1, 2)), 'AQI=');
    assert.equal(
      anyValueText(['a', 1, 2n ** 60n, undefined, Uint8Array.of(1), new Map([['k', true]])]),
      '["a",1,"1152921504606846976",null,"AQ==",{"k":true}]',
    );
    assert.deepEqual(Object.getPrototypeOf(plain(new Map([['__proto__', 'x']]))), null);
  });

  test('is refused when it is not what it says, or has no bottom', () => {
    const refused = (json: unknown): void =>
      assert.throws(
        () => anyValueFromJson(json),
        { code: 'invalid_argument' },
        JSON.stringify(json)?.slice(0, 80),
      );
    for (const json of [
      5,
      [],
      'x',
      { stringValue: 5 },
      { boolValue: 'true' },
      { intValue: '1.5' },
      { intValue: 1.5 },
      { intValue: 2 ** 60 },
      { doubleValue: 'x' },
      { doubleValue: '' },
      { arrayValue: [] },
      { arrayValue: { values: {} } },
      { kvlistValue: { values: [5] } },
      { kvlistValue: { values: [{ key: 5 }] } },
      { bytesValue: 5 },
    ]) {
      refused(json);
    }
    let nested: object = { stringValue: 'x' };
    for (let i = 0; i < 100; i++) {
      nested = { arrayValue: { values: [nested] } };
    }
    refused(nested);
    let deep: AnyValue = 'x';
    for (let i = 0; i < 20; i++) {
      deep = [deep];
    }
    assert.throws(() => anyValueText(deep), { code: 'invalid_argument' });
  });

  test('has times, ids and numbers in JSON as text', () => {
    assert.deepEqual(jsonNanos('1544712660300000001', 'time'), { ms: 1_544_712_660_300, ns: 1 });
    assert.deepEqual(jsonNanos('999', 'time'), { ms: 0, ns: 999 });
    assert.deepEqual(jsonNanos(1_544_712_660_000_000_000, 'time'), {
      ms: 1_544_712_660_000,
      ns: 0,
    });
    assert.deepEqual(jsonNanos(undefined, 'time'), { ms: 0, ns: 0 });
    for (const value of ['-1', '1.5', '', 'x', -1, {}, '9'.repeat(21), NaN, Infinity]) {
      assert.throws(() => jsonNanos(value, 'time'), {
        code: 'invalid_argument',
        message: 'OTLP: time is no time in nanoseconds',
      });
    }
    assert.deepEqual([...jsonHex('00ffAB', 3, 'id')], [0, 255, 171]);
    assert.equal(jsonHex(undefined, 3, 'id').length, 0);
    for (const value of ['00', '00ffzz', 'AP+r', 5]) {
      assert.throws(() => jsonHex(value, 3, 'id'), { code: 'invalid_argument' });
    }
    assert.equal(jsonNumber('12', 'n'), 12);
    assert.equal(jsonNumber('-Infinity', 'n'), -Infinity);
    assert.ok(Number.isNaN(jsonNumber('NaN', 'n')));
    assert.equal(jsonNumber(null, 'n'), 0);
    assert.throws(() => jsonNumber('0x10', 'n'), { code: 'invalid_argument' });
    assert.throws(() => jsonNumber(true, 'n'), { code: 'invalid_argument' });
  });
});
