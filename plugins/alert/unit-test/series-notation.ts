import {
  faultOf,
  type NativeHistogram,
  readHistogramRun,
  splitValues,
  weightOf,
} from 'svc/native-histogram';
import { parseFloatGo } from 'svc/query';
import { unquote } from 'svc/template';

import { wrong } from '../rule-file/prometheus-file.ts';

/** A value, a gap, or the end of the series. */
export type Item = number | NativeHistogram | 'stale' | undefined;

/** `metric{a="b"} 1 2+3x4 _ stale`, as rule tests write series. */
export interface NotedSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Items by step. */
  readonly items: readonly Item[];
}

/** Steps of one series; the buckets of a histogram count as steps. */
const maxItems = 200_000;

export function readSeries(metric: string, values: string, path: string): NotedSeries {
  return { labels: readMetric(metric, path), items: readItems(values, path) };
}

/** `up{job="x"}`, `{job="x"}`, `{}` or `up`: labels, `__name__` among them. */
export function readMetric(text: string, path: string): Readonly<Record<string, string>> {
  const parts = /^\s*([A-Za-z_:][\w:]*)?\s*(?:\{([^]*)\})?\s*$/.exec(text);
  if (parts === null || text.trim() === '') {
    throw wrong(path, `is not a series such as up{job="x"}: ${text.slice(0, 100)}`);
  }
  const labels: [string, string][] = parts[1] === undefined ? [] : [['__name__', parts[1]]];
  let rest = (parts[2] ?? '').trim();
  while (rest !== '') {
    const pair =
      /^(?:([A-Za-z_][\w.]*)|("(?:\\[^]|[^"\\])*"))\s*(?:=\s*("(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`))?\s*(?:,\s*|$)/.exec(
        rest,
      );
    if (pair === null) {
      throw wrong(path, `has labels that cannot be read, from ${rest.slice(0, 60)} on`);
    }
    const [whole, bare, quoted, value] = pair;
    const name = bare ?? literalText(quoted!, path);
    labels.push(value === undefined ? ['__name__', name] : [name, literalText(value, path)]);
    rest = rest.slice(whole.length).trim();
  }
  return Object.fromEntries(labels.filter(([, value]) => value !== ''));
}

/** The text of a literal in any of Go's quotes, single ones included as PromQL has them. */
function literalText(literal: string, path: string): string {
  const inside = literal.slice(1, -1);
  const text = literal.startsWith('`') ? inside : unquote(inside, literal[0]);
  if (text === undefined) {
    throw wrong(
      path,
      `has a label with an escape that PromQL does not have: ${literal.slice(0, 60)}`,
    );
  }
  return text;
}

const repeated = /^(.+?)(?:([+-])([\d.]+(?:[eE][+-]?\d+)?|[Ii]nf|NaN))?x(\d+)$/;

function readItems(text: string, path: string): Item[] {
  const items: Item[] = [];
  let room = maxItems;
  for (const item of splitValues(text)) {
    for (const one of item.startsWith('{{')
      ? readHistograms(item, path, room)
      : readItem(item, path, room)) {
      items.push(one);
      room -= typeof one === 'object' ? weightOf(one) : 1;
    }
  }
  return items;
}

function readHistograms(item: string, path: string, room: number): readonly NativeHistogram[] {
  const found = readHistogramRun(item, room);
  if (typeof found === 'string') {
    throw wrong(path, found);
  }
  for (const histogram of found.histograms) {
    const fault = faultOf(histogram);
    if (fault !== undefined) {
      throw wrong(path, `holds a native histogram that ${fault}`);
    }
  }
  return found.histograms;
}

function readItem(
  item: string,
  path: string,
  room: number,
): readonly (number | 'stale' | undefined)[] {
  const parts = repeated.exec(item);
  const times = parts === null ? 1 : Number(parts[4]);
  if (times >= room) {
    throw wrong(path, `has more than ${maxItems} steps`);
  }
  if (item === '_' || item === 'stale') {
    return [item === '_' ? undefined : 'stale'];
  }
  if (parts === null) {
    return [readNumber(item, path)];
  }
  const [, first, sign, by] = parts;
  if (first === '_') {
    return Array.from({ length: times }, () => undefined);
  }
  if (first === 'stale') {
    return Array.from({ length: times }, () => 'stale' as const);
  }
  const step = by === undefined ? 0 : (sign === '-' ? -1 : 1) * readNumber(by, path);
  const values = [readNumber(first!, path)];
  for (let i = 0; i < times; i++) {
    values.push(values.at(-1)! + step);
  }
  return values;
}

export function readNumber(text: string, path: string): number {
  const value = /^[+-]?nan$/i.test(text) ? NaN : parseFloatGo(text);
  if (value === undefined) {
    throw wrong(path, `holds ${text.slice(0, 40)}, which is not a number`);
  }
  return value;
}
