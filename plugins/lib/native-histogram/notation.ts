import { formatFloat, parseFloatGo } from 'svc/query';

import {
  type BucketCount,
  customSchema,
  isCustom,
  leastSchema,
  maxSchema,
  type NativeHistogram,
  populated,
  type ResetHint,
  type Side,
} from './histogram.ts';

/** Histogram as parsed. */
export interface Noted {
  readonly histogram: NativeHistogram;
  /** True if the text states how it continues from the previous sample. */
  readonly hinted: boolean;
}

const hints: readonly string[] = [
  'unknown',
  'reset',
  'not_reset',
  'gauge',
] satisfies readonly ResetHint[];

const forms: Readonly<Record<string, 'whole' | 'number' | 'list' | 'hint'>> = {
  schema: 'whole',
  offset: 'whole',
  n_offset: 'whole',
  counter_reset_hint: 'hint',
  sum: 'number',
  count: 'number',
  z_bucket: 'number',
  z_bucket_w: 'number',
  custom_values: 'list',
  buckets: 'list',
  n_buckets: 'list',
};

const entry = /^([a-z_]+):(\[[^\]]*\]|[^\s[\]]+)(?:\s+|$)/i;

/** Parses `{{schema:1 count:3 buckets:[1 2]}}`, or returns what is wrong with it. */
export function readHistogram(text: string): Noted | string {
  const inside = /^\{\{([^{}]*)\}\}$/.exec(text.trim());
  if (inside === null) {
    return `is not a native histogram such as {{schema:0 count:3 buckets:[1 2]}}: ${text.slice(0, 60)}`;
  }
  const fields = new Map<string, string>();
  let rest = inside[1]!.trim();
  while (rest !== '') {
    const found = entry.exec(rest);
    const name = found?.[1]!.toLowerCase() ?? '';
    if (found === null || forms[name] === undefined) {
      return `holds a native histogram that cannot be read, from ${rest.slice(0, 40)} on; it has ${Object.keys(forms).join(', ')}`;
    }
    if (fields.has(name) || !isOfForm(forms[name], found[2]!)) {
      return `holds a native histogram with ${name} ${fields.has(name) ? 'twice' : `as ${found[2]!.slice(0, 40)}, which is no ${forms[name]}`}`;
    }
    fields.set(name, found[2]!);
    rest = rest.slice(found[0].length);
  }
  return { histogram: histogramOf(fields), hinted: fields.has('counter_reset_hint') };
}

const numberOf = (text: string): number =>
  /^[+-]nan$/i.test(text) ? NaN : (parseFloatGo(text) ?? NaN);
const listOf = (text: string): readonly string[] =>
  text
    .slice(1, -1)
    .split(/\s+/)
    .filter((one) => one !== '');

function isOfForm(form: string, text: string): boolean {
  const isNumber = (one: string): boolean => /nan$/i.test(one) || parseFloatGo(one) !== undefined;
  switch (form) {
    case 'whole':
      return /^-?\d{1,9}$/.test(text);
    case 'list':
      return text.startsWith('[') && listOf(text).every(isNumber);
    case 'hint':
      return hints.includes(text);
    default:
      return isNumber(text);
  }
}

function histogramOf(fields: ReadonlyMap<string, string>): NativeHistogram {
  const number = (name: string): number => numberOf(fields.get(name) ?? '0');
  const list = (name: string): readonly number[] => listOf(fields.get(name) ?? '[]').map(numberOf);
  const side = (counts: string, offset: string): Side =>
    populated(list(counts).map((count, index) => [number(offset) + index, count]));
  return {
    schema: number('schema'),
    count: number('count'),
    sum: number('sum'),
    zeroCount: number('z_bucket'),
    zeroThreshold: number('z_bucket_w'),
    positive: side('buckets', 'offset'),
    negative: side('n_buckets', 'n_offset'),
    bounds: list('custom_values'),
    hint: (fields.get('counter_reset_hint') ?? 'unknown') as ResetHint,
  };
}

/** Returns why a store would not accept the histogram as a sample. */
export function faultOf(histogram: NativeHistogram): string | undefined {
  const { schema, count, zeroCount, zeroThreshold, positive, negative, bounds } = histogram;
  if (schema !== customSchema && (schema < leastSchema || schema > maxSchema)) {
    return `has the schema ${schema}; there are ${leastSchema} to ${maxSchema}, and ${customSchema} for custom_values`;
  }
  if (count < 0 || zeroCount < 0 || [...positive, ...negative].some(([, one]) => one < 0)) {
    return 'has a count below zero';
  }
  if (!isCustom(histogram)) {
    const furthest = 1_100 * 2 ** schema;
    return bounds.length > 0
      ? `has custom_values, which belong to the schema ${customSchema}`
      : [...positive, ...negative].some(([index]) => Math.abs(index) > furthest)
        ? 'has buckets beyond the largest numbers, or closer to zero than the least; give a smaller offset'
        : undefined;
  }
  if (zeroCount !== 0 || zeroThreshold !== 0 || negative.length > 0) {
    return 'has custom_values, and so neither a bucket of zero nor negative buckets';
  }
  if (
    bounds.some(
      (bound, index) => !Number.isFinite(bound) || (index > 0 && bound <= bounds[index - 1]!),
    )
  ) {
    return 'has custom_values that do not ascend, or are no finite numbers';
  }
  return positive.some(([index]) => index < 0 || index > bounds.length)
    ? 'has more buckets than custom_values leave room for'
    : undefined;
}

/** Prints a histogram in its canonical notation: equal histograms have equal text. */
export function printHistogram(histogram: NativeHistogram): string {
  const { schema, count, sum, zeroCount, zeroThreshold, positive, negative, bounds, hint } =
    histogram;
  const numbers = { schema, count, sum, z_bucket: zeroCount, z_bucket_w: zeroThreshold };
  const parts = [
    ...Object.entries(numbers).flatMap(([name, value]) =>
      value === 0 ? [] : [`${name}:${formatFloat(value)}`],
    ),
    ...(isCustom(histogram) ? [`custom_values:[${bounds.map(formatFloat).join(' ')}]`] : []),
    ...(hint === 'unknown' ? [] : [`counter_reset_hint:${hint}`]),
    ...printSide('offset', 'buckets', positive),
    ...printSide('n_offset', 'n_buckets', negative),
  ];
  return `{{${parts.join(' ')}}}`;
}

function printSide(offsetName: string, name: string, side: Side): string[] {
  const first = side[0]?.[0] ?? 0;
  const counts: string[] = [];
  for (const [index, count] of side satisfies readonly BucketCount[]) {
    while (first + counts.length < index) {
      counts.push('0');
    }
    counts.push(formatFloat(count));
  }
  return [
    ...(first === 0 ? [] : [`${offsetName}:${first}`]),
    ...(counts.length === 0 ? [] : [`${name}:[${counts.join(' ')}]`]),
  ];
}
