import type { Route } from 'svc/contracts/persona';
import type { Persona } from 'svc/sdk';

interface Entry {
  readonly name: string;
  /** Weights of its words, by the field they occur in. */
  readonly weights: ReadonlyMap<string, number>;
  readonly length: number;
}

export interface Ranking extends Pick<Route, 'clear' | 'candidates'> {
  /** Words of the question that ranked the first one first; strongest first. */
  readonly words: readonly string[];
}

/**
 * Constants of BM25: how soon further occurrences of a word stop to count, and how much a long text
 * is penalized.
 */
const saturation = 1.2;
const lengthShare = 0.4;
/** Weights: a word in the name counts more than one in a description. */
const fieldWeights = { name: 2.5, when_to_use: 1.5, description: 1 } as const;
/** Factor by which the first one must lead. */
const margin = 1.15;
const maxCandidates = 5;

/** Ranks personas against a question, without a model: by the words that they claim and few others do. */
export class Router {
  readonly #entries: readonly Entry[];
  readonly #meanLength: number;
  /** Rarity of a word among the personas. */
  readonly #rarity: ReadonlyMap<string, number>;

  constructor(personas: readonly Pick<Persona, keyof typeof fieldWeights>[]) {
    this.#entries = personas.map(entryOf);
    this.#meanLength =
      this.#entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, personas.length);
    const counts = new Map<string, number>();
    this.#entries.forEach(({ weights }) =>
      [...weights.keys()].forEach((word) => counts.set(word, (counts.get(word) ?? 0) + 1)),
    );
    const all = personas.length;
    this.#rarity = new Map(
      [...counts].map(([word, count]) => [word, Math.log(1 + (all - count + 0.5) / (count + 0.5))]),
    );
  }

  rank(question: string): Ranking {
    const families = familiesOf(question);
    const words = [...families.keys()];
    const scored = this.#entries
      .map((entry) => ({
        entry,
        score: words.reduce((sum, word) => sum + this.#share(entry, word), 0),
      }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1))
      .slice(0, maxCandidates);
    const [first, second] = scored;
    return {
      clear: first !== undefined && first.score > margin * (second?.score ?? 0),
      candidates: scored.map(({ entry, score }) => ({
        name: entry.name,
        score: Math.round(score * 100) / 100,
      })),
      words:
        first === undefined
          ? []
          : strongest(words, (word) => this.#share(first.entry, word)).map((word) =>
              families.get(word)!,
            ),
    };
  }

  #share({ weights, length }: Entry, word: string): number {
    const weight = weights.get(word) ?? 0;
    const norm = saturation * (1 - lengthShare + (lengthShare * length) / this.#meanLength);
    return weight === 0
      ? 0
      : (this.#rarity.get(word)! * weight * (saturation + 1)) / (weight + norm);
  }
}

function entryOf(persona: Pick<Persona, keyof typeof fieldWeights>): Entry {
  const weights = new Map<string, number>();
  let length = 0;
  for (const [field, weight] of Object.entries(fieldWeights)) {
    const words = wordsOf(persona[field as keyof typeof fieldWeights]);
    words.forEach((word) => weights.set(word, (weights.get(word) ?? 0) + weight));
    length += words.length;
  }
  return { name: persona.name, weights, length };
}

const strongest = (words: readonly string[], share: (word: string) => number): readonly string[] =>
  words
    .filter((word) => share(word) > 0)
    .toSorted((a, b) => share(b) - share(a))
    .slice(0, 4);

/** Words that occur in any question. */
const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any anything are as at be because been before being but by can cannot could did do does doing done
   for from get give go got had has have having he help her here hey hi him his how i if in into is it its just know let like look make
   me might more most much must my need no not now of off on once one only or other our out over own please same see shall she should
   show so some somebody something svc tell than thank thanks that the their them then there these they thing this those through to too
   under until up us use very want was we were what when where whether which while who whom whose why will with would yes you your
   someone check still really today currently happen happened happening call calls called calling`.split(
    /\s+/,
  ),
);

/** Returns the stemmed words of a text, in order. */
export const wordsOf = (text: string): readonly string[] => meaningful(text).map(stem);

/** Returns distinct stems, each with the word as it occurred. */
const familiesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    meaningful(text)
      .toReversed()
      .map((word) => [stem(word), word]),
  );

const meaningful = (text: string): readonly string[] =>
  (
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).filter((word) => !stopWords.has(word) && word.length > 1);

/** Enough of an English ending is taken off for words of one family to meet: `restarts`, `restarted`, `restarting`. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) {
    return word;
  }
  const bare = word
    .replace(/(?:ies)$/, 'y')
    .replace(/(?:sses)$/, 'ss')
    .replace(/(?<=[^su])s$/, '');
  const root = bare.replace(/(?<=.{3})(?:ing|ed|er|or|ion|ions|ly|ment)$/, '');
  return root.replace(/(?<=.{2})([^aeiouls])\1$/, '$1').replace(/(?<=.{3})e$/, '');
}
