import { parseFloatGo } from '../json/numbers.ts';

import { BadLine } from './bad-line.ts';

/** Lines of OpenMetrics, which leaves a writer no choice of blanks: what Prometheus refuses in one is refused here. */
const types: ReadonlySet<string> = new Set([
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
  'unknown',
]);

export interface OpenComment {
  readonly word: 'HELP' | 'TYPE' | 'UNIT';
  /** Metric name as written, possibly quoted. */
  readonly metric: string;
  readonly text: string;
}

/** Undefined: the end. Throws a sentence. */
export function openComment(line: string): OpenComment | undefined {
  if (line === '# EOF') {
    return undefined;
  }
  const [, word, metric, text] =
    /^# (HELP|TYPE|UNIT) ("(?:\\.|[^\\"])*"|[a-zA-Z_:][\w:]*) (.*)$/s.exec(line) ?? [];
  if (metric === undefined || text === undefined) {
    throw new BadLine(
      'a line with # is "# HELP", "# TYPE" or "# UNIT" with a name and a text, or "# EOF"',
    );
  }
  if (word === 'TYPE' && !types.has(text)) {
    throw new BadLine(`"${text.slice(0, 40)}" is not a type of a metric`);
  }
  if (word === 'UNIT' && text !== '' && !metric.replace(/"$/, '').endsWith(`_${text}`)) {
    throw new BadLine(`the unit "${text.slice(0, 40)}" is not the end of the name`);
  }
  return { word: word as OpenComment['word'], metric, text };
}

export interface OpenTail {
  readonly value: number;
  readonly time: number | undefined;
  readonly exemplar:
    | { readonly labels: string; readonly value: number; readonly time: number | undefined }
    | undefined;
}

/**
 * Parses what follows the series: ` 17.0 1520879607.789 # {id="a"} 5 1520879607.7`; times in
 * milliseconds. Throws with a sentence.
 */
export function openTail(rest: string): OpenTail {
  const [whole, value, time, labels, exemplar, exemplarTime] =
    /^ ([^ ]+)(?: ([^ #][^ ]*|#[^ ]+))?(?: # (\{(?:"(?:\\.|[^\\"])*"|[^"}])*\}) ([^ ]+)(?: ([^ ]+))?)?$/s.exec(
      rest,
    ) ?? [];
  if (whole === undefined) {
    throw new BadLine(
      `"${rest.slice(0, 60)}" is not a value with a time and an exemplar, each behind one blank`,
    );
  }
  return {
    value: openNumber(value!),
    time: openTime(time),
    exemplar:
      labels === undefined
        ? undefined
        : { labels, value: openNumber(exemplar!), time: openTime(exemplarTime) },
  };
}

function openNumber(text: string): number {
  const value = /[pPxX_]/.test(text) ? undefined : parseFloatGo(text);
  if (value === undefined) {
    throw new BadLine(`"${text.slice(0, 60)}" is not a value`);
  }
  return value;
}

function openTime(text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const time = Math.round(openNumber(text) * 1_000);
  if (!Number.isSafeInteger(time)) {
    throw new BadLine(`"${text.slice(0, 40)}" is not a time in seconds`);
  }
  return time;
}
