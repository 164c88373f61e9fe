import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { type Shape, shapeOf } from './shape.ts';
import { source, sourcesIn } from './source.ts';

/** What each figure may be at most. It is lowered when the sources have become better; it is never raised. */
const most = {
  coreLines: 19_400,
  coreLibraries: 0,
  roomCircles: 0,
  fileCircles: 0,
  longestFile: 410,
  longFunctions: 60,
  smallFiles: 46,
};

let shape: Shape;

before(() => {
  shape = shapeOf(
    sourcesIn('core', 'plugins', 'bin').filter(
      ({ path }) => !path.endsWith('.d.ts') && !path.endsWith('.d.mts') && path !== 'bin/svc',
    ),
  );
});

for (const [figure, limit] of Object.entries(most)) {
  test(`${figure} is at most ${limit}`, () => {
    const found = shape[figure as keyof Shape];
    const value = typeof found === 'number' ? found : found.length;
    assert.ok(
      value <= limit,
      `${figure} is ${value}, at most ${limit}${typeof found === 'number' ? '' : `: ${found.join(', ')}`}`,
    );
    // A limit far above the figure would let it rise again.
    assert.ok(
      value >= limit * 0.9 - 3,
      `${figure} has fallen to ${value}; lower its limit of ${limit} in test/house/shape.test.ts`,
    );
  });
}

test('a circle is found also where it is made of types alone', () => {
  const files = [
    source('plugins/a/one.ts', `import type { Two } from './two.ts';`),
    source('plugins/a/two.ts', `import type { One } from './one.ts';`),
    source('plugins/a/three.ts', `import { one } from './one.ts';`),
  ];
  assert.deepEqual(shapeOf(files).fileCircles, ['plugins/a/one.ts plugins/a/two.ts']);
});
