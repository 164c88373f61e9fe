import { type SvcError } from 'svc/sdk';
import { type Labels, labelsOf } from 'svc/query';
import { unquote } from 'svc/template';

import { errors } from './errors.ts';

/** Formats a label set: `{app="web", host="h1"}`. */
export function labelsText(labels: Labels): string {
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    pairs.push(`${labels[i]}=${JSON.stringify(labels[i + 1])}`);
  }
  return `{${pairs.join(', ')}}`;
}

/**
 * Returns what is wrong with the first name that no selector could use, in the words that Loki
 * senders know; names are sorted.
 */
export function unparsable(labels: Labels): string | undefined {
  let column = 2;
  for (let i = 0; i < labels.length; i += 2) {
    const name = labels[i]!;
    const bad = name === '' ? 0 : /^[0-9]/.test(name) ? 0 : name.search(/[^a-zA-Z0-9_]/);
    if (bad >= 0) {
      const char = String.fromCodePoint(name.codePointAt(bad) ?? 0x3d);
      return `couldn't parse labels: 1:${column + bad}: parse error: unexpected character inside braces: '${char}'`;
    }
    column += name.length + JSON.stringify(labels[i + 1]).length + 3;
  }
  return undefined;
}

const maxLabels = 1_000;

/** Reads `{app="web", host="h1"}`, as senders of protobuf write it. */
export function parseLabelsText(text: string): Labels {
  return new LabelText(text).read();
}

class LabelText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Labels {
    const pairs: [string, string][] = [];
    this.#expect('{');
    while (this.#peek() !== '}') {
      const name = this.#name();
      this.#expect('=');
      if (pairs.push([name, this.#value()]) > maxLabels) {
        throw errors.too_many_labels({ max: maxLabels });
      }
      if (this.#peek() === ',') {
        this.#at++;
      } else if (this.#peek() !== '}') {
        throw this.#unexpected();
      }
    }
    this.#at++;
    if (this.#peek() !== undefined) {
      throw this.#unexpected();
    }
    return labelsOf(pairs);
  }

  #name(): string {
    this.#peek();
    const name = /^[a-zA-Z_][a-zA-Z0-9_]*/.exec(this.#text.slice(this.#at, this.#at + 4_096))?.[0];
    if (name === undefined) {
      throw this.#unexpected();
    }
    this.#at += name.length;
    return name;
  }

  /** Parses a value, quoted as in Go or in backquotes. */
  #value(): string {
    const opening = this.#peek();
    const start = this.#at + 1;
    if (opening === '`') {
      const end = this.#text.indexOf('`', start);
      if (end < 0) {
        throw this.#unexpected();
      }
      this.#at = end + 1;
      return this.#text.slice(start, end);
    }
    if (opening !== '"') {
      throw this.#unexpected();
    }
    for (
      this.#at = start;
      this.#text[this.#at] !== '"';
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    ) {
      if (this.#at >= this.#text.length) {
        throw this.#unexpected();
      }
    }
    const value = unquote(this.#text.slice(start, this.#at++));
    if (value === undefined) {
      throw errors.label_escape({ start: start + 1 });
    }
    return value;
  }

  #expect(char: string): void {
    if (this.#peek() !== char) {
      throw this.#unexpected();
    }
    this.#at++;
  }

  #peek(): string | undefined {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? '.')) {
      this.#at++;
    }
    return this.#text[this.#at];
  }

  #unexpected(): SvcError {
    const char = this.#text[this.#at];
    const what =
      char === undefined
        ? 'unexpected end of input inside braces'
        : `unexpected character inside braces: '${char}'`;
    return errors.label_syntax({ at: this.#at + 1, what });
  }
}
