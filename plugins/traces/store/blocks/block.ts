import { join } from 'node:path';

import { type Budget } from 'svc/query';
import {
  type BlockFile,
  type BlockRow,
  ByteReader,
  ByteWriter,
  type NewBlock,
  openBlock,
  rowFor,
  type SectionCache,
  writeBlock,
} from 'svc/store';

import {
  BitFilter,
  hashesOf,
  hashOfKey,
  hashOfTextValue,
  hashOfTrace,
  nameKey,
} from '../columns/bit-filter.ts';
import { scopeBits, type ScopeName } from '../columns/columns.ts';
import type { Head } from '../head/head.ts';
import { groupSpans } from '../head/limits.ts';
import { sectionsPerGroup, type TraceRows, writeGroup } from './group-writer.ts';
import { Group } from './group.ts';

/** Sections behind those of the groups. */
const tail = { attributeFilter: 3, traceFilter: 2, header: 1 } as const;
const traceFilterBits = 16;
const attributeFilterBits = 10;
const probes = 7;
const maxKeysInCatalogue = 500;

/** Where the log continues behind a block. */
export interface BlockPosition {
  readonly segment?: number;
}

/** Metadata of a block in the catalogue, so that tag names can be listed without opening files. */
export interface BlockMeta {
  readonly maxStart: number;
  readonly traces: number;
  readonly keys: Readonly<Record<ScopeName, readonly string[]>>;
  /** True if there are more keys than listed here. */
  readonly more: boolean;
}

/** Writes all valid rows of a head, yielding between groups. Undefined if there are none. */
export async function writeTraceBlock(
  folder: string,
  name: string,
  head: Head,
  { budget, position }: { readonly budget: Budget; readonly position: BlockPosition },
): Promise<NewBlock | undefined> {
  const traces = sortedTraces(head);
  if (traces.length === 0) {
    return undefined;
  }
  const traceFilter = BitFilter.sized(traces.length, traceFilterBits, probes);
  traces.forEach(({ trace }) => traceFilter.add(hashOfTrace(head.traceBytes(trace))));
  const description = { level: 0, ...extentOf(head, traces), replaces: [], store: position };
  const written = await writeBlock(folder, name, async (block) => {
    const header = new ByteWriter();
    const groups = grouped(traces);
    header.uvarint(groups.length);
    for (const [index, group] of groups.entries()) {
      writeGroup(block, head, group);
      header.uvarint(index * sectionsPerGroup);
      header.uvarint(group.reduce((sum, { rows }) => sum + rows.length, 0));
      header.uvarint(group.length);
      header.bytes(head.traceBytes(group[0]!.trace));
      await budget.breathe();
    }
    // Before the sections that are counted from the end.
    block.describe(description);
    block.section(attributeFilterOf(head).bytes, { raw: true });
    block.section(traceFilter.bytes, { raw: true });
    block.section(header.take());
  });
  return rowFor(written, description);
}

function sortedTraces(head: Head): TraceRows[] {
  const traces: TraceRows[] = [];
  const { startMs, startNs } = head;
  const byStart = (a: number, b: number): number =>
    startMs[a]! - startMs[b]! || startNs[a]! - startNs[b]! || a - b;
  /** The first bytes of the ids as numbers: they tell almost all of them apart, and faster than the bytes. */
  const prefixes = new Float64Array(head.traces);
  for (let trace = 0; trace < head.traces; trace++) {
    const rows = head.rowsOf(trace);
    if (rows.length > 0) {
      traces.push({ trace, rows: isInOrder(rows, byStart) ? rows : rows.sort(byStart) });
      prefixes[trace] = prefixOf(head.traceBytes(trace));
    }
  }
  return traces.sort(
    ({ trace: a }, { trace: b }) =>
      prefixes[a]! - prefixes[b]! ||
      (a === b ? 0 : Buffer.compare(head.traceBytes(a), head.traceBytes(b))),
  );
}

