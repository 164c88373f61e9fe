import type { Budget, Matcher } from 'svc/query';

import type { FieldExpression } from '../../traceql/parse/ast.ts';
import { Cursor } from '../../traceql/parse/cursor.ts';
import { intrinsicNamed, parseField } from '../../traceql/parse/field-parser.ts';
import { parse } from '../../traceql/parse/parser.ts';
import { type Evaluate, compileField } from '../../traceql/search/field.ts';
import { compilePipeline, runOver } from '../../traceql/search/pipeline.ts';
import { prefilterOf } from '../../traceql/search/prefilter.ts';
import { keyOf } from '../../traceql/search/values.ts';
import { sightOf } from '../../traceql/spans/enforce.ts';
import { scopeOf, type SearchWindow } from '../../traceql/spans/source.ts';
import { kindNames, type Span, statusNames, type Value } from '../../traceql/spans/span.ts';
import { TraceView } from '../../traceql/spans/trace-view.ts';
import { scopeBits, type ScopeName, type SpanTable } from '../columns/columns.ts';
import { valueText } from '../head/otlp-values.ts';
import { type SpanTables, spanSource } from './scan.ts';

export interface TagOptions {
  readonly window: SearchWindow;
  readonly enforce?: readonly Matcher[];
  /** A filter: other spans do not count. */
  readonly query?: string;
}

export interface TagValueOptions extends TagOptions {
  readonly limit: number;
}

export interface TagValue {
  readonly type: 'string' | 'int' | 'float' | 'bool' | 'keyword';
  readonly value: string;
}

export type TagNames = Readonly<Record<ScopeName, readonly string[]>>;

export const intrinsicTags: readonly string[] = [
  ...[
    'duration',
    'event:name',
    'event:timeSinceStart',
    'instrumentation:name',
    'instrumentation:version',
    'kind',
    'link:spanID',
    'link:traceID',
    'name',
  ],
  ...[
    'rootName',
    'rootServiceName',
    'span:duration',
    'span:id',
    'span:kind',
    'span:name',
    'span:parentID',
    'span:status',
    'span:statusMessage',
    'status',
  ],
  ...[
    'statusMessage',
    'trace:duration',
    'trace:id',
    'trace:rootName',
    'trace:rootService',
    'traceDuration',
  ],
];

const scopeNames = Object.keys(scopeBits) as ScopeName[];

/** Keys of attributes in the window, by scope, each list sorted. */
export async function tagNames(
  tables: SpanTables,
  options: TagOptions,
  budget: Budget,
): Promise<TagNames> {
  const { window } = options;
  const found: Record<ScopeName, Set<string>> = {
    span: new Set(),
    resource: new Set(),
    event: new Set(),
    link: new Set(),
    instrumentation: new Set(),
  };
  if (!isOfAll(options)) {
    await namesOfSpans(tables, options, found, budget);
  } else {
    for (const head of tables.heads()) {
      addKeys(head, found);
    }
    for (const block of overlapping(tables, window)) {
      scopeNames.forEach((scope) => block.meta.keys[scope].forEach((key) => found[scope].add(key)));
      if (block.meta.more) {
        for (const group of block.groups()) {
          addKeys(group, found);
        }
      }
      await budget.breathe();
    }
  }
  return Object.fromEntries(
    scopeNames.map((scope) => [scope, [...found[scope]].sort()]),
  ) as unknown as TagNames;
}

const overlapping = ({ blocks }: SpanTables, { startMs, endMs }: SearchWindow) =>
  blocks().filter(({ row }) => row.maxt >= startMs && row.mint <= endMs);

function addKeys({ dictionary }: SpanTable, found: Readonly<Record<ScopeName, Set<string>>>): void {
  for (const { key, scopes } of dictionary.keys()) {
    scopeNames
      .filter((scope) => (scopes & scopeBits[scope]) !== 0)
      .forEach((scope) => found[scope].add(key));
  }
}

async function namesOfSpans(
  tables: SpanTables,
  options: TagOptions,
  found: Readonly<Record<ScopeName, Set<string>>>,
  budget: Budget,
): Promise<void> {
  for await (const view of spansOf(tables, options, false, budget)) {
    for (const { span } of view) {
      span.attributes.forEach(({ key }) => found.span.add(key));
      span.resource.forEach(({ key }) => found.resource.add(key));
      span.scope.attributes.forEach(({ key }) => found.instrumentation.add(key));
      span.events.forEach((event) => event.attributes.forEach(({ key }) => found.event.add(key)));
      span.links.forEach((link) => link.attributes.forEach(({ key }) => found.link.add(key)));
    }
  }
}

const isOfAll = ({ query = '', enforce = [] }: TagOptions): boolean =>
  query.trim() === '' && enforce.length === 0;

interface Seen {
  readonly span: Span;
  readonly view: TraceView;
  readonly index: number;
}

