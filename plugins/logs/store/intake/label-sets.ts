import { type Labels, labelsOf, labelsWithEmpty } from 'svc/query';

import { parseLabelsText } from './label-text.ts';
import { remembered } from './remembered.ts';

/**
 * Label sets seen before: sets that every push repeats are sorted once, and recognized by identity
 * afterwards.
 */
export class LabelSets {
  readonly #make: (pairs: readonly (readonly [string, string])[]) => Labels;
  readonly #read = new Map<string, Labels>();
  readonly #known = new Map<string, Labels>();

  constructor(of: 'streams' | 'metadata') {
    this.#make = of === 'streams' ? labelsOf : labelsWithEmpty;
  }

  /**
   * Returns the labels of a JSON object of texts, recognized by its exact bytes; undefined if it is
   * anything else.
   */
  in(body: Buffer, from: number, to: number): Labels | undefined {
    const key = body.toString('latin1', from, to);
    const known = this.#read.get(key);
    if (known !== undefined) {
      return known;
    }
    const record = textsIn(body.toString('utf8', from, to));
    return record && remembered(this.#read, key, this.of(Object.entries(record)));
  }

  /** Parses `{app="web", host="h1"}`. */
  text(text: string): Labels {
    return this.#read.get(text) ?? remembered(this.#read, text, parseLabelsText(text));
  }

  of(pairs: readonly (readonly [string, string])[]): Labels {
    let key = '';
    for (const [name, value] of pairs) {
      // With the lengths, no two sets can look the same.
      key += `${name.length}:${name}${value.length}:${value}`;
    }
    return this.#known.get(key) ?? remembered(this.#known, key, this.#make(pairs));
  }
}

function textsIn(json: string): Readonly<Record<string, string>> | undefined {
  try {
    const record = JSON.parse(json) as Readonly<Record<string, unknown>>;
    return Object.values(record).every((value) => typeof value === 'string')
      ? (record as Readonly<Record<string, string>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Metadata of records, cached by their bytes: within the scope of a resource, records repeat the
 * same over and over.
 */
export class RecordSets {
  readonly #prefixes = new Map<string, string>();
  readonly #known = new Map<string, Labels>();
  #next = 0;

  /**
   * Returns the common key prefix of records with these labels around them; never the same for two,
   * even after the first was dropped.
   */
  prefixOf(around: readonly (readonly [string, string])[]): string {
    const text = JSON.stringify(around);
    return this.#prefixes.get(text) ?? remembered(this.#prefixes, text, `${this.#next++} `);
  }

  get(key: string): Labels | undefined {
    return this.#known.get(key);
  }

  set(key: string, labels: Labels): void {
    remembered(this.#known, key, labels);
  }
}
