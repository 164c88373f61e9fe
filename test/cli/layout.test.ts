import assert from 'node:assert/strict';
import { test } from 'node:test';

import { printable, table, tree, sizeOf } from 'svc/cli';

test('columns line up whatever their colours, and no line ends in blanks', () => {
  assert.equal(
    table([
      ['ID', 'STATE', 'CAUSE'],
      ['version', '\u001b[32mactive\u001b[39m', ''],
      ['a', 'blocked', 'no core.x'],
    ]),
    'ID       STATE    CAUSE\nversion  \u001b[32mactive\u001b[39m\na        blocked  no core.x',
  );
});

test('a tree shows who owns what', () => {
  const leaf = (label: string) => ({ label, children: [] });
  const drawn = tree({
    label: 'a#1',
    children: [
      { label: 'routes', children: [leaf('GET /x'), leaf('GET /y')] },
      { label: 'timers', children: [leaf('tidy up')] },
    ],
  });
  assert.equal(
    drawn,
    ['a#1', '├─ routes', '│  ├─ GET /x', '│  └─ GET /y', '└─ timers', '   └─ tidy up'].join('\n'),
  );
});

test('text of plugins cannot move the cursor, break the line or turn the text around', () => {
  assert.equal(printable('a\u001b[2Jb\r\nc\u0007d\u202ee\u009bf'), 'a [2Jb c d e f');
});

test('sizes are told in the unit a person would use', () => {
  assert.deepEqual([0, 1, 1023, 1024, 1_572_864, 250 * 2 ** 30].map(sizeOf), [
    '0 B',
    '1 B',
    '1023 B',
    '1.0 KiB',
    '1.5 MiB',
    '250 GiB',
  ]);
});
