import { type Labels, labelsOf, labelsWithEmpty } from 'svc/query';

import { parseLabelsText } from './label-text.ts';
import { remembered } from './remembered.ts';

/** Label sets that were met before: what every push says again is sorted once, and told by its identity from then on. */
export class LabelSets {
  readonly #make: (pairs: readonly (readonly [string, string])[]) => Labels;
  readonly #read = new Map<string, Labels>();
  readonly #known = new Map<string, Labels>();

  constructor(of: 'streams' | 'metadata') {
    this.#make = of === 'streams' ? labelsOf : labelsWithEmpty;
  }

  /** Of an object of texts in JSON, known by its very bytes; undefined when that is not what they are. */
  in(body: Buffer, from: number, to: number): Labels | undefined {
    const key = body.toString('latin1', from, to);
    const known = this.#read.get(key);
    if (known !== undefined) {
      return known;
    }
    const record = textsIn(body.toString('utf8', from, to));
    return record && remembered(this.#read, key, this.of(Object.entries(record)));
  }

  /** Of `{app="web", host="h1"}`. */
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
 * The metadata of records, by the bytes that say it: within what a resource and a scope say of all of theirs, records say
 * the same over and over.
 */
export class RecordSets {
  readonly #prefixes = new Map<string, string>();
  readonly #known = new Map<string, Labels>();
  #next = 0;

  /** What the keys of records begin with that have this in common; never the same for two, also when the first is forgotten. */
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
