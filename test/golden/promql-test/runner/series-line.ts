import { type NativeHistogram, readHistogramRun, splitValues } from 'svc/native-histogram';
import { type Labels, labelsOf } from 'svc/query';

import { parse } from '../../../../plugins/metricsdb/promql/index.ts';

/** Native histogram, with whether its text says how it continues from the previous one. */
export interface HistogramItem {
  readonly histogram: NativeHistogram;
  readonly hinted: boolean;
}

/** A value, a gap, or the end of a series. */
export type Item = number | undefined | 'stale' | HistogramItem;

export const isHistogram = (item: Item): item is HistogramItem => typeof item === 'object';

/** `metric{a="b"} 1 2+3x4 _ stale` */
export interface SeriesLine {
  readonly labels: Labels;
  readonly items: readonly Item[];
  /** Holds native histograms. */
  readonly histogram: boolean;
}

export function readSeriesLine(line: string): SeriesLine {
  const end = metricEnd(line);
  const labels = readMetric(line.slice(0, end).trim());
  const rest = line.slice(end).trim();
  const histogram = rest.includes('{{');
  return { labels, histogram, items: splitValues(rest).flatMap(readItem) };
}

/** Returns the position after the name and its braces; a quoted brace does not count. */
function metricEnd(line: string): number {
  let quote = '';
  let depth = 0;
  for (let i = 0; i < line.length; i++) {
    const character = line[i]!;
    if (quote !== '') {
      if (character === '\\' && quote !== '`') {
        i++;
      } else if (character === quote) {
        quote = '';
      }
    } else if (`"'\``.includes(character)) {
      quote = character;
    } else if (character === '{' || character === '}') {
      depth += character === '{' ? 1 : -1;
      if (depth === 0) {
        return i + 1;
      }
    } else if (depth === 0 && /\s/.test(character) && !/^\s*\{(?!\{)/.test(line.slice(i))) {
      return i;
    }
  }
  return line.length;
}

export function readMetric(text: string): Labels {
  if (/^\{\s*\}$/.test(text)) {
    return [];
  }
  for (const [prefix, dropName] of [
    ['', false],
    ['anything', true],
  ] as const) {
    try {
      const expr = parse(prefix + text);
      if (expr.node === 'selector' && expr.matchers.every(({ op }) => op === '=')) {
        return labelsOf(
          expr.matchers
            .filter(({ name }) => !(dropName && name === '__name__'))
            .map(({ name, value }) => [name, value] as const),
        );
      }
    } catch (error) {
      if (dropName) {
        throw error;
      }
    }
  }
  throw new Error(`not a metric: ${text}`);
}

const repeated = /^(.+?)(?:([+-])(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|[Ii]nf|NaN))?x(\d+)$/;

function readItem(item: string): Item[] {
  if (item.startsWith('{{')) {
    const found = readHistogramRun(item, 1_000_000);
    if (typeof found === 'string') {
      throw new Error(found);
    }
    return found.histograms.map((histogram) => ({ histogram, hinted: found.hinted }));
  }
  if (item === '_') {
    return [undefined];
  }
  if (item === 'stale') {
    return ['stale'];
  }
  const gap = /^_x(\d+)$/.exec(item);
  if (gap !== null) {
    return Array.from({ length: Number(gap[1]) }, () => undefined);
  }
  const parts = repeated.exec(item);
  if (parts !== null) {
    const [, first, sign, by, times] = parts;
    const step = by === undefined ? 0 : (sign === '-' ? -1 : 1) * readNumber(by);
    const items: number[] = [readNumber(first!)];
    for (let i = 0; i < Number(times); i++) {
      items.push(by === undefined ? items[0]! : items.at(-1)! + step);
    }
    return items;
  }
  return [readNumber(item)];
}

export function readNumber(text: string): number {
  const special = /^([+-]?)(inf|nan)$/i.exec(text);
  if (special !== null) {
    return special[2]!.toLowerCase() === 'nan' ? NaN : special[1] === '-' ? -Infinity : Infinity;
  }
  const value = /^[+-]/.test(text)
    ? (text.startsWith('-') ? -1 : 1) * Number(text.slice(1))
    : Number(text);
  if (Number.isNaN(value) || text === '') {
    throw new Error(`not a number: ${text}`);
  }
  return value;
}
