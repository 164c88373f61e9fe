import { parseFloatGo } from '../json/numbers.ts';

import { BadLine } from './bad-line.ts';
import { type OpenComment, openComment, openTail } from './open-metrics.ts';
import { endOfSeries, type Label, labelsOfText, skipBlank, unescaped } from './series.ts';

export type { Label } from './series.ts';

/** Type, help and unit of a metric, as its comments say. */
export interface SaidOfMetric {
  readonly type: string;
  readonly help: string;
  readonly unit: string;
}

/** Takes what a text says, in the order of its lines. A BadLine that it throws is told with the number of the line. */
export interface ExpositionSink {
  /** The series that these bytes have named before; -1 when they are news. */
  known?(text: Buffer, from: number, to: number): number;
  /** The series of these labels, which the bytes name. */
  series(labels: Label[], text: Buffer, from: number, to: number): number;
  /** `time`: milliseconds since the epoch; undefined where the text says none. */
  sample(series: number, value: number, time: number | undefined): void;
  /** Takes an exemplar of the sample before it; OpenMetrics alone has them. */
  exemplar?(series: number, labels: Label[], value: number, time: number | undefined): void;
  /** After the last line, once for each metric that has comments. */
  described?(metric: string, said: SaidOfMetric): void;
}

export interface ExpositionReading {
  /** Times in seconds, exemplars, and an end that is said. */
  readonly openMetrics: boolean;
  /** Makes the error of a line that is none. */
  readonly refusal: (line: number, what: string) => Error;
}

type Described = Map<string, { type: string; help: string; unit: string }>;

const newline = 0x0a;
const hash = 0x23;

/**
 * Reads the text formats that exporters answer with, of valid UTF-8. A line that is none ends the reading: a sink that has taken
 * lines before it drops them.
 */
export function readExposition(
  text: Buffer,
  { openMetrics, refusal }: ExpositionReading,
  sink: ExpositionSink,
): void {
  const described: Described | undefined = sink.described && new Map();
  let number = 0;
  let ended = false;
  try {
    for (let begin = 0; begin < text.length;) {
      number++;
      const stop = text.indexOf(newline, begin);
      const end = stop === -1 ? text.length : stop;
      const from = openMetrics ? begin : skipBlank(text, begin, end);
      if (ended || (openMetrics && from >= end)) {
        throw new BadLine(ended ? 'there is more behind # EOF' : 'the line is empty');
      }
      if (from < end) {
        if (text[from] !== hash) {
          readSample(text, from, end, openMetrics, sink);
        } else if (openMetrics) {
          const comment = openComment(text.toString('utf8', from, end));
          ended = comment === undefined;
          note(comment, described);
        } else if (described) {
          note(commentIn(text.toString('utf8', from, end)), described);
        }
      }
      begin = end + 1;
    }
    if (openMetrics && !ended) {
      throw new BadLine('the text does not end with # EOF');
    }
  } catch (error) {
    throw error instanceof BadLine ? refusal(number, error.message) : error;
  }
  described?.forEach((said, metric) => sink.described!(metric, said));
}

function commentIn(line: string): OpenComment | undefined {
  const [, word, metric, text] =
    /^#[ \t]+(HELP|TYPE|UNIT)[ \t]+("(?:[^"\\]|\\.)*"|\S+)[ \t]?(.*?)\r?$/.exec(line) ?? [];
  return word === undefined
    ? undefined
    : { word: word as OpenComment['word'], metric: metric!, text: text! };
}

function note(comment: OpenComment | undefined, described: Described | undefined): void {
  if (comment === undefined || described === undefined) {
    return;
  }
  const { word, metric: named, text } = comment;
  const metric = named.startsWith('"') ? unescaped(named.slice(1, -1)) : named;
  const found = described.get(metric) ?? { type: 'unknown', help: '', unit: '' };
  described.set(metric, found);
  if (word === 'HELP') {
    found.help = text.replaceAll(/\\(\\|n)/g, (_, char) => (char === 'n' ? '\n' : '\\'));
  } else if (word === 'TYPE') {
    found.type = text.trim() === 'untyped' ? 'unknown' : text.trim();
  } else {
    found.unit = text.trim();
  }
}

function readSample(
  text: Buffer,
  from: number,
  end: number,
  openMetrics: boolean,
  sink: ExpositionSink,
): void {
  const stop = endOfSeries(text, from, end);
  if (stop === -1) {
    throw new BadLine('the labels do not end');
  }
  const known = sink.known?.(text, from, stop) ?? -1;
  const series =
    known === -1
      ? sink.series(labelsOfText(text.toString('utf8', from, stop), openMetrics), text, from, stop)
      : known;
  if (openMetrics) {
    const { value, time, exemplar } = openTail(text.toString('utf8', stop, end));
    sink.sample(series, value, time);
    if (exemplar !== undefined) {
      const labels = labelsOfText(exemplar.labels, true, true);
      sink.exemplar?.(series, labels, exemplar.value, exemplar.time ?? time);
    }
    return;
  }
  const rest = text.toString('latin1', stop, end).trim();
  const words = rest.split(/[ \t]+/);
  const value = parseFloatGo(words[0]!);
  if (value === undefined || words.length > 2) {
    throw new BadLine(`"${rest.slice(0, 60)}" is not a value`);
  }
  sink.sample(series, value, words[1] === undefined ? undefined : timeOf(words[1]));
}

function timeOf(word: string): number {
  const time = Number(word);
  if (!Number.isSafeInteger(time)) {
    throw new BadLine(`"${word.slice(0, 40)}" is not a time in milliseconds`);
  }
  return time;
}
