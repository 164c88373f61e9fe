import type { Route } from 'svc/contracts/persona';
import type { Persona } from 'svc/sdk';

import examples from './examples.json' with { type: 'json' };
import { Likeness } from './likeness.ts';
import playbooks from './playbooks.json' with { type: 'json' };
import { claims, type Mentioned, Trade } from './trade.ts';
import { isMeaningful, stemsOf, type Word, wordsIn } from './words.ts';

interface Entry {
  readonly name: string;
  /** Weights of its words, by the field they occur in. */
  readonly weights: ReadonlyMap<string, number>;
  readonly length: number;
  /** True if there are examples of it: a user's persona of the same name may be for other questions. */
  readonly exemplified: boolean;
  /** Subjects that it claims. */
  readonly subjects: ReadonlySet<string>;
}

/** Word of a question, and whether the trade or the examples know it. */
interface Shared {
  readonly word: Word;
  readonly standing: keyof typeof wordShares;
}

interface Question {
  readonly words: readonly Word[];
  readonly mentioned: readonly Mentioned[];
  readonly shared: readonly Shared[];
}

/** Part of a question, and how much it speaks for a persona. */
interface Reason {
  readonly said: string;
  readonly share: number;
}

export interface Ranking extends Pick<Route, 'clear' | 'candidates'> {
  /** Words of the question that ranked the first one first; strongest first. */
  readonly words: readonly string[];
}

/** What routing reads of a persona. */
export type Routed = Pick<Persona, 'name' | 'description' | 'when_to_use'> &
  Partial<Pick<Persona, 'tools' | 'source'>>;

/**
 * Constants of BM25: how soon further occurrences of a word stop to count, and how much a long text
 * is penalized.
 */
const saturation = 1.2;
const lengthShare = 0.4;
/** Weights: a word in the name counts more than one in a description, and one in a tool less. */
const fieldWeights = { name: 2.5, when_to_use: 1.5, description: 1, tools: 0.4 } as const;
/**
 * Weights of a shared word beside a subject of the trade: one that told a subject counts there, and
 * one that neither the trade nor an example knows is the persona's own. A persona without examples
 * has its words alone.
 */
const wordShares = { told: 0.35, other: 0.5, own: 1.2 } as const;
/** Weight of words about what is named in a question. */
const looked = 0.8;
/** Weight of the likeness to what others asked. */
const likenessShare = 0.3;
/** Share by which the first one must lead, and the least that it must have. */
const margin = 0.07;
const least = { exemplified: 2, other: 0.6 } as const;
const maxCandidates = 5;
/** Characters that are read: what is pasted below a question says little of what it is about. */
const maxCharacters = 2_000;

/** Ranks personas against a question, without a model: by the subjects and the words that they claim and few others do. */
export class Router {
  readonly #entries: readonly Entry[];
  readonly #meanLength: number;
  /** Rarity of a word among the personas. */
  readonly #rarity: ReadonlyMap<string, number>;
  readonly #claimants: ReadonlyMap<string, number>;

  constructor(personas: readonly Routed[]) {
    this.#entries = personas.map(entryOf);
    this.#meanLength =
      this.#entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, personas.length);
    const counts = counted(this.#entries.map(({ weights }) => weights.keys()));
    const all = personas.length;
    this.#rarity = new Map(
      [...counts].map(([word, count]) => [word, Math.log(1 + (all - count + 0.5) / (count + 0.5))]),
    );
    this.#claimants = counted(this.#entries.map(({ subjects }) => subjects));
  }

