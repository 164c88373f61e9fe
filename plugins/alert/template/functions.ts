import type { LabelRecord } from 'svc/contracts/metricsdb';
import { compileRegex, parseDuration, parseFloatGo } from 'svc/query';
import {
  display,
  formatGoFloat,
  sprintf,
  type TemplateFunction,
  templateFunction,
} from 'svc/template';

import type { Sample } from '../queries/sample.ts';

/** Query function of templates; throws if nothing is known. */
export type TemplateQuery = (expr: string) => readonly Sample[];

const unasked: TemplateQuery = () => {
  throw new Error('no store can be queried here');
};

/** Functions of annotations beyond those of the template language: those of Prometheus. */
export const templateFunctions = (
  externalUrl: string,
  query: TemplateQuery = unasked,
): ReadonlyMap<string, TemplateFunction> =>
  new Map<string, TemplateFunction>([
    [
      'query',
      templateFunction(1, 1, ([expr]) =>
        query(textOf(expr)).map(({ labels, value }) => sampleOf(labels, value)),
      ),
    ],
    ['first', templateFunction(1, 1, ([vector]) => firstOf(vector))],
    ['value', templateFunction(1, 1, ([sample]) => fieldsOf(sample).get('Value'))],
    ['label', templateFunction(2, 2, ([name, sample]) => labelIn(sample, textOf(name)))],
    ['strvalue', templateFunction(1, 1, ([sample]) => labelIn(sample, '__value__'))],
    ['sortByLabel', templateFunction(2, 2, ([name, vector]) => sortedBy(textOf(name), vector))],
    ['humanize', templateFunction(1, 1, ([value]) => humanize(numberOf(value)))],
    ['humanize1024', templateFunction(1, 1, ([value]) => humanize1024(numberOf(value)))],
    ['humanizeDuration', templateFunction(1, 1, ([value]) => humanizeDuration(numberOf(value)))],
    [
      'humanizePercentage',
      templateFunction(
        1,
        1,
        ([value]) => `${sprintf('%.4g', [numberOf(value) * 100], longestNumber)}%`,
      ),
    ],
    ['humanizeTimestamp', templateFunction(1, 1, ([value]) => humanizeTimestamp(numberOf(value)))],
    ['parseDuration', templateFunction(1, 1, ([value]) => parseDuration(textOf(value)) / 1_000)],
    [
      'title',
      templateFunction(1, 1, ([value]) =>
        textOf(value).replace(
          /(^|[^\p{L}\p{N}_'])(\p{L})/gu,
          (_whole, before: string, letter: string) => before + letter.toUpperCase(),
        ),
      ),
    ],
    ['toUpper', templateFunction(1, 1, ([value]) => textOf(value).toUpperCase())],
    ['toLower', templateFunction(1, 1, ([value]) => textOf(value).toLowerCase())],
    ['trim', templateFunction(1, 1, ([value]) => textOf(value).trim())],
    [
      'match',
      templateFunction(2, 2, ([pattern, text]) => compileRegex(textOf(pattern)).test(textOf(text))),
    ],
    [
      'reReplaceAll',
      templateFunction(3, 3, ([pattern, replacement, text], room) =>
        fitting(compileRegex(textOf(pattern)).replaceAll(textOf(text), textOf(replacement)), room),
      ),
    ],
    ['stripPort', templateFunction(1, 1, ([value]) => stripPort(textOf(value)))],
    ['stripDomain', templateFunction(1, 1, ([value]) => stripDomain(textOf(value)))],
    [
      'urlQueryEscape',
      templateFunction(1, 1, ([value]) => encodeURIComponent(textOf(value)).replaceAll('%20', '+')),
    ],
    ['safeHtml', templateFunction(1, 1, ([value]) => textOf(value))],
    [
      'args',
      templateFunction(
        0,
        20,
        (values) => new Map(values.map((value, index) => [`arg${index}`, value])),
      ),
    ],
    ['externalURL', templateFunction(0, 0, () => externalUrl)],
    [
      'pathPrefix',
      templateFunction(0, 0, () =>
        URL.canParse(externalUrl) ? new URL(externalUrl).pathname.replace(/\/$/, '') : '',
      ),
    ],
  ]);

const sampleOf = (labels: LabelRecord, value: number): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ['Labels', new Map(Object.entries(labels))],
    ['Value', value],
  ]);

function vectorOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new Error('is given no vector');
  }
  return value;
}

function firstOf(value: unknown): unknown {
  const [first] = vectorOf(value);
  if (first === undefined) {
    throw new Error('first() called on vector with no elements');
  }
  return first;
}

