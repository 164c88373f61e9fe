import { ByteReader } from 'svc/store';

import type { EventColumns, LinkColumns } from '../columns/columns.ts';
import { parentCodes } from './group-writer.ts';

export interface TraceColumns {
  readonly traceOf: Uint32Array;
  /** First row of each trace, and the end. */
  readonly starts: Uint32Array;
  /** Row of the parent; -1: root, -2 and below: number of an id that no row here has. */
  readonly parents: Int32Array;
  readonly strangers: Uint8Array;
}

export interface TimeColumns {
  readonly startMs: Float64Array;
  readonly startNs: Uint32Array;
  readonly durations: Float64Array;
}

export interface FieldColumns {
  readonly kinds: Uint8Array;
  readonly names: Uint32Array;
  readonly resourceIds: Uint32Array;
  readonly scopeIds: Uint32Array;
  readonly messages: Uint32Array;
  readonly states: Uint32Array;
  readonly flags: Uint32Array;
}

export interface RepeatedColumns {
  readonly starts: Uint32Array;
  readonly ids: Uint32Array;
}

export function readTraces(bytes: Uint8Array, rows: number): TraceColumns {
  const reader = new ByteReader(bytes);
  const count = reader.uvarint();
  const starts = new Uint32Array(count + 1);
  const traceOf = new Uint32Array(rows);
  for (let trace = 0; trace < count; trace++) {
    starts[trace + 1] = starts[trace]! + reader.uvarint();
    traceOf.fill(trace, starts[trace], starts[trace + 1]);
  }
  const parents = new Int32Array(rows);
  let strangers = 0;
  for (let row = 0; row < rows; row++) {
    const code = reader.uvarint();
    if (code === parentCodes.root) {
      parents[row] = -1;
    } else if (code === parentCodes.unknown) {
      parents[row] = -2 - strangers++;
    } else {
      const distance = code - parentCodes.offset;
      parents[row] = row - (distance % 2 === 0 ? distance / 2 : -(distance + 1) / 2);
    }
  }
  return { traceOf, starts, parents, strangers: reader.bytes(strangers * 8) };
}

export function readTimes(bytes: Uint8Array, rows: number, starts: Uint32Array): TimeColumns {
  const reader = new ByteReader(bytes);
  const startMs = new Float64Array(rows);
  const startNs = new Uint32Array(rows);
  const durations = new Float64Array(rows);
  let firstMs = 0;
  for (let trace = 0; trace + 1 < starts.length; trace++) {
    let ms = firstMs + reader.svarint();
    let ns = reader.uvarint();
    firstMs = ms;
    startMs[starts[trace]!] = ms;
    startNs[starts[trace]!] = ns;
    for (let row = starts[trace]! + 1; row < starts[trace + 1]!; row++) {
      const code = reader.uvarint();
      if (code % 2 === 1) {
        ms = reader.uvarint();
        ns = reader.uvarint();
      } else {
        const step = ns + code / 2;
        const whole = Math.floor(step / 1e6);
        ms += whole;
        ns = step - whole * 1e6;
      }
      startMs[row] = ms;
      startNs[row] = ns;
    }
  }
  for (let row = 0; row < rows; row++) {
    durations[row] = reader.uvarint();
  }
  return { startMs, startNs, durations };
}

export function readFields(bytes: Uint8Array, rows: number): FieldColumns {
  const reader = new ByteReader(bytes);
  const kinds = Uint8Array.from(reader.bytes(rows));
  const column = (): Uint32Array => {
    const values = new Uint32Array(rows);
    for (let row = 0; row < rows; row++) {
      values[row] = reader.uvarint();
    }
    return values;
  };
  return {
    kinds,
    names: column(),
    resourceIds: column(),
    scopeIds: column(),
    messages: column(),
    states: column(),
    flags: column(),
  };
}

export function readRepeated(reader: ByteReader, items: number): RepeatedColumns {
  const starts = readStarts(reader, items);
  const ids = new Uint32Array(starts[items]!);
  for (let i = 0; i < ids.length; i++) {
    ids[i] = reader.uvarint();
  }
  return { starts, ids };
}

function readStarts(reader: ByteReader, items: number): Uint32Array {
  const starts = new Uint32Array(items + 1);
  for (let item = 0; item < items; item++) {
    starts[item + 1] = starts[item]! + reader.uvarint();
  }
  return starts;
}

export function readParts(
  bytes: Uint8Array,
  rows: number,
): { events: EventColumns; links: LinkColumns } {
  const reader = new ByteReader(bytes);
  const eventCount = reader.uvarint();
  const linkCount = reader.uvarint();
  const eventStarts = eventCount === 0 ? new Uint32Array(rows + 1) : readStarts(reader, rows);
  const names = new Uint32Array(eventCount);
  const sinceStart = new Float64Array(eventCount);
  for (let i = 0; i < eventCount; i++) {
    names[i] = reader.uvarint();
  }
  for (let i = 0; i < eventCount; i++) {
    sinceStart[i] = reader.f64le();
  }
  const eventPairs =
    eventCount === 0 ? nothing : readRepeated(new ByteReader(reader.block()), eventCount);
  const linkStarts = linkCount === 0 ? new Uint32Array(rows + 1) : readStarts(reader, rows);
  const traceIds = reader.bytes(linkCount * 16);
  const spanIds = reader.bytes(linkCount * 8);
  const states = new Uint32Array(linkCount);
  for (let i = 0; i < linkCount; i++) {
    states[i] = reader.uvarint();
  }
  const linkPairs =
    linkCount === 0 ? nothing : readRepeated(new ByteReader(reader.block()), linkCount);
  return {
    events: {
      starts: eventStarts,
      names,
      sinceStart,
      pairStarts: eventPairs.starts,
      pairs: eventPairs.ids,
    },
    links: {
      starts: linkStarts,
      traceIds,
      spanIds,
      states,
      pairStarts: linkPairs.starts,
      pairs: linkPairs.ids,
    },
  };
}

const nothing: RepeatedColumns = { starts: new Uint32Array(1), ids: new Uint32Array(0) };
