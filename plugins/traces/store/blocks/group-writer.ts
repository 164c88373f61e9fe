import { type BlockWriter, ByteWriter } from 'svc/store';

import { placesOf, Renumbering } from '../columns/row-numbers.ts';
import { encodeText, encodeValue } from '../columns/value-codec.ts';
import type { Head } from '../head/head.ts';

/** Sections of one group within a block, in this order. */
export const groupSections = {
  texts: 0,
  pairs: 1,
  traceIds: 2,
  traces: 3,
  spanIds: 4,
  times: 5,
  fields: 6,
  attributes: 7,
  parts: 8,
} as const;
export const sectionsPerGroup = 9;

export const parentCodes = { root: 0, unknown: 1, offset: 2 } as const;

/** One trace of a group: its number in the head, and its rows by start. */
export interface TraceRows {
  readonly trace: number;
  readonly rows: readonly number[];
}

/** Writes spans of a head as sections of a block. `traces` is sorted by trace id. */
export function writeGroup(block: BlockWriter, head: Head, traces: readonly TraceRows[]): void {
  const { dictionary } = head;
  const rows = traces.flatMap((entry) => entry.rows);
  const texts = new Renumbering(dictionary.texts);
  const resources = new Renumbering(dictionary.resources);
  const scopes = new Renumbering(dictionary.scopes);
  const pairs = pairsByKey(head, rows);
  texts.of(0);

  const fields = fieldsOf(head, rows, texts, resources, scopes);
  const attributes = repeated(rows, head.pairStarts, head.pairIds, pairs.numbers);
  const parts = partsOf(head, rows, texts, pairs.numbers);
  const sections = [
    textsOf(head, texts, resources, scopes, pairs.numbers),
    pairs.bytes,
    traceIdsOf(head, traces),
    tracesOf(head, traces),
    spanIdsOf(head, rows),
    timesOf(head, traces),
    fields,
    attributes,
    parts,
  ];
  sections.forEach((bytes, index) =>
    block.section(
      bytes,
      index === groupSections.traceIds || index === groupSections.spanIds ? { raw: true } : {},
    ),
  );
}

/** All attributes of the group, those of one key together: who looks for one key decodes no other. */
function pairsByKey(
  head: Head,
  rows: readonly number[],
): { readonly bytes: Uint8Array; readonly numbers: Int32Array } {
  const { dictionary, resourceIds, scopeIds, pairStarts, pairIds, events, links } = head;
  const numbers = new Int32Array(dictionary.pairs).fill(-1);
  /** Values by key number, where the key occurs. */
  const byKey: number[][] = [];
  const use = (pair: number): void => {
    if (numbers[pair]! < 0) {
      numbers[pair] = 0;
      (byKey[dictionary.keyOf(pair)] ??= []).push(pair);
    }
  };
  const useAll = (starts: Uint32Array, ids: Uint32Array, first: number, end: number): void => {
    for (let i = starts[first]!; i < starts[end]!; i++) {
      use(ids[i]!);
    }
  };
  for (const row of rows) {
    useAll(pairStarts, pairIds, row, row + 1);
    useAll(events.pairStarts, events.pairs, events.starts[row]!, events.starts[row + 1]!);
    useAll(links.pairStarts, links.pairs, links.starts[row]!, links.starts[row + 1]!);
  }
  new Set(rows.map((row) => resourceIds[row]!)).forEach((id) =>
    dictionary.resourcePairs(id).forEach(use),
  );
  new Set(rows.map((row) => scopeIds[row]!)).forEach((id) =>
    dictionary.scopePairs(id).forEach(use),
  );

  const writer = new ByteWriter(64 * 1024);
  const values = new ByteWriter(64 * 1024);
  writer.uvarint(byKey.reduce((count) => count + 1, 0));
  let number = 0;
  byKey.forEach((same, key) => {
    values.reset();
    let scopes = 0;
    for (const pair of same) {
      numbers[pair] = number++;
      scopes |= dictionary.scopesOf(pair);
      values.u8(dictionary.scopesOf(pair));
      const text = dictionary.textBytesOf(pair);
      if (text === undefined) {
        encodeValue(values, dictionary.pair(pair).value);
      } else {
        encodeText(values, text);
      }
    }
    writer.utf8(dictionary.key(key));
    writer.u8(scopes);
    writer.uvarint(same.length);
    writer.block(values.take());
  });
  return { bytes: writer.take(), numbers };
}

