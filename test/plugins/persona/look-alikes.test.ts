import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LookAlikes } from '../../../plugins/persona/look-alikes.ts';

test('a persona of a pack gives way to every other that its name looks like', () => {
  const ours = [
    { name: 'disk', source: 'disk' },
    { name: 'sre', source: 'builtin' },
    { name: 'Scout-1', source: 'user' },
  ] as const;
  const theirs = ['dlsk', 'SRE', 'Sre', 'scout-l'].map((name) => ({
    name,
    source: 'builtin' as const,
    pack: 'friendly',
  }));
  const looks = new LookAlikes([...theirs, ...ours]);
  assert.deepEqual(
    ours.map(({ name }) => looks.mistakenFor(name)),
    [undefined, undefined, undefined],
  );
  assert.deepEqual(
    theirs.map(({ name }) => looks.mistakenFor(name)),
    ['disk', 'sre', 'sre', 'Scout-1'],
  );
});
