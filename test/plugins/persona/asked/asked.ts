import { readFileSync } from 'node:fs';

import { seeded } from 'svc/seeded';

export interface Asked {
  /** Agents that are right to answer. */
  readonly right: readonly string[];
  readonly text: string;
}

const read = (file: string): readonly Asked[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.indexOf(' | ');
      return { right: line.slice(0, at).split(','), text: line.slice(at + 3) };
    });

const random = seeded('routing', 35);
const own = read('own.txt')
  .map((asked) => ({ asked, at: random() }))
  .toSorted((a, b) => a.at - b.at)
  .map(({ asked }) => asked);

/** Questions that the routing may be fitted to. */
export const fitting: readonly Asked[] = own.slice(0, 150);
/** Questions that nothing is fitted to: whoever changes the routing to answer one of them moves it to the others. */
export const proof: readonly Asked[] = [...own.slice(150), ...read('outside.txt')];
