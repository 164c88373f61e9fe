import { labelNames } from '../lines/label-name.ts';
import type { WorkingLine } from '../lines/working-line.ts';
import {
  deepest,
  JsonFault,
  jsonFaults,
  scalarEnd,
  skipBlank,
  stringEnd,
  stringValue,
  valueEnd,
} from './json-scan.ts';

const quote = 34;
const colon = 58;
const comma = 44;
const brace = 123;
const closing = 125;
const bracket = 91;
const letterN = 110;

/** Max fields of a line that are predicted to recur at the same position in the next one. */
const maxExpected = 256;

/**
 * Reader that makes labels of all fields of an object. Lines of a stream mostly have the same keys
 * in the same order: what was at a position last time is tried first.
 */
export class FieldReader {
  readonly #wanted: ReadonlySet<string> | undefined;
  #text = '';
  #work: WorkingLine | undefined;
  #place = 0;
  readonly #nameOf = labelNames();
  /**
   * Keys by position, as written with quotes, with the text before each and the name it becomes.
   */
  readonly #keys: string[] = [];
  readonly #prefixes: string[] = [];
  readonly #names: string[] = [];

  /** Names that are asked for, or would be if another label had them already. */
  readonly #asked: ReadonlySet<string> | undefined;

  constructor(wanted: ReadonlySet<string> | undefined) {
    this.#wanted = wanted;
    this.#asked =
      wanted === undefined
        ? undefined
        : new Set([...wanted, ...[...wanted].map((name) => name.replace(/_extracted$/, ''))]);
  }

  read(work: WorkingLine): void {
    this.#text = work.line;
    this.#work = work;
    this.#place = 0;
    this.#object(skipBlank(work.line, 0), '', 0);
  }

  /** Answers the place behind the object at `at`. */
  #object(at: number, prefix: string, depth: number): number {
    const text = this.#text;
    if (text.charCodeAt(at) !== brace || depth > deepest) {
      throw new JsonFault(jsonFaults.object);
    }
    let i = skipBlank(text, at + 1);
    if (text.charCodeAt(i) === closing) {
      return i + 1;
    }
    for (;;) {
      if (text.charCodeAt(i) !== quote) {
        throw new JsonFault(jsonFaults.object);
      }
      const place = this.#place++;
      const expected = this.#prefixes[place] === prefix && text.startsWith(this.#keys[place]!, i);
      const keyEnd = expected ? i + this.#keys[place]!.length : stringEnd(text, i);
      const name = expected ? this.#names[place]! : this.#learn(place, i, keyEnd, prefix);
      i = skipBlank(text, keyEnd);
      if (text.charCodeAt(i) !== colon) {
        throw new JsonFault(jsonFaults.object);
      }
      i = skipBlank(text, this.#value(skipBlank(text, i + 1), name, depth));
      const next = text.charCodeAt(i);
      if (next === closing) {
        return i + 1;
      }
      if (next !== comma) {
        throw new JsonFault(jsonFaults.object);
      }
      i = skipBlank(text, i + 1);
    }
  }

  #value(at: number, name: string, depth: number): number {
    const text = this.#text;
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = stringEnd(text, at);
        const label = this.#label(name);
        if (label !== undefined) {
          this.#work!.add(label, stringValue(text, at, end));
        }
        return end;
      }
      case brace:
        return this.#object(at, name, depth + 1);
      case bracket:
      case letterN:
        return valueEnd(text, at, depth + 1);
      default: {
        const end = scalarEnd(text, at);
        const label = this.#label(name);
        if (label !== undefined) {
          this.#work!.add(label, text.slice(at, end));
        }
        return end;
      }
    }
  }

  /** Returns the name under which the value is kept; undefined if it is not needed. */
  #label(name: string): string | undefined {
    const wanted = this.#wanted;
    const asked = this.#asked;
    if (name === '' || (asked !== undefined && !asked.has(name))) {
      return undefined;
    }
    const label = this.#work!.nameFor(name);
    return label === undefined || wanted === undefined || wanted.has(label) ? label : undefined;
  }

  #learn(place: number, at: number, end: number, prefix: string): string {
    const key = stringValue(this.#text, at, end);
    const name =
      prefix === '' ? this.#nameOf(key) : `${prefix}_${this.#nameOf(`_${key}`).slice(1)}`;
    if (place < maxExpected) {
      this.#keys[place] = this.#text.slice(at, end);
      this.#prefixes[place] = prefix;
      this.#names[place] = name;
    }
    return name;
  }
}
