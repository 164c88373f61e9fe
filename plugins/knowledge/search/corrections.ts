import type Database from 'better-sqlite3';

import type { Audiences } from './audience.ts';
import { everyDocument } from './index-file.ts';

/** A term that may have been meant, and how sure that is. */
export interface Correction {
  readonly term: string;
  readonly weight: number;
}

const maxCorrections = 3;
const shortest = 4;
/** Max length of the rest of a word that was not finished. */
const longestRest = 12;

interface Known {
  readonly term: string;
  readonly docs: number;
}

interface Frequency {
  readonly docs: number;
  readonly chunks: number;
}

/** `@among`: audiences as JSON, null for all; `@lowest`: 0 leaves out those of devices. */
const isSeen =
  '((@among IS NULL OR org IN (SELECT value FROM json_each(@among))) AND (@lowest IS NULL OR org >= @lowest))';

/**
 * Vocabulary of an index as one reader sees it: how common each word is, and which ones a misspelt
 * word may stand for. It counts no document that the reader may not see: otherwise the results of a
 * question, and their rank, would reveal which words those contain.
 */
export class Vocabulary {
  readonly #seen: { readonly among: string | null; readonly lowest: number | null };
  readonly #one: Database.Statement;
  readonly #alike: Database.Statement;
  readonly #continued: Database.Statement;

  constructor(db: Database.Database, { among, ofDevices }: Audiences) {
    this.#seen = {
      among: among === undefined ? null : JSON.stringify(among),
      lowest: ofDevices ? null : 0,
    };
    // Chunks show the cost of searching the whole index, whoever may see them.
    this.#one = db.prepare(
      `SELECT coalesce(sum(docs) FILTER (WHERE ${isSeen}), 0) AS docs, coalesce(sum(chunks), 0) AS chunks FROM vocabulary WHERE term = @term`,
    );
    const known = `SELECT term, sum(docs) AS docs FROM vocabulary WHERE term >= @from AND term < @before AND length(term) BETWEEN @least AND @most`;
    // Names of hosts and the like are most of a vocabulary, and nobody's slip of the fingers.
    this.#alike = db.prepare(
      `${known} AND term NOT GLOB '*[0-9._:/-]*' AND ${isSeen} GROUP BY term`,
    );
    this.#continued = db.prepare(
      `${known} AND ${isSeen} GROUP BY term ORDER BY docs DESC, term LIMIT ${maxCorrections}`,
    );
  }

  /** Documents that the reader sees. */
  get documents(): number {
    return this.frequency(everyDocument).docs;
  }

  /** Returns how many documents and chunks contain it. */
  frequency(term: string): Frequency {
    return this.#one.get({ ...this.#seen, term }) as Frequency;
  }

  /** Known words that are a slip of the fingers away from an unknown one, or begin with it. */
  corrections(term: string): readonly Correction[] {
    if (term.length < shortest || !/^\p{L}+$/u.test(term)) {
      return [];
    }
    const far = term.length >= 8 ? 2 : 1;
    const found = new Map<string, { weight: number; docs: number }>();
    const knownTerms = (
      statement: Database.Statement,
      from: string,
      least: number,
      most: number,
    ): Known[] =>
      statement.all({ ...this.#seen, from, before: after(from), least, most }) as Known[];
    for (const { term: known, docs } of knownTerms(
      this.#continued,
      term,
      term.length,
      term.length + longestRest,
    )) {
      found.set(known, { weight: 0.5, docs });
    }
    // The two letters that were swapped may be the first two.
    for (const first of new Set([term[0]!, term[1]!])) {
      for (const { term: known, docs } of knownTerms(
        this.#alike,
        first,
        term.length - far,
        term.length + far,
      )) {
        const steps = distance(term, known, far);
        if (steps <= far) {
          found.set(known, { weight: steps === 1 ? 0.8 : 0.55, docs });
        }
      }
    }
    return [...found]
      .toSorted(([, a], [, b]) => b.weight - a.weight || b.docs - a.docs)
      .slice(0, maxCorrections)
      .map(([known, { weight }]) => ({ term: known, weight }));
  }

  /** Returns two known words that were written as one. */
  parts(term: string): readonly [string, string] | undefined {
    let best: { parts: [string, string]; docs: number } | undefined;
    for (let at = 3; at <= term.length - 3; at++) {
      const parts: [string, string] = [term.slice(0, at), term.slice(at)];
      const docs = Math.min(this.frequency(parts[0]).docs, this.frequency(parts[1]).docs);
      if (docs > (best?.docs ?? 0)) {
        best = { parts, docs };
      }
    }
    return best?.parts;
  }
}

/** The first text after all that begin with `prefix`. */
const after = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/**
 * Returns the number of letters added, omitted, replaced or swapped with their neighbour; `most`
 * plus one if it is larger.
 */
function distance(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(row[j]! + 1, current[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      current.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) {
      return most + 1;
    }
    [before, row] = [row, current];
  }
  return row[b.length]!;
}