function fieldsOf(sample: unknown): ReadonlyMap<string, unknown> {
  if (!(sample instanceof Map)) {
    throw new Error('is given no sample of a vector');
  }
  return sample as ReadonlyMap<string, unknown>;
}

const labelIn = (sample: unknown, name: string): string =>
  (fieldsOf(sample).get('Labels') as ReadonlyMap<string, string> | undefined)?.get(name) ?? '';

const sortedBy = (name: string, vector: unknown): readonly unknown[] =>
  [...vectorOf(vector)].sort((a, b) => {
    const [one, other] = [labelIn(a, name), labelIn(b, name)];
    return one < other ? -1 : one > other ? 1 : 0;
  });

const longestNumber = 400;

/** Converts to text; a missing key is empty. */
const textOf = (value: unknown): string => display(value);

function numberOf(value: unknown): number {
  const number =
    typeof value === 'string'
      ? parseFloatGo(value.trim())
      : typeof value === 'bigint'
        ? Number(value)
        : value;
  if (typeof number !== 'number') {
    throw new Error(`${JSON.stringify(textOf(value).slice(0, 40))} is not a number`);
  }
  return number;
}

function fitting(text: string, room: number): string {
  if (text.length > room) {
    throw new Error('the text grows too long');
  }
  return text;
}

const large = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const small = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const binary = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

const short = (value: number, unit: string): string =>
  sprintf('%.4g%s', [value, unit], longestNumber);

function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) {
    return sprintf('%.4g', [value], longestNumber);
  }
  let [scaled, unit] = [value, ''];
  if (Math.abs(value) >= 1) {
    for (let i = 0; i < large.length && Math.abs(scaled) >= 1_000; i++) {
      [scaled, unit] = [scaled / 1_000, large[i]!];
    }
  } else {
    for (let i = 0; i < small.length && Math.abs(scaled) < 1; i++) {
      [scaled, unit] = [scaled * 1_000, small[i]!];
    }
  }
  return short(scaled, unit);
}

function humanize1024(value: number): string {
  if (Math.abs(value) <= 1 || !Number.isFinite(value)) {
    return sprintf('%.4g', [value], longestNumber);
  }
  let [scaled, unit] = [value, ''];
  for (let i = 0; i < binary.length && Math.abs(scaled) >= 1_024; i++) {
    [scaled, unit] = [scaled / 1_024, binary[i]!];
  }
  return short(scaled, unit);
}

function humanizeDuration(value: number): string {
  if (!Number.isFinite(value)) {
    return sprintf('%.4g', [value], longestNumber);
  }
  if (value === 0) {
    return '0s';
  }
  const sign = value < 0 ? '-' : '';
  const length = Math.abs(value);
  if (length < 1) {
    let [scaled, unit] = [length, ''];
    for (let i = 0; i < small.length && scaled < 1; i++) {
      [scaled, unit] = [scaled * 1_000, small[i]!];
    }
    return `${sign}${short(scaled, unit)}s`;
  }
  const whole = Math.floor(length);
  const [seconds, minutes, hours, days] = [
    whole % 60,
    Math.floor(whole / 60) % 60,
    Math.floor(whole / 3_600) % 24,
    Math.floor(whole / 86_400),
  ];
  if (days > 0) {
    return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`;
  }
  if (hours > 0) {
    return `${sign}${hours}h ${minutes}m ${seconds}s`;
  }
  return minutes > 0 ? `${sign}${minutes}m ${seconds}s` : `${sign}${short(length, '')}s`;
}

/** Formats a time in UTC, as Go does. */
function humanizeTimestamp(value: number): string {
  if (!Number.isFinite(value)) {
    return sprintf('%.4g', [value], longestNumber);
  }
  const ms = value * 1_000;
  if (Math.abs(ms) > 8.64e15) {
    throw new Error(`${formatGoFloat(value, 'g')} is not a time: it is beyond the year 275760`);
  }
  const [date, time] = new Date(ms).toISOString().split('T') as [string, string];
  return `${date} ${time.replace(/\.?0*Z$/, '')} +0000 UTC`;
}

const stripPort = (text: string): string =>
  /^\[([^\]]*)\](?::\d*)?$/.exec(text)?.[1] ??
  (/^[^:]*:[^:]*$/.test(text) ? text.split(':')[0]! : text);

function stripDomain(text: string): string {
  const [, host, port] = /^(.*?)(:\d+)?$/.exec(text) as unknown as [
    string,
    string,
    string | undefined,
  ];
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(':');
  return isAddress ? text : `${host.split('.')[0]!}${port ?? ''}`;
}
