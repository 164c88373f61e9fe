import trade from './trade.json' with { type: 'json' };
import { type Word, wordsIn } from './words.ts';

/** One subject of the trade: how a persona claims it, and how people say it. */
export interface Subject {
  readonly about: string;
  readonly weight: number;
  /** Tool without which a persona cannot do what is asked. */
  readonly needs: string | undefined;
  readonly claimed: readonly Phrase[];
}

/** Subjects of a question, and the stems of the words that told them. */
export interface Told {
  readonly mentioned: readonly Mentioned[];
  readonly stems: ReadonlySet<string>;
}

/** Subject that a question is about, and how strongly. */
export interface Mentioned {
  readonly subject: Subject;
  readonly strength: number;
  /** As the question says it. */
  readonly said: string;
}

/** Words in a row; the last one may be a beginning. */
interface Phrase {
  readonly words: readonly Word[];
  readonly open: boolean;
}

/** Share that a further mention of the same subject adds. */
const repeated = 0.35;
/**
 * Forms by which a subject is told that no list of words has: numbers of incidents, names of metrics.
 */
const patterns: readonly (readonly [about: string, pattern: RegExp])[] = [
  ['one incident', /(?:^|\s)#\d{1,7}\b|\binc(?:ident)?[ -]?\d+/iu],
  ['meaning of a metric', /\bnode_[a-z_]+|\b[a-z]+_[a-z_]+_(?:total|bytes|seconds|ratio)\b/iu],
];

/** Letters of a word that is recognized inside of another. */
const shortestInside = 6;

/** Factor of a phrase of several words: it is more exact than a word. */
const exact = 1.25;

/** The subjects of operations, with the words of those who ask: synonyms, error texts, some German. */
export class Trade {
  readonly subjects: readonly Subject[];
  readonly #patterns: readonly (readonly [Subject, RegExp])[];
  /** Phrases by the first three letters of their first word, longest first. */
  readonly #phrases: ReadonlyMap<string, Claimed>;
  /** Phrases of one word or two by their letters without a space. */
  readonly #joined: ReadonlyMap<string, Claimed>;
  /** Beginnings that are long enough to be recognized inside of another word. */
  readonly #openWords: Claimed;

  constructor(data: readonly TradeData[] = trade) {
    const read = data.map((each) => ({ each, subject: subjectOf(each) }));
    this.subjects = read.map(({ subject }) => subject);
    this.#patterns = patterns.flatMap(([about, pattern]) => {
      const subject = this.subjects.find((each) => each.about === about);
      return subject === undefined ? [] : [[subject, pattern] as const];
    });
    const phrases = read
      .flatMap(({ each, subject }) =>
        phrasesOf(each.said).map((phrase) => [subject, phrase] as const),
      )
      .toSorted(([, a], [, b]) => b.words.length - a.words.length);
    const byBeginning = new Map<string, (readonly [Subject, Phrase])[]>();
    for (const each of phrases) {
      const key = beginning(each[1].words[0]!);
      byBeginning.set(key, [...(byBeginning.get(key) ?? []), each]);
    }
    this.#phrases = byBeginning;
    const joined = new Map<string, Claimed>();
    for (const each of phrases.filter(([, { words }]) => words.length <= 2)) {
      const letters = each[1].words.map(({ text }) => text).join('');
      joined.set(letters, [...(joined.get(letters) ?? []), each]);
    }
    this.#joined = joined;
    this.#openWords = phrases.filter(
      ([, { words, open }]) =>
        open && words.length === 1 && words[0]!.text.length >= shortestInside,
    );
  }

  /** Returns the subjects that a text mentions; of phrases that begin at one word, the longest counts. */
  mentionedIn(text: string, words: readonly Word[]): Told {
    const found = new Map<Subject, { strength: number; said: string }>();
    const stems = new Set<string>();
    const add = (subject: Subject, strength: number, said: string): void => {
      const known = found.get(subject);
      found.set(subject, {
        strength: known === undefined ? strength : known.strength + repeated * strength,
        said: known?.said ?? said,
      });
    };
    for (let at = 0; at < words.length;) {
      const standing = (this.#phrases.get(beginning(words[at]!)) ?? []).filter(([, phrase]) =>
        stands(phrase, words, at),
      );
      const { here, length } =
        standing.length > 0
          ? { here: standing, length: standing[0]![1].words.length }
          : this.#writtenOtherwise(words, at);
      const meant = words.slice(at, at + length);
      const strength = (length > 1 ? exact : 1) * Math.max(...meant.map(({ weight }) => weight));
      here
        .filter(([, phrase]) => standing.length === 0 || phrase.words.length === length)
        .forEach(([subject]) => add(subject, strength, meant.map((word) => word.text).join(' ')));
      if (here.length > 0) {
        meant.forEach(({ stem }) => stems.add(stem));
      }
      at += length;
    }
    for (const [subject, pattern] of this.#patterns) {
      const match = pattern.exec(text);
      if (match !== null) {
        add(subject, 1, match[0].trim());
      }
    }
    return { mentioned: [...found].map(([subject, rest]) => ({ subject, ...rest })), stems };
  }

  /** Finds phrases that are written as one word or as two: `bruteforce`, `post mortem`; and words inside of a word: `ksoftirqd`. */
  #writtenOtherwise(
    words: readonly Word[],
    at: number,
  ): { readonly here: Claimed; readonly length: number } {
    const { text, weight } = words[at]!;
    const joined = this.#joined.get(text);
    if (joined !== undefined) {
      return { here: joined, length: 1 };
    }
    const next = words[at + 1];
    const both = next === undefined ? undefined : this.#joined.get(text + next.text);
    if (both !== undefined) {
      return { here: both, length: 2 };
    }
    const inside =
      weight < 1 || text.length <= shortestInside
        ? []
        : this.#openWords.filter(([, { words: phrase }]) => text.includes(phrase[0]!.text));
    return { here: inside, length: 1 };
  }
}

type Claimed = readonly (readonly [Subject, Phrase])[];

type TradeData = {
  readonly about: string;
  readonly claimed: string;
  readonly said: string;
  readonly weight: number;
  readonly needs?: string;
};

const subjectOf = ({ about, weight, needs, claimed }: TradeData): Subject => ({
  about,
  weight,
  needs,
  claimed: phrasesOf(claimed),
});

const phrasesOf = (list: string): readonly Phrase[] =>
  list.split(', ').map((text) => ({ words: wordsIn(text), open: text.endsWith('*') }));

const beginning = ({ text }: Word): string => text.slice(0, 3);

/** Returns whether a text claims a subject. */
export const claims = ({ claimed }: Subject, words: readonly Word[]): boolean =>
  claimed.some((phrase) => words.some((_, at) => stands(phrase, words, at)));

function stands({ words: phrase, open }: Phrase, words: readonly Word[], at: number): boolean {
  return phrase.every(({ text, stem }, index) => {
    const word = words[at + index];
    return (
      word !== undefined &&
      (open && index === phrase.length - 1
        ? word.text.startsWith(text)
        : word.text === text || word.stem === stem)
    );
  });
}
