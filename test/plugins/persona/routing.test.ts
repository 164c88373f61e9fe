import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readPersona } from 'svc/markdown-file';

import { isRouted } from '../../../plugins/persona/by-name.ts';
import { Router, wordsOf } from '../../../plugins/persona/router.ts';
import { questions } from './questions.ts';

const folder = fileURLToPath(new URL('../../../agents/', import.meta.url));
const shipped = readdirSync(folder)
  .map((file) => readPersona(readFileSync(folder + file, 'utf8'), { file }))
  .filter(isRouted);
const asked = Object.entries(questions).flatMap(([persona, texts]) =>
  texts.map((text) => ({ persona, text })),
);

/** Returns questions that were not routed as labelled; the fallback persona is the coordinator. */
function missed(router: Router): readonly string[] {
  return asked.flatMap(({ persona, text }) => {
    const { clear, candidates } = router.rank(text);
    const first = candidates[0]?.name;
    const right = first === persona || (!clear && persona === 'coordinator');
    return right ? [] : [`${text} → ${first} (${persona})`];
  });
}

test('150 questions of operators find their persona without a model', (t) => {
  assert.equal(asked.length, 150);
  const wrong = missed(new Router(shipped));
  const share = 1 - wrong.length / asked.length;
  t.diagnostic(`${Math.round(share * 1_000) / 10} % right; not: ${wrong.join('; ')}`);
  assert.ok(share >= 0.9, wrong.join('\n'));
});

test('every shipped persona is found by its own questions', () => {
  assert.deepEqual(shipped.map(({ name }) => name).toSorted(), Object.keys(questions).toSorted());
  const router = new Router(shipped);
  for (const [persona, texts] of Object.entries(questions)) {
    const found = texts.filter((text) => {
      const { clear, candidates } = router.rank(text);
      return candidates[0]?.name === persona || (!clear && persona === 'coordinator');
    });
    assert.ok(found.length >= 7, `${persona}: ${found.length} of 10`);
  }
});

test('a persona that is dropped in wins its own questions and takes none of the others', () => {
  const printers = {
    name: 'printer-nurse',
    description: 'Looks after printers.',
    when_to_use:
      'Printers: toner, paper jam, print queue, spooler, CUPS, a page that does not come out.',
  };
  const before = missed(new Router(shipped));
  const router = new Router([...shipped, printers]);
  for (const text of [
    'the printer on floor 3 has a paper jam',
    'toner is low on prn-2',
    'CUPS spooler is stuck',
    'nothing comes out of the print queue',
  ]) {
    const { clear, candidates } = router.rank(text);
    assert.deepEqual([candidates[0]?.name, clear], ['printer-nurse', true], text);
  }
  assert.ok(missed(router).length <= before.length + 1);
});

test('words of one family meet, and those of any question say nothing', () => {
  assert.equal(
    new Set(['restart', 'restarts', 'restarted', 'restarting'].flatMap(wordsOf)).size,
    1,
  );
  assert.equal(new Set(['query', 'queries'].flatMap(wordsOf)).size, 1);
  assert.equal(new Set(['swap', 'swapping'].flatMap(wordsOf)).size, 1);
  assert.deepEqual(wordsOf('What is the one that we have? Who called it?'), []);
  assert.deepEqual(new Router(shipped).rank('what is it?').candidates, []);
});
