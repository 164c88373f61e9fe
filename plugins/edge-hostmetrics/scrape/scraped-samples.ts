import { BadLine, type ExpositionSink, type Label, readExposition } from 'svc/query';

import { errors } from './errors.ts';

export interface ScrapedSample {
  readonly name: string;
  /** Names and values by turns, as they came. */
  readonly labels: readonly string[];
  readonly value: number;
  /** Milliseconds since the epoch, when the sender says. */
  readonly time: number | undefined;
}

export interface ScrapeLimits {
  readonly maxSeries: number;
  readonly openMetrics: boolean;
}

const [maxLabels, maxName, maxValue] = [64, 256, 4_096];

/** Returns what an exporter, which is not trusted, answers with. A line that is none, or that says too much, refuses the whole. */
export function scrapedSamples(
  text: string,
  { maxSeries, openMetrics }: ScrapeLimits,
): readonly ScrapedSample[] {
  const sink = new SampleSink(maxSeries);
  const refusal = (line: number, what: string) => errors.answer_line({ line, what });
  readExposition(Buffer.from(text), { openMetrics, refusal }, sink);
  return sink.samples;
}

class SampleSink implements ExpositionSink {
  readonly samples: ScrapedSample[] = [];
  readonly #maxSeries: number;
  #name = '';
  #labels: readonly string[] = [];

  constructor(maxSeries: number) {
    this.#maxSeries = maxSeries;
  }

  series(pairs: Label[]): number {
    if (this.samples.length >= this.#maxSeries) {
      throw errors.too_many_series({ maxSeries: this.#maxSeries });
    }
    const at = pairs.findIndex(([name]) => name === '__name__');
    const [, name = ''] = pairs.splice(at, at === -1 ? 0 : 1)[0] ?? [];
    if (name === '') {
      throw new BadLine('the metric has no name');
    }
    if (
      pairs.length > maxLabels ||
      [name, ...pairs.map(([label]) => label)].some(({ length }) => length > maxName)
    ) {
      throw new BadLine('a name is too long, or there are too many labels');
    }
    if (pairs.some(([, { length }]) => length > maxValue)) {
      throw new BadLine(`the value of a label is longer than ${maxValue} characters`);
    }
    this.#name = name;
    this.#labels = pairs.flat();
    return this.samples.length;
  }

  sample(_series: number, value: number, time: number | undefined): void {
    if (time !== undefined && time < 0) {
      throw new BadLine(`"${time}" is not a time`);
    }
    this.samples.push({ name: this.#name, labels: this.#labels, value, time });
  }
}
