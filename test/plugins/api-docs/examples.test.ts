import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleOf } from '../../../plugins/api-docs/examples.ts';

test('an example is the one that the author gave, else the least that fits', () => {
  const cases: readonly (readonly [schema: object, example: unknown])[] = [
    [{ type: 'string', examples: ['ada'] }, 'ada'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'integer', minimum: 0, maximum: 0 }, 0],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }, 1],
    [{ type: 'integer' }, 1],
    [{ type: 'string', minLength: 9 }, 'exampleee'],
    [{ type: 'array', minItems: 2, items: { enum: ['a', 'b'] } }, ['a', 'a']],
    [
      {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'boolean' }, b: { type: 'string' } },
      },
      { a: true },
    ],
    [
      {
        type: 'object',
        minProperties: 1,
        properties: { a: { type: 'string', format: 'date' }, b: { type: 'string' } },
      },
      { a: '2026-01-01' },
    ],
    [{ anyOf: [{ const: 3 }, { type: 'null' }] }, 3],
  ];
  assert.deepEqual(
    cases.map(([schema]) => exampleOf(schema as Readonly<Record<string, unknown>>)),
    cases.map(([, example]) => example),
  );
});
