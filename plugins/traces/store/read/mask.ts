import type { Condition, SpanPrefilter } from '../../traceql/spans/source.ts';
import type { Value } from '../../traceql/spans/span.ts';
import { type ScopeName, scopeBits, type SpanTable } from '../columns/columns.ts';
import { hexOf } from '../columns/stored-span.ts';

/** A mark for each row that fits; undefined: none does. */
export type Mask = Uint8Array | undefined;

/** Which rows of a table fit a prefilter, from its dictionaries and columns alone. */
export function maskOf(table: SpanTable, filter: SpanPrefilter): Mask {
  if ('all' in filter) {
    let result: Mask;
    for (const part of filter.all) {
      const mask = maskOf(table, part);
      if (mask === undefined) {
        return undefined;
      }
      result = result === undefined ? mask : both(result, mask);
    }
    return result;
  }
  if ('some' in filter) {
    let result: Mask;
    for (const part of filter.some) {
      const mask = maskOf(table, part);
      result = result === undefined || mask === undefined ? (result ?? mask) : either(result, mask);
    }
    return result;
  }
  return 'intrinsic' in filter.field
    ? ofIntrinsic(table, filter.field.intrinsic, filter)
    : ofAttribute(table, filter.field.scope, filter.field.key, filter);
}

function both(into: Uint8Array, other: Uint8Array): Uint8Array {
  for (let row = 0; row < into.length; row++) {
    into[row]! &= other[row]!;
  }
  return into;
}

function either(into: Uint8Array, other: Uint8Array): Uint8Array {
  for (let row = 0; row < into.length; row++) {
    into[row]! |= other[row]!;
  }
  return into;
}

function ofIntrinsic(
  table: SpanTable,
  intrinsic: 'name' | 'statusMessage' | 'kind' | 'status' | 'duration' | 'traceId' | 'spanId',
  condition: Condition,
): Mask {
  const { test } = condition;
  switch (intrinsic) {
    case 'name':
      return ofTexts(table, table.names, test);
    case 'statusMessage':
      return ofTexts(table, table.messages, test);
    case 'kind':
    case 'status': {
      const fits = Array.from({ length: 24 }, (_, code) =>
        test({ type: intrinsic, value: intrinsic === 'kind' ? code >> 2 : code & 3 }),
      );
      const { kinds } = table;
      return rowsWhere(table, (row) => fits[kinds[row]!]!);
    }
    case 'duration': {
      const { durations } = table;
      return rowsWhere(table, (row) => test({ type: 'duration', value: durations[row]! }));
    }
    case 'traceId': {
      const fits = Uint8Array.from({ length: table.traces }, (_, trace) =>
        test({ type: 'string', value: table.traceId(trace) }) ? 1 : 0,
      );
      if (!fits.includes(1)) {
        return undefined;
      }
      const { traceOf } = table;
      return rowsWhere(table, (row) => fits[traceOf[row]!] === 1);
    }
    case 'spanId': {
      const { spanIds } = table;
      return rowsWhere(table, (row) => test({ type: 'string', value: hexOf(spanIds, row * 8, 8) }));
    }
  }
}

function rowsWhere(table: SpanTable, fits: (row: number) => boolean): Mask {
  const mask = new Uint8Array(table.rows);
  let any = false;
  for (let row = 0; row < mask.length; row++) {
    if (fits(row)) {
      mask[row] = 1;
      any = true;
    }
  }
  return any ? mask : undefined;
}

function ofTexts(table: SpanTable, column: Uint32Array, test: (value: Value) => boolean): Mask {
  const { dictionary } = table;
  const fits = Uint8Array.from({ length: dictionary.texts }, (_, id) =>
    test({ type: 'string', value: dictionary.text(id) }) ? 1 : 0,
  );
  return fits.includes(1) ? rowsWhere(table, (row) => fits[column[row]!] === 1) : undefined;
}

function ofAttribute(
  table: SpanTable,
  scope: ScopeName | 'any',
  key: string,
  { test, equals }: Condition,
): Mask {
  const { dictionary } = table;
  const wanted = scope === 'any' ? 31 : scopeBits[scope];
  const fits = new Uint8Array(dictionary.pairs);
  let scopes = 0;
  const pairs =
    equals?.type === 'string'
      ? dictionary.pairsThatMayBe(key, equals.value)
      : dictionary.pairsOf(key);
  for (const pair of pairs) {
    const found = dictionary.scopesOf(pair) & wanted;
    if (found !== 0 && test(dictionary.pair(pair).value)) {
      fits[pair] = 1;
      scopes |= found;
    }
  }
  if (scopes === 0) {
    return undefined;
  }
  const mask = new Uint8Array(table.rows);
  if ((scopes & scopeBits.span) !== 0) {
    markRows(mask, table.pairStarts, table.pairIds, fits);
  }
  if ((scopes & scopeBits.resource) !== 0) {
    markOwners(
      mask,
      table.resourceIds,
      dictionary.resources,
      (id) => dictionary.resourcePairs(id),
      fits,
    );
  }
  if ((scopes & scopeBits.instrumentation) !== 0) {
    markOwners(mask, table.scopeIds, dictionary.scopes, (id) => dictionary.scopePairs(id), fits);
  }
  for (const parts of [
    (scopes & scopeBits.event) !== 0 && table.events,
    (scopes & scopeBits.link) !== 0 && table.links,
  ]) {
    if (parts !== false) {
      const marked = new Uint8Array(parts.starts[mask.length]!);
      markRows(marked, parts.pairStarts, parts.pairs, fits);
      markRows(mask, parts.starts, undefined, marked);
    }
  }
  return mask.includes(1) ? mask : undefined;
}

/**
 * Marks each row with a matching number; without `ids` the positions themselves are the numbers.
 */
function markRows(
  mask: Uint8Array,
  starts: Uint32Array,
  ids: Uint32Array | undefined,
  fits: Uint8Array,
): void {
  for (let row = 0; row < mask.length; row++) {
    const end = starts[row + 1]!;
    for (let i = starts[row]!; i < end; i++) {
      if (fits[ids === undefined ? i : ids[i]!] === 1) {
        mask[row] = 1;
        break;
      }
    }
  }
}

function markOwners(
  mask: Uint8Array,
  column: Uint32Array,
  count: number,
  pairsOf: (id: number) => ArrayLike<number>,
  fits: Uint8Array,
): void {
  const owners = Uint8Array.from({ length: count }, (_, id) =>
    Array.prototype.some.call(pairsOf(id), (pair: number) => fits[pair] === 1) ? 1 : 0,
  );
  for (let row = 0; row < mask.length; row++) {
    mask[row]! |= owners[column[row]!]!;
  }
}