function isInOrder(rows: readonly number[], compare: (a: number, b: number) => number): boolean {
  for (let i = 1; i < rows.length; i++) {
    if (compare(rows[i - 1]!, rows[i]!) > 0) {
      return false;
    }
  }
  return true;
}

function prefixOf(id: Uint8Array): number {
  let prefix = 0;
  for (let i = 0; i < 6; i++) {
    prefix = prefix * 256 + id[i]!;
  }
  return prefix;
}

/** A trace is never divided within a block. */
function grouped(traces: readonly TraceRows[]): TraceRows[][] {
  const groups: TraceRows[][] = [];
  let rows = Infinity;
  for (const trace of traces) {
    if (rows + trace.rows.length > groupSpans) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)!.push(trace);
    rows += trace.rows.length;
  }
  return groups;
}

function attributeFilterOf({ dictionary }: Head): BitFilter {
  const filter = BitFilter.sized(dictionary.pairs + dictionary.texts, attributeFilterBits, probes);
  const keyHashes: number[] = [];
  for (let pair = 0; pair < dictionary.pairs; pair++) {
    const key = dictionary.keyOf(pair);
    const keyHash = (keyHashes[key] ??= hashOfKey(dictionary.key(key)));
    const text = dictionary.textBytesOf(pair);
    if (text === undefined) {
      hashesOf(keyHash, dictionary.pair(pair).value).forEach((hash) => filter.add(hash));
    } else {
      filter.add(hashOfTextValue(keyHash, text));
    }
  }
  const nameHash = hashOfKey(nameKey);
  for (let text = 0; text < dictionary.texts; text++) {
    filter.add(hashOfTextValue(nameHash, Buffer.from(dictionary.text(text))));
  }
  return filter;
}

function extentOf(
  head: Head,
  traces: readonly TraceRows[],
): { mint: number; maxt: number; rows: number; meta: string } {
  let mint = Infinity;
  let maxStart = -Infinity;
  let maxt = -Infinity;
  let count = 0;
  for (const { rows } of traces) {
    for (const row of rows) {
      const start = head.startMs[row]!;
      mint = Math.min(mint, start);
      maxStart = Math.max(maxStart, start);
      maxt = Math.max(maxt, Math.ceil(start + 1 + head.durations[row]! / 1e6));
    }
    count += rows.length;
  }
  return {
    mint,
    maxt,
    rows: count,
    meta: JSON.stringify({
      maxStart: maxStart + 1,
      traces: traces.length,
      ...keysOf(head.dictionary.keys()),
    } satisfies BlockMeta),
  };
}

/** The keys of each scope, as many as the catalogue keeps. */
export function keysOf(
  found: Iterable<{ readonly key: string; readonly scopes: number }>,
): Pick<BlockMeta, 'keys' | 'more'> {
  const keys: Record<ScopeName, string[]> = {
    span: [],
    resource: [],
    event: [],
    link: [],
    instrumentation: [],
  };
  let more = false;
  for (const { key, scopes } of found) {
    for (const scope of Object.keys(scopeBits) as ScopeName[]) {
      if ((scopes & scopeBits[scope]) !== 0) {
        more ||= keys[scope].length >= maxKeysInCatalogue;
        if (keys[scope].length < maxKeysInCatalogue) {
          keys[scope].push(key);
        }
      }
    }
  }
  return { keys, more };
}

interface GroupEntry {
  readonly firstSection: number;
  readonly rows: number;
  readonly traces: number;
  readonly firstTrace: Uint8Array;
}

/** Resources that blocks share: a cache of what was read lately, and a limit of open files. */
export interface BlockParts {
  readonly cache: SectionCache;
  /** Called whenever a file is opened. */
  opened(block: StoredBlock): void;
  groupAt(key: string, make: () => Group): Group;
}

/** A block as the store knows it: which traces may be in it stays in memory, everything else is read when it is needed. */
export class StoredBlock {
  readonly row: BlockRow;
  readonly meta: BlockMeta;
  readonly path: string;
  readonly #parts: BlockParts;
  readonly #traceFilter: BitFilter;
  readonly #groups: readonly GroupEntry[];
  #file: BlockFile | undefined;
  /** First sections of groups that cannot be read. */
  readonly #lost = new Set<number>();
  #isFilterLost = false;

