import { errors } from './errors.ts';

/** Words that a device has one of each. */
export const fields = [
  'name',
  'host',
  'address',
  'os',
  'version',
  'arch',
  'kernel',
  'role',
  'tag',
  'status',
  'incident',
] as const;
export type FieldName = (typeof fields)[number];

/** Short names of metrics that every host has; in percent where they can be. */
export const figures: Readonly<Record<string, string>> = {
  cpu: 'node_cpu_usage_percent',
  memory: 'node_memory_used_percent',
  mem: 'node_memory_used_percent',
  load: 'node_load1',
  disk: 'node_filesystem_used_percent',
  swap: 'node_swap_used_percent',
  uptime: 'node_uptime_seconds',
};

/** Returns the metric behind a short name, or the name itself. */
export const metricOf = (name: string): string =>
  Object.hasOwn(figures, name) ? figures[name]! : name;

/** Columns by which devices are sorted. */
export const sorts = [
  'name',
  'status',
  'cpu',
  'memory',
  'load',
  'disk',
  'incidents',
  'address',
  'os',
  'version',
  'seen',
] as const;
export type Sort = (typeof sorts)[number];

export type Comparison = '>' | '>=' | '<' | '<=' | '=' | '!=';

/** One condition of a search. All of them must hold. */
export type Term = { readonly isNegated: boolean } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly field: FieldName; readonly values: readonly string[] }
  | { readonly kind: 'tag'; readonly key: string; readonly value: string }
  | {
      readonly kind: 'figure';
      readonly metric: string;
      readonly op: Comparison;
      readonly value: number;
    }
);

const mostTerms = 20;
const units: Readonly<Record<string, number>> = {
  '': 1,
  '%': 1,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
};

const figure =
  /^(-?)([A-Za-z_:][\w:]*)\s*(>=|<=|>|<|==)\s*(-?\d+(?:\.\d+)?)\s*(%|s|m|h|d)?(?=\s|$)/;
/** A text in quotes keeps its spaces; a `"` in it is written `\"`. */
const word = /^(-?)((?:[^\s":=!<>]+)?)(?:(:|!=|=)?("(?:[^"\\]|\\.)*"|[^\s"]*))/;

/**
 * Parses a search such as `role:db env=prod cpu > 80 -name:test`: words separated by spaces, all of
 * which must hold.
 */
export function parseSearch(search: string): readonly Term[] {
  const terms: Term[] = [];
  let rest = search.trim();
  while (rest !== '') {
    if (terms.length === mostTerms) {
      throw errors.search_length({ max: mostTerms });
    }
    const compared = figure.exec(rest);
    const found = compared ?? word.exec(rest);
    if (found === null || found[0] === '') {
      throw errors.search_word({ word: rest.slice(0, 40) });
    }
    terms.push(compared === null ? wordTerm(found) : figureTerm(compared));
    rest = rest.slice(found[0].length).trimStart();
  }
  return terms;
}

function figureTerm([, minus, name, op, number, unit = '']: RegExpExecArray): Term {
  return {
    kind: 'figure',
    isNegated: minus === '-',
    metric: metricOf(name!),
    op: op === '==' ? '=' : (op as Comparison),
    value: Number(number) * units[unit]!,
  };
}

function wordTerm([whole, minus, left = '', sign, right = '']: RegExpExecArray): Term {
  const isNegated = minus === '-';
  const value = unquoted(right, whole);
  if (sign === undefined) {
    const text = `${left}${value}`;
    if (text === '' || /^[<>]/.test(text)) {
      throw errors.search_word({ word: whole });
    }
    return { kind: 'text', isNegated, text: text.toLowerCase() };
  }
  if (left === '' || value === '') {
    throw errors.search_word({ word: whole });
  }
  if (sign !== ':') {
    return { kind: 'tag', isNegated: isNegated !== (sign === '!='), key: left, value };
  }
  const field = left.toLowerCase() as FieldName;
  if (!fields.includes(field)) {
    throw errors.search_field({ field: left, fields: fields.join(', ') });
  }
  const values = right.startsWith('"') ? [value] : value.split(',').filter((one) => one !== '');
  if (field === 'status' && !values.every((one) => ['online', 'offline'].includes(one))) {
    throw errors.search_status({ value });
  }
  return {
    kind: 'field',
    isNegated,
    field,
    values: values.map((one) => (field === 'tag' || field === 'role' ? one : one.toLowerCase())),
  };
}

function unquoted(text: string, whole: string): string {
  if (!text.startsWith('"')) {
    if (text.includes('"')) {
      throw errors.search_word({ word: whole });
    }
    return text;
  }
  return text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
