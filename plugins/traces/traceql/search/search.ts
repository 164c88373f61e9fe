import { type Budget, kindOf, type Matcher } from 'svc/query';

import type {
  AttributeField,
  FieldExpression,
  Query,
  ScalarExpression,
  SpansetExpression,
  Stage,
} from '../parse/ast.ts';
import { sightOf } from '../spans/enforce.ts';
import type { SearchWindow, SpanSource } from '../spans/source.ts';
import type { Attribute, Span } from '../spans/span.ts';
import { TraceView } from '../spans/trace-view.ts';
import { compileField, type Evaluate } from './field.ts';
import { compilePipeline, runOver, type Spanset } from './pipeline.ts';
import { prefilterOf } from './prefilter.ts';

export interface SearchOptions {
  readonly window: SearchWindow;
  readonly limit: number;
  readonly spansPerSpanset: number;
  readonly enforce?: readonly Matcher[];
}

export interface MatchedSpan {
  readonly span: Span;
  /** Attributes that the query mentions or selects, where the span has them. */
  readonly attributes: readonly Attribute[];
}

export interface MatchedSpanset {
  readonly spans: readonly MatchedSpan[];
  /** Number of matching spans, shown or not. */
  readonly matched: number;
  readonly attributes: readonly Attribute[];
}

export interface MatchedTrace {
  readonly traceId: string;
  readonly rootService: string;
  readonly rootName: string;
  readonly startNs: bigint;
  readonly durationNs: number;
  readonly spansets: readonly MatchedSpanset[];
  readonly services: ReadonlyMap<
    string,
    { readonly spanCount: number; readonly errorCount: number }
  >;
}

export interface SearchResult {
  /** Newest first. */
  readonly traces: readonly MatchedTrace[];
  /** True if the search ended before everything was examined. */
  readonly partial: boolean;
  readonly inspectedTraces: number;
}

interface Candidate {
  readonly view: TraceView;
  readonly spansets: readonly Spanset[];
}

/** The newest traces that a query matches. */
export async function search(
  source: SpanSource,
  query: Query,
  options: SearchOptions,
  budget: Budget,
): Promise<SearchResult> {
  const run = compilePipeline(query.stages);
  const sight = sightOf(options.enforce ?? []);
  const prefilter = { spans: sight.narrow(prefilterOf(query).spans), partial: false };
  let found: Candidate[] = [];
  let inspected = 0;
  let partial = false;
  try {
    for await (const { traces, newestLeft } of source.traces(options.window, prefilter, budget)) {
      for (const trace of traces) {
        const visible = sight.visible(trace);
        if (visible === undefined) {
          continue;
        }
        budget.spend(visible.spans.length);
        inspected++;
        const view = new TraceView(visible);
        const spansets = runOver(view, run);
        if (spansets.length > 0) {
          found.push({ view, spansets });
        }
        const pause = budget.breathe();
        if (pause !== undefined) {
          await pause;
        }
      }
      found = newest(found, options.limit);
      if (found.length >= options.limit && startMs(found.at(-1)!) >= newestLeft) {
        break;
      }
    }
  } catch (error) {
    const kind = kindOf(error);
    if (found.length === 0 || (kind !== 'timeout' && kind !== 'too_large')) {
      throw error;
    }
    partial = true;
  }
  const columns = columnsOf(query.stages);
  return {
    traces: newest(found, options.limit).map((candidate) =>
      shown(candidate, columns, options.spansPerSpanset),
    ),
    partial,
    inspectedTraces: inspected,
  };
}

const startMs = ({ view }: Candidate): number => Number(view.extent.start / 1000n) / 1000;

function newest(candidates: Candidate[], limit: number): Candidate[] {
  return candidates
    .sort((a, b) =>
      a.view.extent.start > b.view.extent.start
        ? -1
        : a.view.extent.start < b.view.extent.start
          ? 1
          : a.view.traceId < b.view.traceId
            ? -1
            : 1,
    )
    .slice(0, limit);
}

interface Column {
  readonly key: string;
  readonly evaluate: Evaluate;
}

function shown(
  { view, spansets }: Candidate,
  columns: readonly Column[],
  spansPerSpanset: number,
): MatchedTrace {
  return {
    traceId: view.traceId,
    rootService: view.rootService,
    rootName: view.rootName,
    startNs: view.extent.start,
    durationNs: view.extent.durationNs,
    services: view.services,
    spansets: spansets.map(({ members, attributes }) => ({
      matched: members.length,
      attributes,
      spans: members
        .toSorted((a, b) =>
          view.spans[a]!.startNs < view.spans[b]!.startNs
            ? -1
            : view.spans[a]!.startNs > view.spans[b]!.startNs
              ? 1
              : a - b,
        )
        .slice(0, spansPerSpanset)
        .map((index) => ({
          span: view.spans[index]!,
          attributes: attributesOf(view, index, columns),
        })),
    })),
  };
}

function attributesOf(
  view: TraceView,
  index: number,
  columns: readonly Column[],
): readonly Attribute[] {
  return columns.flatMap(({ key, evaluate }) => {
    const value = evaluate(view, index);
    return value === undefined ? [] : [{ key, value }];
  });
}

/** All attributes and intrinsics of the query, once each; what every span shows anyway is left out. */
function columnsOf(stages: readonly Stage[]): readonly Column[] {
  const columns = new Map<string, Column>();
  for (const field of stages.flatMap(fieldsOfStage)) {
    const key =
      field.kind === 'attribute'
        ? `${field.ofParent ? 'parent.' : ''}${field.name}`
        : field.intrinsic;
    const place = field.kind === 'attribute' ? `${field.scope}.${key}` : key;
    if (!columns.has(place) && key !== 'duration') {
      columns.set(place, { key, evaluate: compileField(field) });
    }
  }
  return [...columns.values()];
}

type Named = AttributeField | Extract<FieldExpression, { kind: 'intrinsic' }>;

function fieldsOfStage(stage: Stage): Named[] {
  switch (stage.kind) {
    case 'filter':
    case 'operation':
    case 'pipeline':
      return fieldsOfSpanset(stage);
    case 'by':
    case 'select':
      return stage.fields.flatMap(fieldsOf);
    case 'compare':
      return [...fieldsOfScalar(stage.left), ...fieldsOfScalar(stage.right)];
    case 'coalesce':
      return [];
  }
}

function fieldsOfSpanset(expression: SpansetExpression): Named[] {
  switch (expression.kind) {
    case 'filter':
      return expression.condition === undefined ? [] : fieldsOf(expression.condition);
    case 'operation':
      return [...fieldsOfSpanset(expression.left), ...fieldsOfSpanset(expression.right)];
    case 'pipeline':
      return expression.stages.flatMap(fieldsOfStage);
  }
}

function fieldsOfScalar(expression: ScalarExpression): Named[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'negative':
      return fieldsOfScalar(expression.operand);
    case 'arithmetic':
      return [...fieldsOfScalar(expression.left), ...fieldsOfScalar(expression.right)];
    case 'aggregate':
      return expression.field === undefined ? [] : fieldsOf(expression.field);
  }
}

function fieldsOf(expression: FieldExpression): Named[] {
  switch (expression.kind) {
    case 'literal':
      return [];
    case 'attribute':
    case 'intrinsic':
      return [expression];
    case 'unary':
      return fieldsOf(expression.operand);
    case 'binary':
      return [...fieldsOf(expression.left), ...fieldsOf(expression.right)];
  }
}