function textsOf(
  head: Head,
  texts: Renumbering,
  resources: Renumbering,
  scopes: Renumbering,
  pairs: Int32Array,
): Uint8Array {
  const { dictionary } = head;
  const writer = new ByteWriter(16 * 1024);
  const list = (ids: readonly number[]): void => {
    writer.uvarint(ids.length);
    ids.forEach((id) => writer.uvarint(pairs[id]!));
  };
  writer.uvarint(texts.used.length);
  texts.used.forEach((id) => writer.utf8(dictionary.text(id)));
  writer.uvarint(resources.used.length);
  resources.used.forEach((id) => list(dictionary.resourcePairs(id)));
  writer.uvarint(scopes.used.length);
  for (const id of scopes.used) {
    const { name, version } = dictionary.scope(id);
    writer.utf8(name);
    writer.utf8(version);
    list(dictionary.scopePairs(id));
  }
  return writer.take();
}

function traceIdsOf(head: Head, traces: readonly TraceRows[]): Uint8Array {
  const ids = new Uint8Array(traces.length * 16);
  traces.forEach(({ trace }, index) => ids.set(head.traceBytes(trace), index * 16));
  return ids;
}

function spanIdsOf(head: Head, rows: readonly number[]): Uint8Array {
  const ids = new Uint8Array(rows.length * 8);
  rows.forEach((row, index) => ids.set(head.spanIds.subarray(row * 8, row * 8 + 8), index * 8));
  return ids;
}

/**
 * Encodes the number of rows of each trace, and the position of each row's parent: usually a few
 * rows before it, so that no id is stored.
 */
function tracesOf(head: Head, traces: readonly TraceRows[]): Uint8Array {
  const writer = new ByteWriter(32 * 1024);
  const strangers = new ByteWriter();
  const { spanIds } = head;
  const parents = head.columns.parentIds.data;
  writer.uvarint(traces.length);
  traces.forEach(({ rows }) => writer.uvarint(rows.length));
  for (const { rows } of traces) {
    const placeOf = placesOf(spanIds, rows);
    rows.forEach((row, place) => {
      const above = isZero(parents, row) ? undefined : placeOf(parents, row);
      if (above === undefined) {
        writer.uvarint(parentCodes.root);
      } else if (above < 0) {
        writer.uvarint(parentCodes.unknown);
        strangers.bytes(parents.subarray(row * 8, row * 8 + 8));
      } else {
        const distance = place - above;
        writer.uvarint(parentCodes.offset + (distance >= 0 ? distance * 2 : -distance * 2 - 1));
      }
    });
  }
  writer.bytes(strangers.take());
  return writer.take();
}

function isZero(ids: Uint8Array, row: number): boolean {
  for (let i = row * 8; i < row * 8 + 8; i++) {
    if (ids[i] !== 0) {
      return false;
    }
  }
  return true;
}

/** Starts as steps from row to row in nanoseconds; a step too long for a number is written as two. */
function timesOf(head: Head, traces: readonly TraceRows[]): Uint8Array {
  const writer = new ByteWriter(64 * 1024);
  const { startMs, startNs, durations } = head;
  const longestStepMs = 2 ** 50 / 1e6;
  let firstMs = 0;
  for (const { rows } of traces) {
    let ms = startMs[rows[0]!]!;
    let ns = startNs[rows[0]!]!;
    writer.svarint(ms - firstMs);
    writer.uvarint(ns);
    firstMs = ms;
    for (let i = 1; i < rows.length; i++) {
      const nextMs = startMs[rows[i]!]!;
      const nextNs = startNs[rows[i]!]!;
      const far = nextMs - ms > longestStepMs;
      writer.uvarint(far ? 1 : ((nextMs - ms) * 1e6 + (nextNs - ns)) * 2);
      if (far) {
        writer.uvarint(nextMs);
        writer.uvarint(nextNs);
      }
      ms = nextMs;
      ns = nextNs;
    }
  }
  for (const { rows } of traces) {
    for (const row of rows) {
      writer.uvarint(durations[row]!);
    }
  }
  return writer.take();
}

