import type { Budget } from 'svc/query';

import { senderOf } from '../../traceql/spans/seen-spans.ts';
import type {
  Prefilter,
  SearchWindow,
  SpanPrefilter,
  SpanSource,
  TraceBatch,
} from '../../traceql/spans/source.ts';
import type { Span, TraceSpans } from '../../traceql/spans/span.ts';
import type { StoredBlock } from '../blocks/block.ts';
import { hashOfTrace, mayHold } from '../columns/bit-filter.ts';
import type { SpanTable } from '../columns/columns.ts';
import { StoredSpan } from '../columns/stored-span.ts';
import type { Head } from '../head/head.ts';
import { maskOf } from './mask.ts';

/** Tables to search. */
export interface SpanTables {
  heads(): readonly Head[];
  blocks(): readonly StoredBlock[];
}

interface Candidate {
  /** First start of the trace in this table: the trace as a whole starts then or before. */
  readonly start: number;
  readonly table: SpanTable;
  readonly trace: number;
}

const batchTraces = 32;

/**
 * Returns all spans of one trace, wherever they are; duplicates once. Equal spans of different
 * machines are no duplicates.
 */
export function gather({ heads, blocks }: SpanTables, id: Uint8Array): TraceSpans | undefined {
  const spans: Span[] = [];
  const known = new Set<string>();
  const take = (table: SpanTable | undefined): void => {
    const trace = table?.findTrace(id) ?? -1;
    if (trace < 0) {
      return;
    }
    for (const row of table!.rowsOf(trace)) {
      const span = new StoredSpan(table!, row);
      const key = `${span.id}${span.kind} ${senderOf(span).device}`;
      if (!known.has(key)) {
        known.add(key);
        spans.push(span);
      }
    }
  };
  const hash = hashOfTrace(id);
  for (const block of blocks()) {
    if (block.mayHaveTrace(hash)) {
      take(block.groupOf(id));
    }
  }
  heads().forEach(take);
  return spans.length === 0 ? undefined : { traceId: Buffer.from(id).toString('hex'), spans };
}

export function spanSource(tables: SpanTables): SpanSource {
  return {
    traces: (window, prefilter, budget) =>
      prefilter.partial
        ? matchingSpans(tables, window, prefilter, budget)
        : wholeTraces(tables, window, prefilter.spans, budget),
  };
}

/** The blocks that may hold something, those with the latest starts first. */
function blocksFor(
  { blocks }: SpanTables,
  { startMs, endMs }: SearchWindow,
  filter: SpanPrefilter | undefined,
): StoredBlock[] {
  return blocks()
    .filter(({ row }) => row.maxt >= startMs && row.mint <= endMs)
    .filter((block) => filter === undefined || mayBeIn(block, filter))
    .sort((a, b) => b.meta.maxStart - a.meta.maxStart);
}

const spansIn = (heads: readonly Head[], blocks: readonly StoredBlock[]): number =>
  heads.reduce((sum, { rows }) => sum + rows, 0) +
  blocks.reduce((sum, { row }) => sum + row.rows, 0);

function mayBeIn(block: StoredBlock, filter: SpanPrefilter): boolean {
  const known = block.attributeFilter();
  return known === undefined || mayHold(known, filter);
}

/**
 * Yields traces from newest to oldest, as far as one table can tell; a block is opened when its
 * turn has come.
 */
