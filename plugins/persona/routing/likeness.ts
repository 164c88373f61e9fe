import { isMeaningful, type Word } from './words.ts';

/** How much a part of a question speaks for a persona, as a logarithm of odds. */
export interface Sign {
  readonly text: string;
  readonly odds: number;
}

/** Occurrences that are assumed beside those that were seen. */
const assumed = 0.3;
/** Share of a word of any question: how it is asked hints at who is asked. */
const commonShare = 0.7;

/**
 * Likeness of a question to examples of what people ask each persona: naive Bayes over words and
 * pairs of words. Parts that no example has say nothing.
 */
export class Likeness {
  readonly #counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #all: number;

  /** Examples by the name of the persona that they belong to. */
  constructor(examples: ReadonlyMap<string, readonly (readonly Word[])[]>) {
    const counts = new Map<string, Map<string, number>>();
    for (const [name, texts] of examples) {
      for (const { key } of texts.flatMap(partsOf)) {
        const byName = counts.get(key) ?? new Map<string, number>();
        counts.set(key, byName.set(name, (byName.get(name) ?? 0) + 1));
      }
    }
    this.#counts = counts;
    this.#sizes = new Map([...examples].map(([name, { length }]) => [name, length]));
    this.#all = [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** Returns whether there are examples of a persona. */
  has(name: string): boolean {
    return this.#sizes.has(name);
  }

  /** Returns whether any example has a word. */
  knows({ stem }: Word): boolean {
    return this.#counts.has(stem);
  }

  /** Returns the parts of a question that speak for or against a persona; none for one without examples. */
  signs(name: string, words: readonly Word[]): readonly Sign[] {
    const size = this.#sizes.get(name);
    if (size === undefined) {
      return [];
    }
    return partsOf(words).flatMap(({ key, text, share }) => {
      const byName = this.#counts.get(key);
      return byName === undefined ? [] : [{ text, odds: share * this.#odds(byName, name, size) }];
    });
  }

  #odds(byName: ReadonlyMap<string, number>, name: string, size: number): number {
    const own = byName.get(name) ?? 0;
    const others = [...byName.values()].reduce((sum, count) => sum + count, 0) - own;
    const room = assumed * this.#sizes.size;
    const odds =
      Math.log((own + assumed) / (size + room)) -
      Math.log((others + assumed) / (this.#all - size + room));
    // A word that it merely lacks says nothing for a persona that has few examples.
    return own === 0 ? Math.min(0, odds) : odds;
  }
}

/** Part of a question: a word, or two in a row. */
interface Part {
  readonly key: string;
  readonly text: string;
  readonly share: number;
}

/** Returns words and pairs of words, each once; names of machines and numbers are everybody's. */
function partsOf(words: readonly Word[]): readonly Part[] {
  const telling = words.filter(({ weight }) => weight === 1);
  const pairs = telling.slice(1).flatMap((word, at) => {
    const before = telling[at]!;
    return isMeaningful(before) || isMeaningful(word)
      ? [{ key: `${before.stem} ${word.stem}`, text: `${before.text} ${word.text}`, share: 1 }]
      : [];
  });
  const single = telling
    .filter(({ text }) => !/^\d+$/.test(text))
    .map((word) => ({
      key: word.stem,
      text: word.text,
      share: isMeaningful(word) ? 1 : commonShare,
    }));
  return [...new Map([...single, ...pairs].map((part) => [part.key, part])).values()];
}