/** Yields visible spans that match the filter, batch by batch; whole traces only if needed. */
async function* spansOf(
  tables: SpanTables,
  { window, enforce = [], query = '' }: TagOptions,
  byTrace: boolean,
  budget: Budget,
): AsyncGenerator<readonly Seen[]> {
  const filter = query.trim() === '' ? undefined : parse(query);
  const run = compilePipeline(filter?.stages ?? [{ kind: 'filter', condition: undefined }]);
  const sight = sightOf(enforce);
  const hint =
    filter === undefined
      ? undefined
      : prefilterOf({
          ...filter,
          metrics: { function: 'rate', field: undefined, quantiles: [], by: [] },
        });
  const prefilter = {
    spans: sight.narrow(hint?.spans),
    partial: !byTrace && hint?.partial !== false,
  };
  for await (const { traces } of spanSource(tables).traces(window, prefilter, budget)) {
    const seen: Seen[] = [];
    for (const trace of traces) {
      const visible = sight.visible(trace);
      if (visible !== undefined) {
        budget.spend(visible.spans.length);
        const view = new TraceView(visible);
        for (const { members } of runOver(view, run)) {
          seen.push(...members.map((index) => ({ span: view.spans[index]!, view, index })));
        }
      }
    }
    yield seen;
    await budget.breathe();
  }
}

/** Values of a tag such as `resource.service.name`, `.http.method` or `status`; each once. */
export async function tagValues(
  tables: SpanTables,
  tag: string,
  options: TagValueOptions,
  budget: Budget,
): Promise<readonly TagValue[]> {
  const field = fieldOf(tag);
  const keywords = keywordsOf(field);
  if (keywords !== undefined) {
    return keywords;
  }
  const found = new Map<string, TagValue>();
  const add = (value: Value | undefined): void => {
    if (value?.type === 'array' || value?.type === 'each') {
      value.values.forEach(add);
      return;
    }
    const shown = value === undefined ? undefined : tagValueOf(value);
    if (shown !== undefined && found.size < options.limit) {
      found.set(keyOf(value), shown);
    }
  };
  if (isOfAll(options) && field.kind === 'attribute') {
    await ofDictionaries(tables, field, options, add, () => found.size >= options.limit, budget);
  } else {
    await ofSpans(tables, field, options, add, () => found.size >= options.limit, budget);
  }
  return [...found.values()];
}

/** Parses a tag; a name without a scope is an attribute of any. */
export function fieldOf(tag: string): FieldExpression {
  if (
    intrinsicNamed(tag) === undefined &&
    !/^(?:\.|(?:span|resource|event|link|instrumentation|parent)\.)/.test(tag)
  ) {
    return { kind: 'attribute', scope: scopeOf(tag), ofParent: false, name: tag };
  }
  return parseField(new Cursor(tag));
}

/** Returns all values of a field with few; undefined for one with too many to list. */
function keywordsOf(field: FieldExpression): readonly TagValue[] | undefined {
  if (field.kind !== 'intrinsic') {
    return undefined;
  }
  switch (field.intrinsic) {
    case 'status':
      return statusNames.map((value) => ({ type: 'keyword', value }));
    case 'kind':
      return kindNames.map((value) => ({ type: 'keyword', value }));
    case 'name':
    case 'statusMessage':
    case 'rootName':
    case 'rootServiceName':
    case 'event:name':
    case 'instrumentation:name':
    case 'instrumentation:version':
      return undefined;
    default:
      return [];
  }
}

function tagValueOf(value: Value): TagValue | undefined {
  switch (value.type) {
    case 'string':
      return value.value === '' ? undefined : { type: 'string', value: value.value };
    case 'int':
    case 'float':
    case 'bool':
      return { type: value.type, value: valueText(value) };
    default:
      return undefined;
  }
}

async function ofDictionaries(
  tables: SpanTables,
  field: Extract<FieldExpression, { kind: 'attribute' }>,
  { window }: TagValueOptions,
  add: (value: Value) => void,
  full: () => boolean,
  budget: Budget,
): Promise<void> {
  const wanted = field.scope === 'any' ? 31 : scopeBits[field.scope];
  const look = ({ dictionary }: SpanTable): void => {
    for (const pair of dictionary.pairsOf(field.name)) {
      if ((dictionary.scopesOf(pair) & wanted) !== 0) {
        add(dictionary.pair(pair).value);
      }
    }
  };
  tables.heads().forEach(look);
  for (const block of overlapping(tables, window)) {
    const { keys, more } = block.meta;
    if (
      !more &&
      !scopeNames.some(
        (scope) => (scopeBits[scope] & wanted) !== 0 && keys[scope].includes(field.name),
      )
    ) {
      continue;
    }
    for (const group of block.groups()) {
      if (full()) {
        return;
      }
      look(group);
      await budget.breathe();
    }
  }
}

async function ofSpans(
  tables: SpanTables,
  field: FieldExpression,
  options: TagOptions,
  add: (value: Value | undefined) => void,
  full: () => boolean,
  budget: Budget,
): Promise<void> {
  const evaluate: Evaluate = compileField(field);
  const byTrace =
    field.kind === 'intrinsic' &&
    (field.intrinsic === 'rootName' || field.intrinsic === 'rootServiceName');
  for await (const seen of spansOf(tables, options, byTrace, budget)) {
    seen.forEach(({ view, index }) => add(evaluate(view, index)));
    if (full()) {
      return;
    }
  }
}
