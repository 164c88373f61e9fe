import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Medium, type Said, saidIn } from './said.ts';
import { parsedTexts } from './syntax.ts';
import { textsOfProduct } from './texts.ts';
import { misspoken } from './vocabulary.ts';

const said = textsOfProduct();

/** How many texts of a medium may still use an avoided word: a medium that is clean stays so, the others only get better. */
const left: Readonly<Record<Medium, number>> = {
  console: 0,
  command: 35,
  api: 0,
  log: 3,
  error: 8,
};

const faultsOf = (texts: readonly Said[]): string[] =>
  texts.flatMap(({ place, text }) =>
    misspoken(text).map((fault) => `${place} ${JSON.stringify(text)}: ${fault}`),
  );

for (const medium of Object.keys(left) as Medium[]) {
  const texts = said.filter((one) => one.medium === medium);
  test(`the ${medium} speaks the words of the trade`, (t) => {
    assert.ok(texts.length > 50, `${texts.length} texts`);
    const faults = faultsOf(texts);
    t.diagnostic(`${faults.length} of ${texts.length}`);
    assert.ok(faults.length <= left[medium], faults.join('\n'));
  });
}

const planted: readonly [code: string, medium: Medium, fault: RegExp][] = [
  [`words('rules', { none: 'No rule is called so.' })`, 'console', /matching/],
  [`log.warn({ event: 'x.y' }, 'nobody was told')`, 'log', /operator.*|sent/],
  ['ctx.log?.info({}, `plugin ${id} is away`)', 'log', /not available/],
  [`defineErrors('a', { gone: ['not_found', 'The pack is gone.'] })`, 'error', /deleted/],
  [`route({ summary: 'Forget an agent' })`, 'api', /delete/],
];

test('a text is found by what carries it', () => {
  const [command, code, ...files] = parsedTexts([
    ['bin/x.ts', `({ summary: 'x' })`],
    ['y.ts', `log.warn({ event: 'told.room' })`],
    ...planted.map(([text], index) => [`${index}.ts`, text] as const),
  ]);
  assert.equal(saidIn(command!)[0]!.medium, 'command');
  assert.deepEqual(saidIn(code!), []);
  planted.forEach(([text, medium, fault], index) => {
    const texts = saidIn(files[index]!);
    assert.deepEqual([...new Set(texts.map((one) => one.medium))], [medium], text);
    assert.match(faultsOf(texts).join('\n'), fault, text);
  });
});

test('such as, and burn rates, are English', () => {
  assert.deepEqual(misspoken('Separated by commas, such as db; the burn rate.'), []);
});
