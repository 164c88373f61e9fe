import { ByteReader } from 'svc/store';

import type { EventColumns, LinkColumns, SpanTable } from '../columns/columns.ts';
import { hexOf } from '../columns/stored-span.ts';
import {
  type FieldColumns,
  readFields,
  readParts,
  readRepeated,
  readTimes,
  readTraces,
  type RepeatedColumns,
  type TimeColumns,
  type TraceColumns,
} from './group-columns.ts';
import { GroupDictionary } from './group-dictionary.ts';
import { groupSections } from './group-writer.ts';

/** A group of spans in a block. A section is read and unpacked when one of its columns is asked for. */
export class Group implements SpanTable {
  readonly rows: number;
  readonly traces: number;
  readonly live = undefined;
  readonly #read: (section: number) => Uint8Array;
  #dictionary: GroupDictionary | undefined;
  #spanIds: Uint8Array | undefined;
  #idsOfTraces: Uint8Array | undefined;
  #traceTable: TraceColumns | undefined;
  #times: TimeColumns | undefined;
  #fields: FieldColumns | undefined;
  #attributes: RepeatedColumns | undefined;
  #parts: { readonly events: EventColumns; readonly links: LinkColumns } | undefined;

  constructor(read: (section: number) => Uint8Array, rows: number, traces: number) {
    this.#read = read;
    this.rows = rows;
    this.traces = traces;
  }

  get dictionary(): GroupDictionary {
    return (this.#dictionary ??= new GroupDictionary(this.#read(groupSections.texts), () =>
      this.#read(groupSections.pairs),
    ));
  }

  // Kept here, because it is needed for each span.
  get spanIds(): Uint8Array {
    return (this.#spanIds ??= this.#read(groupSections.spanIds));
  }

  get #traceIds(): Uint8Array {
    return (this.#idsOfTraces ??= this.#read(groupSections.traceIds));
  }

  get startMs(): Float64Array {
    return this.#timeColumns.startMs;
  }

  get startNs(): Uint32Array {
    return this.#timeColumns.startNs;
  }

  get durations(): Float64Array {
    return this.#timeColumns.durations;
  }

  get kinds(): Uint8Array {
    return this.#fieldColumns.kinds;
  }

  get names(): Uint32Array {
    return this.#fieldColumns.names;
  }

  get messages(): Uint32Array {
    return this.#fieldColumns.messages;
  }

  get states(): Uint32Array {
    return this.#fieldColumns.states;
  }

  get flags(): Uint32Array {
    return this.#fieldColumns.flags;
  }

  get resourceIds(): Uint32Array {
    return this.#fieldColumns.resourceIds;
  }

  get scopeIds(): Uint32Array {
    return this.#fieldColumns.scopeIds;
  }

  get pairStarts(): Uint32Array {
    return this.#pairColumns.starts;
  }

  get pairIds(): Uint32Array {
    return this.#pairColumns.ids;
  }

  get events(): EventColumns {
    return this.#partColumns.events;
  }

  get links(): LinkColumns {
    return this.#partColumns.links;
  }

  get traceOf(): Uint32Array {
    return this.#traceColumns.traceOf;
  }

  traceId(trace: number): string {
    return hexOf(this.#traceIds, trace * 16, 16);
  }

  rowsOf(trace: number): number[] {
    const { starts } = this.#traceColumns;
    return Array.from(
      { length: starts[trace + 1]! - starts[trace]! },
      (_, index) => starts[trace]! + index,
    );
  }

  parentId(row: number): string {
    const { parents, strangers } = this.#traceColumns;
    const parent = parents[row]!;
    return parent === -1
      ? ''
      : parent >= 0
        ? hexOf(this.spanIds, parent * 8, 8)
        : hexOf(strangers, (-2 - parent) * 8, 8);
  }

  /** The ids are sorted. */
  findTrace(id: Uint8Array): number {
    const ids = this.#traceIds;
    let low = 0;
    let high = this.traces - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = compareIds(ids, middle * 16, id);
      if (order === 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  get #traceColumns(): TraceColumns {
    return (this.#traceTable ??= readTraces(this.#read(groupSections.traces), this.rows));
  }

  get #timeColumns(): TimeColumns {
    return (this.#times ??= readTimes(
      this.#read(groupSections.times),
      this.rows,
      this.#traceColumns.starts,
    ));
  }

  get #fieldColumns(): FieldColumns {
    return (this.#fields ??= readFields(this.#read(groupSections.fields), this.rows));
  }

  get #pairColumns(): RepeatedColumns {
    return (this.#attributes ??= readRepeated(
      new ByteReader(this.#read(groupSections.attributes)),
      this.rows,
    ));
  }

  get #partColumns(): { readonly events: EventColumns; readonly links: LinkColumns } {
    return (this.#parts ??= readParts(this.#read(groupSections.parts), this.rows));
  }
}

function compareIds(ids: Uint8Array, at: number, id: Uint8Array): number {
  for (let i = 0; i < 16; i++) {
    const difference = ids[at + i]! - id[i]!;
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}
