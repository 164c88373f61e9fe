import { useEffect, useState } from 'preact/hooks';

import { api } from '../client/api.ts';

export type QueryLanguage = 'promql' | 'logql' | 'traceql';

/** Kind of word at the caret: a name, a label, or a value of a label. */
export interface Slot {
  readonly kind: 'name' | 'label' | 'value';
  /** The part of it that is typed. */
  readonly word: string;
  /** Metric whose labels are meant; empty where none is named. */
  readonly metric: string;
  /** Label whose values are meant; empty unless values are. */
  readonly label: string;
}

const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*$/;

/** Returns what may stand at the caret; undefined inside a text that is no value of a label. */
export function slotAt(query: string, at: number): Slot | undefined {
  const before = query.slice(0, at);
  const { quote, open } = unclosedIn(before);
  const bracket = open === -1 ? '' : before[open]!;
  const metric = bracket === '{' ? /([A-Za-z_:][\w:]*)\s*$/.exec(before.slice(0, open))?.[1] : '';
  if (quote !== -1) {
    const label = /([\w.:]+)\s*(?:=~|!~|!=|=)\s*$/.exec(before.slice(0, quote))?.[1];
    return bracket !== '{' || label === undefined
      ? undefined
      : {
          kind: 'value',
          word: /[^|]*$/.exec(before.slice(quote + 1))![0],
          metric: metric ?? '',
          label,
        };
  }
  const word = /[\w:.]*$/.exec(before)![0];
  const isLabel = bracket === '{' || (bracket === '(' && grouping.test(before.slice(0, open)));
  return { kind: isLabel ? 'label' : 'name', word, metric: metric ?? '', label: '' };
}

/** Returns where the quote and the bracket begin that the caret is inside of; -1 for none. */
function unclosedIn(text: string): { readonly quote: number; readonly open: number } {
  const brackets: number[] = [];
  let quote = -1;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (quote !== -1) {
      at += sign === '\\' && text[quote] !== '`' ? 1 : 0;
      quote = sign === text[quote] ? -1 : quote;
    } else if (/["'`]/.test(sign)) {
      quote = at;
    } else if (/[([{]/.test(sign)) {
      brackets.push(at);
    } else if (/[)\]}]/.test(sign)) {
      brackets.pop();
    }
  }
  return { quote, open: brackets.at(-1) ?? -1 };
}

/** Returns whether suggestions help before a letter is typed: only where something new begins. */
export const beginsAt = ({ kind, word }: Slot, query: string, at: number): boolean =>
  word !== '' || kind === 'value' || (kind === 'label' && /[{,(&|]\s*$/.test(query.slice(0, at)));

const functions: Readonly<Record<QueryLanguage, readonly string[]>> = {
  promql: [
    'sum',
    'avg',
    'max',
    'min',
    'count',
    'topk',
    'bottomk',
    'quantile',
    'rate',
    'increase',
    'irate',
    'delta',
    'deriv',
    'predict_linear',
    'histogram_quantile',
    'avg_over_time',
    'max_over_time',
    'min_over_time',
    'absent',
    'changes',
    'resets',
    'label_replace',
    'clamp_max',
    'clamp_min',
    'time',
    'vector',
    'by',
    'without',
    'group_left',
    'offset',
  ],
  logql: [
    'rate',
    'count_over_time',
    'bytes_over_time',
    'sum',
    'topk',
    'by',
    'json',
    'logfmt',
    'pattern',
    'regexp',
    'line_format',
    'label_format',
    'unwrap',
    'decolorize',
  ],
  traceql: [
    'resource.service.name',
    'span.http.route',
    'span.http.response.status_code',
    'name',
    'status',
    'duration',
    'kind',
    'rootServiceName',
    'error',
    'ok',
    'count',
    'avg',
    'max',
    'select',
    'rate',
  ],
};

/** Words that may fill a slot: those of the language, and those of the store. */
export function useWords(language: QueryLanguage, slot: Slot | undefined): readonly string[] {
  const path = slot && pathOf(language, slot);
  const key = path && JSON.stringify(path);
  const [found, setFound] = useState<{ readonly key: string; readonly words: readonly string[] }>();
  useEffect(() => {
    const own = new AbortController();
    if (path !== undefined && key !== undefined && found?.key !== key) {
      void api
        .get<Listed>(path[0], path[1], own.signal)
        .then(wordsOf)
        // Without the store the words of the language are left.
        .catch(() => [])
        .then((words) => own.signal.aborted || setFound({ key, words }));
    }
    return () => own.abort();
  }, [key]);
  const stored = found !== undefined && found.key === key ? found.words : [];
  const isOfLanguage = slot?.kind === 'name' || (slot?.kind === 'label' && language === 'traceql');
  return isOfLanguage ? [...new Set([...stored, ...functions[language]])] : stored;
}

type Asked = readonly [path: string, query: Readonly<Record<string, string | readonly string[]>>];

function pathOf(language: QueryLanguage, { kind, metric, label }: Slot): Asked | undefined {
  const matching: Asked[1] = metric === '' ? {} : { 'match[]': [metric] };
  const name = encodeURIComponent(label);
  switch (language) {
    case 'promql':
      return kind === 'name'
        ? ['//prometheus/api/v1/label/__name__/values', {}]
        : kind === 'label'
          ? ['//prometheus/api/v1/labels', matching]
          : [`//prometheus/api/v1/label/${name}/values`, matching];
    case 'logql':
      return kind === 'value'
        ? [`//loki/api/v1/label/${name}/values`, {}]
        : kind === 'label'
          ? ['//loki/api/v1/labels', {}]
          : undefined;
    case 'traceql':
      return kind === 'value'
        ? [`/traces/tags/${name}/values`, {}]
        : ['//tempo/api/v2/search/tags', {}];
  }
}

interface Listed {
  /** Answer of Prometheus and Loki. */
  readonly data?: readonly string[];
  /** Answer of TraceQL: tags by scope. */
  readonly scopes?: readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly tagValues?: readonly { readonly value: string }[];
}

const wordsOf = ({ data, scopes, tagValues }: Listed): readonly string[] =>
  data ??
  scopes?.flatMap(({ name, tags }) =>
    tags.map((tag) => (name === 'intrinsic' ? tag : `${name}.${tag}`)),
  ) ??
  tagValues?.map(({ value }) => value) ??
  [];