/** The small columns, one behind the other, each a number a row. */
function fieldsOf(
  head: Head,
  rows: readonly number[],
  texts: Renumbering,
  resources: Renumbering,
  scopes: Renumbering,
): Uint8Array {
  const writer = new ByteWriter(64 * 1024);
  const { kinds, names, resourceIds, scopeIds, messages, states, flags } = head;
  for (const row of rows) {
    writer.u8(kinds[row]!);
  }
  const column = new Uint32Array(rows.length);
  for (const [ids, numbers] of [
    [names, texts],
    [resourceIds, resources],
    [scopeIds, scopes],
    [messages, texts],
    [states, texts],
  ] as const) {
    for (let i = 0; i < rows.length; i++) {
      column[i] = numbers.of(ids[rows[i]!]!);
    }
    writer.uvarints(column);
  }
  for (let i = 0; i < rows.length; i++) {
    column[i] = flags[rows[i]!]!;
  }
  writer.uvarints(column);
  return writer.take();
}

/** Counts of all rows, then the numbers of their pairs. */
function repeated(
  items: readonly number[],
  starts: Uint32Array,
  ids: Uint32Array,
  numbers: Int32Array,
): Uint8Array {
  const writer = new ByteWriter(64 * 1024);
  const counts = new Uint32Array(items.length);
  let all = 0;
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    all += counts[i] = starts[item + 1]! - starts[item]!;
  }
  const column = new Uint32Array(all);
  let at = 0;
  for (let n = 0; n < items.length; n++) {
    const item = items[n]!;
    for (let i = starts[item]!, end = starts[item + 1]!; i < end; i++) {
      column[at++] = numbers[ids[i]!]!;
    }
  }
  writer.uvarints(counts);
  writer.uvarints(column);
  return writer.take();
}

function partsOf(
  head: Head,
  rows: readonly number[],
  texts: Renumbering,
  pairs: Int32Array,
): Uint8Array {
  const writer = new ByteWriter(16 * 1024);
  const { events, links } = head;
  const eventItems = itemsOf(rows, events.starts);
  const linkItems = itemsOf(rows, links.starts);
  writer.uvarint(eventItems.length);
  writer.uvarint(linkItems.length);
  if (eventItems.length > 0) {
    rows.forEach((row) => writer.uvarint(events.starts[row + 1]! - events.starts[row]!));
    eventItems.forEach((item) => writer.uvarint(texts.of(events.names[item]!)));
    eventItems.forEach((item) => writer.f64le(events.sinceStart[item]!));
    writer.block(repeated(eventItems, events.pairStarts, events.pairs, pairs));
  }
  if (linkItems.length > 0) {
    rows.forEach((row) => writer.uvarint(links.starts[row + 1]! - links.starts[row]!));
    linkItems.forEach((item) => writer.bytes(links.traceIds.subarray(item * 16, item * 16 + 16)));
    linkItems.forEach((item) => writer.bytes(links.spanIds.subarray(item * 8, item * 8 + 8)));
    linkItems.forEach((item) => writer.uvarint(texts.of(links.states[item]!)));
    writer.block(repeated(linkItems, links.pairStarts, links.pairs, pairs));
  }
  return writer.take();
}

function itemsOf(rows: readonly number[], starts: Uint32Array): number[] {
  const items: number[] = [];
  for (const row of rows) {
    for (let item = starts[row]!; item < starts[row + 1]!; item++) {
      items.push(item);
    }
  }
  return items;
}
