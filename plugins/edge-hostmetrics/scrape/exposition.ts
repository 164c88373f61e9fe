import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

export interface ScrapedSample {
  readonly name: string;
  /** Names and values by turns, as they came. */
  readonly labels: readonly string[];
  readonly value: number;
  /** Milliseconds since the epoch, when the sender says. */
  readonly time: number | undefined;
}

export interface ExpositionLimits {
  readonly maxSeries: number;
  /** OpenMetrics: times are in seconds, `# EOF` ends the answer and must be there. */
  readonly openMetrics: boolean;
}

const [maxLabels, longestName, longestValue] = [64, 256, 4_096];
const plainName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const plainNumber = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|0[xX][0-9a-fA-F]+)$/;

/**
 * Parses an exporter's answer in Prometheus' text format or OpenMetrics. A line that is neither
 * rejects the whole answer.
 */
export function* readExposition(
  text: string,
  { maxSeries, openMetrics }: ExpositionLimits,
): Iterable<ScrapedSample> {
  let series = 0;
  let ended = false;
  let number = 0;
  for (let begin = 0; begin < text.length;) {
    const stop = text.indexOf('\n', begin);
    const end = stop === -1 ? text.length : stop;
    const line = text.slice(begin, text[end - 1] === '\r' ? end - 1 : end).trim();
    begin = end + 1;
    number++;
    if (ended && line !== '') {
      throw wrong(number, 'there is text behind # EOF');
    }
    ended ||= openMetrics && line === '# EOF';
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    if (++series > maxSeries) {
      throw errors.too_many_series({ maxSeries });
    }
    yield new SampleLine(line, number, openMetrics).read();
  }
  if (openMetrics && !ended) {
    throw errors.answer_cut_off();
  }
}

class SampleLine {
  readonly #text: string;
  readonly #number: number;
  readonly #openMetrics: boolean;
  #at = 0;

  constructor(text: string, number: number, openMetrics: boolean) {
    this.#text = text;
    this.#number = number;
    this.#openMetrics = openMetrics;
  }

  read(): ScrapedSample {
    let name = this.#word(/[^\s{]/);
    const labels: string[] = [];
    if (this.#text[this.#at] === '{') {
      this.#at++;
      const quoted = this.#labels(labels);
      if ((quoted === undefined) === (name === '')) {
        throw this.#wrong('the metric has no name, or two');
      }
      name = quoted ?? name;
    } else if (!plainName.test(name)) {
      throw this.#wrong(`"${name.slice(0, 60)}" is not a metric name`);
    }
    if (name.length > longestName || labels.length > maxLabels * 2) {
      throw this.#wrong('the name is too long, or there are too many labels');
    }
    // An exemplar of OpenMetrics says nothing about the series.
    const rest = this.#text.slice(this.#at);
    const hash = rest.indexOf(' # ');
    const [value, time, ...more] = (hash === -1 ? rest : rest.slice(0, hash))
      .trim()
      .split(/[ \t]+/);
    if (more.length > 0) {
      throw this.#wrong('there is text behind the time');
    }
    return {
      name,
      labels,
      value: this.#value(value ?? ''),
      time: time === undefined ? undefined : this.#time(time),
    };
  }

  /** Up to the closing brace; answers the name of the metric when that stands among the labels, quoted. */
  #labels(into: string[]): string | undefined {
    let name: string | undefined;
    for (;;) {
      this.#blank();
      if (this.#text[this.#at] === '}') {
        this.#at++;
        return name;
      }
      const quoted = this.#text[this.#at] === '"';
      const key = quoted ? this.#quoted() : this.#word(/[^\s=,}]/);
      this.#blank();
      if (this.#text[this.#at] === '=') {
        this.#at++;
        this.#blank();
        if (
          key === '' ||
          key.length > longestName ||
          !(quoted || /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key))
        ) {
          throw this.#wrong(`"${key.slice(0, 60)}" is not a label name`);
        }
        into.push(key, this.#quoted());
      } else if (quoted && name === undefined && key !== '') {
        name = key;
      } else {
        throw this.#wrong('a label has no value');
      }
      this.#blank();
      if (this.#text[this.#at] === ',') {
        this.#at++;
      } else if (this.#text[this.#at] !== '}') {
        throw this.#wrong('the labels do not end');
      }
    }
  }

  #quoted(): string {
    if (this.#text[this.#at] !== '"') {
      throw this.#wrong('a value is not quoted');
    }
    let value = '';
    for (let from = this.#at + 1; ;) {
      const quote = this.#text.indexOf('"', from);
      const slash = this.#text.indexOf('\\', from);
      if (quote === -1) {
        throw this.#wrong('a quote does not end');
      }
      if (slash === -1 || quote < slash) {
        value += this.#text.slice(from, quote);
        this.#at = quote + 1;
        break;
      }
      const escaped = this.#text[slash + 1] ?? '';
      value +=
        this.#text.slice(from, slash) +
        (escaped === 'n' ? '\n' : escaped === '"' || escaped === '\\' ? escaped : `\\${escaped}`);
      from = slash + 2;
    }
    if (value.length > longestValue) {
      throw this.#wrong(`the value of a label is longer than ${longestValue} characters`);
    }
    return value;
  }

  #word(char: RegExp): string {
    const from = this.#at;
    while (this.#at < this.#text.length && char.test(this.#text[this.#at]!)) {
      this.#at++;
    }
    const word = this.#text.slice(from, this.#at);
    this.#blank();
    return word;
  }

  #blank(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') {
      this.#at++;
    }
  }

  #value(text: string): number {
    if (plainNumber.test(text)) {
      return Number(text);
    }
    switch (text.toLowerCase()) {
      case 'nan':
        return NaN;
      case 'inf':
      case '+inf':
      case 'infinity':
      case '+infinity':
        return Infinity;
      case '-inf':
      case '-infinity':
        return -Infinity;
      default:
        throw this.#wrong(`"${text.slice(0, 60)}" is not a value`);
    }
  }

  #time(text: string): number {
    const time = plainNumber.test(text)
      ? Math.round(Number(text) * (this.#openMetrics ? 1_000 : 1))
      : NaN;
    if (!Number.isSafeInteger(time) || time < 0) {
      throw this.#wrong(`"${text.slice(0, 40)}" is not a time`);
    }
    return time;
  }

  #wrong(what: string): SvcError {
    return wrong(this.#number, what);
  }
}

const wrong = (line: number, what: string): SvcError => errors.answer_line({ line, what });
