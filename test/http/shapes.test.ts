import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import Type, { type TSchema } from 'typebox';

import { RouteShapes } from '../../core/http/routes/shapes.ts';
import { type FieldProblem, route, type SvcError } from '../../core/sdk/index.ts';
import { generationOf } from '../registry/fixtures.ts';

const area = generationOf('area');

function problems(body: TSchema, value: unknown, owner = area): readonly FieldProblem[] {
  const shapes = new RouteShapes(
    route({ method: 'POST', path: '/x', access: 'any', summary: 'x', body, handle: () => {} }),
    owner,
  );
  try {
    shapes.checkBody(value, 100);
    return [];
  } catch (error) {
    return (error as SvcError).details!;
  }
}

describe('a body schema', () => {
  test('is closed where it lists fields, and open where it says so', () => {
    const open = Type.Object({
      spec: Type.Object({}, { additionalProperties: true }),
      labels: Type.Record(Type.String(), Type.String()),
      free: Type.Unknown(),
    });
    assert.deepEqual(problems(open, { spec: { a: 1 }, labels: { b: 'c' }, free: { d: 1 } }), []);
    assert.deepEqual(
      problems(Type.Array(Type.Object({ a: Type.Number() })), [{ a: 1 }, { a: 1, b: 2 }]),
      [{ path: '/1/b', message: 'is not a known field' }],
    );
  });

  test('names a field of any length in a bounded way', () => {
    const long = 'x'.repeat(100_000);
    for (const [schema, value] of [
      [Type.Object({}), { [long]: 1 }],
      [Type.Record(Type.String(), Type.Number()), { [long]: 'a' }],
      [Type.Record(Type.String(), Type.Object({})), { [long]: { [long]: 1 } }],
    ] as const) {
      const found = problems(schema, value);
      assert.ok(
        found.length === 1 && found[0]!.path.length <= 301,
        JSON.stringify(found).slice(0, 500),
      );
    }
  });

  test('of a change fills in nothing, so that what is left out stays', () => {
    const whole = Type.Object({
      name: Type.String(),
      every: Type.Integer({ minimum: 1, default: 60 }),
      zone: Type.Optional(Type.String({ default: 'UTC' })),
      place: Type.Optional(Type.Object({ floor: Type.Integer({ default: 0 }) })),
    });
    const sent = (method: 'POST' | 'PATCH') => {
      const value = { name: 'a', place: {} };
      const declaration = { path: '/x', access: 'any', summary: 'x', body: whole } as const;
      const declared = route({ ...declaration, method, handle: () => {} });
      new RouteShapes(declared, area).checkBody(value, 100);
      return value;
    };
    assert.deepEqual(sent('POST'), { name: 'a', every: 60, zone: 'UTC', place: { floor: 0 } });
    assert.deepEqual(sent('PATCH'), { name: 'a', place: { floor: 0 } });
  });

  test('that joins two shapes accepts the fields of both and no others', () => {
    const both = Type.Intersect([
      Type.Object({ a: Type.Number() }),
      Type.Object({ b: Type.Object({ c: Type.Number() }) }),
    ]);
    assert.deepEqual(problems(both, { a: 1, b: { c: 1 } }), []);
    assert.deepEqual(problems(both, { a: 1, b: { c: 1 }, d: 1 }), [
      { path: '/d', message: 'is not a known field' },
    ]);
    assert.deepEqual(problems(both, { a: 1, b: { c: 1, d: 1 } }), [
      { path: '/b/d', message: 'is not a known field' },
    ]);
  });

  test('of alternatives says what is wrong with the one that was meant', () => {
    const either = Type.Union([
      Type.Object({ kind: Type.Literal('a'), size: Type.Number() }),
      Type.Object({ kind: Type.Literal('b'), name: Type.String() }),
    ]);
    assert.deepEqual(problems(either, { kind: 'b', name: 'x' }), []);
    assert.ok(
      problems(either, { kind: 'a', size: 'large' }).some(
        ({ path, message }) => path === '/size' && message === 'must be a number',
      ),
    );
    assert.deepEqual(problems(Type.Union([Type.String(), Type.Number()]), true), [
      { path: '', message: 'matches none of the accepted shapes' },
    ]);
  });

  test('may have tuples, formats and defaults', () => {
    const pair = Type.Tuple([Type.Number(), Type.String()]);
    assert.deepEqual(problems(pair, [1, 'a']), []);
    assert.equal(problems(pair, [1, 'a', 'b']).length, 1);
    const formats: [string, string, string][] = [
      ['date-time', '2026-11-20T18:09:00.000Z', '2026-13-45T99:00:00Z'],
      ['email', 'a@b.io', 'a@b'],
      ['uuid', '0192d5f0-7a5e-7cc0-9d3e-000000000000', 'x'],
      ['uri', 'https://a.b/c', 'no address'],
      ['ip', '::1', '1.2.3'],
      ['duration', '1h30m', 'soon'],
    ];
    for (const [format, good, bad] of formats) {
      assert.deepEqual(problems(Type.String({ format }), good), [], format);
      assert.deepEqual(problems(Type.String({ format }), bad), [
        { path: '', message: `must be a valid ${format}` },
      ]);
    }
    const filled: { step?: string } = {};
    assert.deepEqual(
      problems(Type.Object({ step: Type.Optional(Type.String({ default: '30s' })) }), filled),
      [],
    );
    assert.equal(filled.step, '30s');
  });

  test('is told in sentences that never repeat the value', () => {
    const Secret = Type.Object({
      password: Type.String({ minLength: 10, pattern: '^[a-z]+$' }),
      tags: Type.Array(Type.String(), { maxItems: 1, uniqueItems: true }),
      n: Type.Integer({ minimum: 1 }),
    });
    const found = problems(Secret, { password: 'HUNTER2', tags: ['a', 'a'], n: 0 });
    assert.doesNotMatch(JSON.stringify(found), /HUNTER2/);
    assert.deepEqual(found.map(({ message }) => message).toSorted(), [
      'must be >= 1',
      'must have at least 10 characters',
      'must have at most 1 entries',
      'must match ^[a-z]+$',
      'must not repeat an entry',
    ]);
  });

  test('of a large body reports one problem, of a small one at most twenty', () => {
    const Many = Type.Array(Type.Number());
    assert.equal(
      problems(
        Many,
        Array.from({ length: 100 }, () => 'x'),
      ).length,
      20,
    );
  });
});

test('a pattern from a pack cannot stall the host', () => {
  const pack = generationOf('pack', 1, { kind: 'pack' });
  const evil = Type.Object({ name: Type.String({ pattern: '^(a+)+$' }) });
  assert.deepEqual(problems(evil, { name: 'aaaa' }, pack), []);
  const from = performance.now();
  assert.equal(problems(evil, { name: `${'a'.repeat(50_000)}!` }, pack).length, 1);
  assert.ok(performance.now() - from < 5_000);
});
