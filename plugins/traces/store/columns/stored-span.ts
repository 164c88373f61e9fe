import type { Attribute, Scope, Span, SpanEvent, SpanLink } from '../../traceql/spans/span.ts';
import type { SpanTable } from './columns.ts';

/** One row of a table as a span; a field is decoded when somebody asks for it. */
export class StoredSpan implements Span {
  readonly #table: SpanTable;
  readonly #row: number;
  #id: string | undefined;
  #parentId: string | undefined;
  #attributes: readonly Attribute[] | undefined;

  constructor(table: SpanTable, row: number) {
    this.#table = table;
    this.#row = row;
  }

  get id(): string {
    return (this.#id ??= hexOf(this.#table.spanIds, this.#row * 8, 8));
  }

  get idHigh(): number {
    return word(this.#table.spanIds, this.#row * 8);
  }

  get idLow(): number {
    return word(this.#table.spanIds, this.#row * 8 + 4);
  }

  get parentId(): string {
    return (this.#parentId ??= this.#table.parentId(this.#row));
  }

  get name(): string {
    return this.#text(this.#table.names);
  }

  get kind(): number {
    return this.#table.kinds[this.#row]! >> 2;
  }

  get status(): number {
    return this.#table.kinds[this.#row]! & 3;
  }

  get statusMessage(): string {
    return this.#text(this.#table.messages);
  }

  get traceState(): string {
    return this.#text(this.#table.states);
  }

  get flags(): number {
    return this.#table.flags[this.#row]!;
  }

  get startMs(): number {
    return this.#table.startMs[this.#row]! + this.#table.startNs[this.#row]! / 1e6;
  }

  get startNs(): bigint {
    return (
      BigInt(this.#table.startMs[this.#row]!) * 1_000_000n + BigInt(this.#table.startNs[this.#row]!)
    );
  }

  get durationNs(): number {
    return this.#table.durations[this.#row]!;
  }

  get attributes(): readonly Attribute[] {
    return (this.#attributes ??= this.#pairs(
      this.#table.pairStarts,
      this.#table.pairIds,
      this.#row,
    ));
  }

  get resource(): readonly Attribute[] {
    return this.#table.dictionary.resource(this.#table.resourceIds[this.#row]!);
  }

  get scope(): Scope {
    return this.#table.dictionary.scope(this.#table.scopeIds[this.#row]!);
  }

  get events(): readonly SpanEvent[] {
    const { starts, names, sinceStart, pairStarts, pairs } = this.#table.events;
    return this.#parts(starts, (at) => ({
      name: this.#table.dictionary.text(names[at]!),
      sinceStart: sinceStart[at]!,
      attributes: this.#pairs(pairStarts, pairs, at),
    }));
  }

  get links(): readonly SpanLink[] {
    const { starts, traceIds, spanIds, states, pairStarts, pairs } = this.#table.links;
    return this.#parts(starts, (at) => ({
      traceId: hexOf(traceIds, at * 16, 16),
      spanId: hexOf(spanIds, at * 8, 8),
      traceState: this.#table.dictionary.text(states[at]!),
      attributes: this.#pairs(pairStarts, pairs, at),
    }));
  }

  #text(column: Uint32Array): string {
    return this.#table.dictionary.text(column[this.#row]!);
  }

  #parts<T>(starts: Uint32Array, make: (at: number) => T): readonly T[] {
    const parts: T[] = [];
    for (let at = starts[this.#row]!; at < starts[this.#row + 1]!; at++) {
      parts.push(make(at));
    }
    return parts;
  }

  #pairs(starts: Uint32Array, ids: Uint32Array, at: number): readonly Attribute[] {
    const attributes: Attribute[] = [];
    for (let i = starts[at]!; i < starts[at + 1]!; i++) {
      attributes.push(this.#table.dictionary.pair(ids[i]!));
    }
    return attributes;
  }
}

const word = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function hexOf(bytes: Uint8Array, start: number, count: number): string {
  let text = '';
  for (let i = start; i < start + count; i++) {
    text += digits[bytes[i]!]!;
  }
  return text;
}
