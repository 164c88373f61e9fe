import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { type Shape, shapeOf } from './shape.ts';
import { source, sourcesIn } from './source.ts';

/**
 * The limit of each figure. It is lowered when the sources have become better, and raised only for a duty: last,
 * that one of several nodes at a time owns the data.
 */
const limits: Readonly<Record<keyof Shape, number>> = {
  coreWords: 152_500,
  coreLibraries: 0,
  roomCircles: 0,
  fileCircles: 0,
  folderCircles: 1,
  roomArrows: 374,
  namesTwice: 0,
  flatFolders: 0,
  longestFile: 400,
  longFunctions: 4,
  headlessComments: 60,
  spreadLiterals: 0,
  errorsWithoutCode: 22,
};

let shape: Shape;

before(() => {
  shape = shapeOf(
    sourcesIn('core', 'plugins', 'bin').filter(
      ({ path }) => !path.endsWith('.d.ts') && !path.endsWith('.d.mts') && path !== 'bin/svc',
    ),
  );
});

for (const [figure, limit] of Object.entries(limits)) {
  test(`${figure} is at most ${limit}`, () => {
    const found = shape[figure as keyof Shape];
    const value = typeof found === 'number' ? found : found.length;
    const where = typeof found === 'number' ? '' : `: ${found.slice(0, 40).join(', ')}`;
    assert.ok(value <= limit, `${figure} is ${value}, at most ${limit}${where}`);
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
