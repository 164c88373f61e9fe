import { passagesOfPages, textsOfProduct } from './texts.ts';

/**
 * Prints texts of the product drawn at random, as many of each medium, for readers to judge: `npm run texts -- [count]
 * [seed]`.
 */
const [count = '200', seed = '1'] = process.argv.slice(2);

/** A template of placeholders alone says nothing that could be judged. */
const isWorded = ({ text }: { readonly text: string }): boolean =>
  (text.replaceAll(/\{\w+\}/g, '').match(/\p{L}{2,}/gu) ?? []).length > 1;

const seen = new Set<string>();
const all = [...textsOfProduct(), ...passagesOfPages()].filter(
  (one) => isWorded(one) && !seen.has(one.text) && seen.add(one.text),
);
const media = [...new Set(all.map(({ medium }) => medium))];
let state = Number(seed) >>> 0;
/** A linear congruential generator: the same texts for the same seed. */
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
for (let drawn = 0; drawn < Number(count); drawn++) {
  const of = all.filter(({ medium }) => medium === media[drawn % media.length]);
  const { medium, place, text } = of[random(of.length)]!;
  process.stdout.write(
    `${drawn + 1}. [${medium}] ${place}\n   ${text.replaceAll('\n', '\n   ')}\n`,
  );
}
