import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { allows, anonymous, holds, operator, readsAll } from '../../core/auth/index.ts';
import type { Access, Principal } from '../../core/sdk/index.ts';

const user = (grants: readonly string[], id = '7'): Principal => ({
  kind: 'user',
  id,
  role: 'user',
  grants,
});
const edge: Principal = { kind: 'edge', id: '1', role: 'edge', grants: ['*'] };
const token: Principal = { kind: 'token', id: '7', role: 'user', grants: ['edge:create'] };

test('every kind of access lets in exactly whom it names', () => {
  const people = {
    anonymous,
    operator,
    viewer: user([]),
    admin: user(['*']),
    'edge keeper': user(['edge:*']),
    'edge maker': user(['edge:create']),
    'shell user': user(['webshell']),
    token,
    edge,
  };
  const expected: [Access, string[]][] = [
    ['public', Object.keys(people)],
    ['any', ['operator', 'viewer', 'admin', 'edge keeper', 'edge maker', 'shell user', 'token']],
    ['admin', ['operator', 'admin']],
    ['machine', ['edge']],
    ['webshell', ['operator', 'admin', 'shell user']],
    ['edge:create', ['operator', 'admin', 'edge keeper', 'edge maker', 'token']],
    [
      { action: 'edge:create', machine: true },
      ['operator', 'admin', 'edge keeper', 'edge maker', 'token', 'edge'],
    ],
    [
      { action: 'edge:delete', people: true },
      ['operator', 'viewer', 'admin', 'edge keeper', 'edge maker', 'shell user'],
    ],
    [
      { action: 'edge:create', people: true },
      ['operator', 'viewer', 'admin', 'edge keeper', 'edge maker', 'shell user', 'token'],
    ],
    ['edge:delete', ['operator', 'admin', 'edge keeper']],
    ['device:create', ['operator', 'admin']],
    ['nonsense' as Access, ['operator', 'admin']],
  ];
  for (const [access, names] of expected) {
    assert.deepEqual(
      Object.entries(people).flatMap(([name, principal]) =>
        allows(principal, access) ? [name] : [],
      ),
      names,
      JSON.stringify(access),
    );
  }
});

test('what every person may read by signing in, a token may only in the areas whose reading it was given', () => {
  const may = (grants: readonly string[], ...areas: string[]): boolean =>
    readsAll({ ...token, grants }, areas);
  const areas = ['edge', 'device', 'edges', ''];
  const open = (...grants: readonly string[]): string[] =>
    areas.filter((area) => may(grants, area));
  assert.deepEqual(open(), []);
  assert.deepEqual(open('edge:create', 'device:read'), []);
  assert.deepEqual(open('read:edge'), ['edge']);
  assert.deepEqual(open('edge:*'), []);
  assert.deepEqual(open('read:*'), areas);
  assert.deepEqual(open('*'), areas);
  assert.equal(readsAll(user([]), ['device']), true);
  assert.equal(may(['read:edge'], 'edge', 'device'), false);
  assert.equal(may(['read:edge', 'read:device'], 'edge', 'device'), true);
  assert.equal(may([]), true);
});

test('a user passes as self on their own id only, and a token of the same id does not', () => {
  const access = { action: 'admin', self: 'id' } as const;
  assert.equal(allows(user([]), access, { id: '7' }), true);
  assert.equal(allows(user([]), access, { id: 7 }), true);
  for (const id of ['8', '07', '7 ', '', undefined, { toString: () => '7' }]) {
    assert.equal(allows(user([]), access, { id }), false, String(id));
  }
  assert.equal(allows(token, access, { id: '7' }), false);
  assert.equal(allows(user(['*']), access, { id: '8' }), true);
});

test('a wildcard covers its own area and no other, however grants are written', () => {
  const word = fc.stringMatching(/^[a-z]{1,6}$/);
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          word.map((area) => `${area}:*`),
          fc.tuple(word, word).map((pair) => pair.join(':')),
          fc.constantFrom('', ':', ':*', '*:*', 'edge', 'edge*', '**', ' *'),
        ),
      ),
      word,
      word,
      (grants, area, verb) => {
        const action = `${area}:${verb}`;
        assert.equal(
          holds(user(grants), action),
          grants.includes(`${area}:*`) || grants.includes(action),
        );
      },
    ),
  );
});

test('a decision costs next to nothing', () => {
  const principal = user(['edge:*', 'device:*', 'topology:*', 'alert:*', 'channel:*', 'agent:*']);
  const from = performance.now();
  for (let round = 0; round < 100_000; round += 1) {
    allows(principal, 'agent:run');
  }
  assert.ok(performance.now() - from < 2_000);
});