  /** Ranks by a question; `hints` are words about what is named in it, such as the role of a host. */
  rank(question: string, hints: readonly string[] = []): Ranking {
    const asked = this.#read(question.slice(0, maxCharacters), hints);
    const isEmpty = asked.mentioned.length === 0 && asked.shared.length === 0;
    const scored = (isEmpty ? [] : this.#entries)
      .map((entry) => {
        const reasons = this.#reasons(entry, asked);
        return { entry, reasons, score: reasons.reduce((sum, { share }) => sum + share, 0) };
      })
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1))
      .slice(0, maxCandidates);
    const [first, second] = scored;
    return {
      clear:
        first !== undefined &&
        first.score >= least[first.entry.exemplified ? 'exemplified' : 'other'] &&
        first.score - (second?.score ?? 0) >= margin * first.score,
      candidates: scored.map(({ entry, score }) => ({
        name: entry.name,
        score: Math.round(score * 100) / 100,
      })),
      words: first === undefined ? [] : strongest(first.reasons),
    };
  }

  #read(question: string, hints: readonly string[]): Question {
    const words = wordsIn(question);
    const hinted = wordsIn(hints.join('. ')).map((word) => ({ ...word, weight: looked }));
    const all = [...words, ...hinted];
    const { mentioned, stems } = knowledge().trade.mentionedIn(question, all);
    const shared = distinct(all.filter(isMeaningful)).map((word) => ({
      word,
      standing: this.#standing(word, stems),
    }));
    return { words, mentioned, shared };
  }

  #standing(word: Word, stems: ReadonlySet<string>): keyof typeof wordShares {
    return stems.has(word.stem) ? 'told' : knowledge().likeness.knows(word) ? 'other' : 'own';
  }

  /** Returns all that a question says for or against a persona. */
  #reasons(entry: Entry, { words, mentioned, shared }: Question): readonly Reason[] {
    return [
      ...mentioned.map((each) => ({ said: each.said, share: this.#subjectShare(entry, each) })),
      ...shared.map((each) => ({ said: each.word.text, share: this.#wordShare(entry, each) })),
      ...(entry.exemplified ? knowledge().likeness.signs(entry.name, words) : []).map(
        ({ text, odds }) => ({
          said: text,
          share: likenessShare * odds,
        }),
      ),
    ];
  }

  #subjectShare({ subjects }: Entry, { subject, strength }: Mentioned): number {
    return subjects.has(subject.about)
      ? (subject.weight * strength) / Math.sqrt(this.#claimants.get(subject.about)!)
      : 0;
  }

  #wordShare({ weights, length, exemplified }: Entry, { word, standing }: Shared): number {
    const weight = weights.get(word.stem) ?? 0;
    const norm = saturation * (1 - lengthShare + (lengthShare * length) / this.#meanLength);
    return weight === 0
      ? 0
      : (word.weight *
          wordShares[exemplified ? standing : 'own'] *
          this.#rarity.get(word.stem)! *
          weight *
          (saturation + 1)) /
          (weight + norm);
  }
}

/** What is known of the trade and of examples; undefined before the first question, because a start would wait for it. */
let known: { readonly trade: Trade; readonly likeness: Likeness } | undefined;

function knowledge(): NonNullable<typeof known> {
  known ??= {
    trade: new Trade(),
    likeness: new Likeness(
      new Map(
        Object.entries(examples).map(([name, texts]) => [
          name,
          [...texts, ...((playbooks as Partial<Record<string, string[]>>)[name] ?? [])].map(
            wordsIn,
          ),
        ]),
      ),
    ),
  };
  return known;
}

function strongest(reasons: readonly Reason[]): readonly string[] {
  const telling = reasons.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  return [...new Set(telling.map(({ said }) => said))].slice(0, 4);
}

function entryOf(persona: Routed): Entry {
  const weights = new Map<string, number>();
  const texts = { ...persona, tools: (persona.tools ?? []).join(' ') };
  let length = 0;
  for (const [field, weight] of Object.entries(fieldWeights)) {
    const words = stemsOf(texts[field as keyof typeof fieldWeights]);
    words.forEach((word) => weights.set(word, (weights.get(word) ?? 0) + weight));
    length += field === 'tools' ? 0 : words.length;
  }
  const claiming = wordsIn(`${persona.name}. ${persona.when_to_use} ${persona.description}`);
  const able = (tool: string | undefined): boolean =>
    tool === undefined || !persona.tools?.length || persona.tools.includes(tool);
  const { trade, likeness } = knowledge();
  const subjects = trade.subjects.filter(
    (subject) => able(subject.needs) && claims(subject, claiming),
  );
  return {
    name: persona.name,
    exemplified: persona.source !== 'user' && likeness.has(persona.name),
    weights,
    length,
    subjects: new Set(subjects.map((s) => s.about)),
  };
}

function counted<Key>(lists: readonly Iterable<Key>[]): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  lists.forEach((list) => [...list].forEach((key) => counts.set(key, (counts.get(key) ?? 0) + 1)));
  return counts;
}

/** Returns the first word of each family; one that does not merely hint goes first. */
const distinct = (words: readonly Word[]): readonly Word[] => [
  ...new Map(
    [
      ...words.filter(({ weight }) => weight < 1),
      ...words.filter(({ weight }) => weight === 1).toReversed(),
    ].map((word) => [word.stem, word]),
  ).values(),
];