async function* wholeTraces(
  tables: SpanTables,
  window: SearchWindow,
  filter: SpanPrefilter | undefined,
  budget: Budget,
): AsyncIterable<TraceBatch> {
  const unopened = blocksFor(tables, window, filter);
  const all = spansIn(tables.heads(), unopened);
  let opened = 0;
  let [candidates, visited] = [0, 0];
  const lines: Candidate[][] = [];
  const open = (tables: Iterable<SpanTable>): void => {
    const found: Candidate[] = [];
    for (const table of tables) {
      found.push(...candidatesIn(table, window, filter));
      opened += table.rows;
    }
    candidates += found.length;
    if (found.length > 0) {
      // The last one is the next.
      lines.push(found.sort((a, b) => a.start - b.start));
    }
  };
  const nextLine = (): Candidate[] | undefined => {
    let best: Candidate[] | undefined;
    for (const line of lines) {
      best = best === undefined || line.at(-1)!.start > best.at(-1)!.start ? line : best;
    }
    return best;
  };
  const seen = new Set<string>();
  let traces: TraceSpans[] = [];
  open(tables.heads());
  for (;;) {
    const line = nextLine();
    const newestLeft = Math.max(
      line?.at(-1)!.start ?? -Infinity,
      unopened[0]?.meta.maxStart ?? -Infinity,
    );
    if (traces.length >= batchTraces || (traces.length > 0 && newestLeft === -Infinity)) {
      // Of the tables that are open, as much as of the traces that were found in them.
      yield { traces, newestLeft, share: ((opened / all) * visited) / candidates };
      traces = [];
    }
    if (
      unopened.length > 0 &&
      (line === undefined || unopened[0]!.meta.maxStart >= line.at(-1)!.start)
    ) {
      open(unopened.shift()!.groups());
    } else if (line === undefined) {
      return;
    } else {
      visited++;
      const { table, trace } = line.pop()!;
      if (line.length === 0) {
        lines.splice(lines.indexOf(line), 1);
      }
      const id = table.traceId(trace);
      if (!seen.has(id)) {
        seen.add(id);
        const whole = gather(tables, Buffer.from(id, 'hex'));
        if (whole !== undefined) {
          traces.push(whole);
        }
      }
    }
    const pause = budget.breathe();
    if (pause !== undefined) {
      await pause;
    }
  }
}

function candidatesIn(
  table: SpanTable,
  window: SearchWindow,
  filter: SpanPrefilter | undefined,
): Candidate[] {
  const mask = filter === undefined ? undefined : maskOf(table, filter);
  if (filter !== undefined && mask === undefined) {
    return [];
  }
  const { traceOf, startMs } = table;
  const fits = rowTest(table, window, mask);
  const starts = new Float64Array(table.traces).fill(Infinity);
  const found = new Uint8Array(table.traces);
  for (let row = 0; row < table.rows; row++) {
    const trace = traceOf[row]!;
    starts[trace] = Math.min(starts[trace]!, startMs[row]! + 1);
    if (fits(row)) {
      found[trace] = 1;
    }
  }
  const candidates: Candidate[] = [];
  for (let trace = 0; trace < found.length; trace++) {
    if (found[trace] === 1) {
      candidates.push({ start: starts[trace]!, table, trace });
    }
  }
  return candidates;
}

/** Returns a test of whether a row is valid, fits the mask and overlaps the window. */
function rowTest(
  table: SpanTable,
  { startMs: from, endMs: to }: SearchWindow,
  mask: Uint8Array | undefined,
): (row: number) => boolean {
  const { live, startMs, durations } = table;
  return (row) =>
    (mask === undefined || mask[row] === 1) &&
    (live === undefined || live[row] === 1) &&
    startMs[row]! <= to &&
    startMs[row]! + 1 + durations[row]! / 1e6 >= from;
}

/** Yields the matching spans only, table by table. */
async function* matchingSpans(
  tables: SpanTables,
  window: SearchWindow,
  { spans: filter }: Prefilter,
  budget: Budget,
): AsyncIterable<TraceBatch> {
  const blocks = blocksFor(tables, window, filter);
  const all = spansIn(tables.heads(), blocks);
  let seen = 0;
  for (const head of tables.heads()) {
    seen += head.rows;
    yield { traces: matchesIn(head, window, filter), newestLeft: Infinity, share: seen / all };
  }
  for (const block of blocks) {
    for (const group of block.groups()) {
      seen += group.rows;
      yield { traces: matchesIn(group, window, filter), newestLeft: Infinity, share: seen / all };
      const pause = budget.breathe();
      if (pause !== undefined) {
        await pause;
      }
    }
  }
}

function matchesIn(
  table: SpanTable,
  window: SearchWindow,
  filter: SpanPrefilter | undefined,
): TraceSpans[] {
  const mask = filter === undefined ? undefined : maskOf(table, filter);
  if (filter !== undefined && mask === undefined) {
    return [];
  }
  const fits = rowTest(table, window, mask);
  const { traceOf } = table;
  const byTrace = new Map<number, Span[]>();
  for (let row = 0; row < table.rows; row++) {
    if (fits(row)) {
      const spans = byTrace.get(traceOf[row]!);
      const span = new StoredSpan(table, row);
      if (spans === undefined) {
        byTrace.set(traceOf[row]!, [span]);
      } else {
        spans.push(span);
      }
    }
  }
  return Array.from(byTrace, ([trace, spans]) => ({ traceId: table.traceId(trace), spans }));
}