  constructor(folder: string, row: BlockRow, parts: BlockParts) {
    this.row = row;
    // Nobody knows the names in a block that could not be described.
    this.meta = {
      maxStart: row.maxt,
      traces: 0,
      ...keysOf([]),
      ...(JSON.parse(row.meta) as Partial<BlockMeta>),
    };
    this.path = join(folder, row.file);
    this.#parts = parts;
    const file = this.#open();
    this.#traceFilter = new BitFilter(
      Uint8Array.from(file.read(file.sections - tail.traceFilter)),
      probes,
    );
    this.#groups = readHeader(file.read(file.sections - tail.header));
  }

  /** Bytes that stay in memory for as long as the block exists. */
  get residentBytes(): number {
    return this.#traceFilter.bytes.length + this.#groups.length * 100 + this.row.meta.length * 2;
  }

  mayHaveTrace(hash: number): boolean {
    return this.#traceFilter.has(hash);
  }

  /** Undefined when it cannot be read: then everything has to be. */
  attributeFilter(): BitFilter | undefined {
    if (this.#isFilterLost) {
      return undefined;
    }
    const file = this.#open();
    return new BitFilter(file.read(file.sections - tail.attributeFilter), probes);
  }

  *groups(): Iterable<Group> {
    for (const { firstSection, rows, traces } of this.#groups) {
      if (!this.#lost.has(firstSection)) {
        yield this.#group(firstSection, rows, traces);
      }
    }
  }

  /** The group that would hold a trace. */
  groupOf(id: Uint8Array): Group | undefined {
    const found = this.#entryOf(id);
    return found === undefined || this.#lost.has(found.firstSection)
      ? undefined
      : this.#group(found.firstSection, found.rows, found.traces);
  }

  /** Leaves out what a section belongs to; whether that was not left out already. */
  lose(section: number): boolean {
    const entry = this.#groups.find(
      ({ firstSection }) => section >= firstSection && section < firstSection + sectionsPerGroup,
    );
    if (entry === undefined) {
      const before = this.#isFilterLost;
      this.#isFilterLost = true;
      return !before;
    }
    return this.#lost.size < this.#lost.add(entry.firstSection).size;
  }

  /** Returns whether groups are left out, or the one that would hold this trace. */
  misses(id?: Uint8Array): boolean {
    return id === undefined
      ? this.#lost.size > 0
      : this.#lost.has(this.#entryOf(id)?.firstSection ?? -1);
  }

  /** Opens the file, which then can be read even when it is deleted. */
  hold(): void {
    this.#open();
  }

  /** Gives the file back; the next use opens it again. */
  release(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #entryOf(id: Uint8Array): GroupEntry | undefined {
    return this.#groups.findLast(({ firstTrace }) => Buffer.compare(firstTrace, id) <= 0);
  }

  /** Reads through the block: a file that was given back meanwhile is opened again. */
  #group(firstSection: number, rows: number, traces: number): Group {
    const read = (section: number): Uint8Array => this.#open().read(firstSection + section);
    return this.#parts.groupAt(
      `${this.row.id}/${firstSection}`,
      () => new Group(read, rows, traces),
    );
  }

  #open(): BlockFile {
    if (this.#file === undefined) {
      this.#file = openBlock(this.path, this.#parts.cache);
      this.#parts.opened(this);
    }
    return this.#file;
  }
}

function readHeader(bytes: Uint8Array): GroupEntry[] {
  const reader = new ByteReader(bytes);
  const groups: GroupEntry[] = [];
  for (let count = reader.uvarint(); count > 0; count--) {
    groups.push({
      firstSection: reader.uvarint(),
      rows: reader.uvarint(),
      traces: reader.uvarint(),
      firstTrace: Uint8Array.from(reader.bytes(16)),
    });
  }
  return groups;
}
