import type { Stamping } from '../head/head-dictionary.ts';
import type { Head } from '../head/head.ts';
import type { TraceLimits } from '../head/limits.ts';
import { decodeParts, longestDuration } from './decode-parts.ts';
import { type Range, Reading } from './reading.ts';

/** Outcome for the spans of one body. */
export interface Tally {
  accepted: number;
  rejected: number;
  /** Spans that were taken without some of their parts. */
  trimmed: number;
  readonly reasons: Map<string, number>;
  oldestMs: number;
  newestMs: number;
}

export const emptyTally = (): Tally => ({
  accepted: 0,
  rejected: 0,
  trimmed: 0,
  reasons: new Map(),
  oldestMs: Infinity,
  newestMs: -Infinity,
});

/**
 * Reads an ExportTraceServiceRequest into a head. Throws, leaving the head unchanged, if the bytes
 * are invalid.
 */
export function decodeTraces(
  body: Buffer,
  head: Head,
  stamp: Stamping,
  limits: TraceLimits,
  now: number,
): Tally {
  const mark = head.mark();
  try {
    const decoder = new Decoder(new Reading(body, head, limits), now);
    decoder.request(stamp);
    return decoder.tally;
  } catch (error) {
    head.rollBack(mark);
    throw error;
  }
}

class Decoder {
  readonly tally = emptyTally();
  readonly #reading: Reading;
  readonly #latestMs: number;
  #resource = 0;
  #scope = 0;

  constructor(reading: Reading, now: number) {
    this.#reading = reading;
    this.#latestMs = now + reading.limits.futureMs;
  }

  request(stamp: Stamping): void {
    const { body } = this.#reading;
    const reader = this.#reading.reader({ start: 0, end: body.length });
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) {
        this.#resourceSpans(this.#reading.block(reader), stamp);
      } else {
        reader.skip();
      }
    }
  }

  /** Reads spans of a resource, which may come after them: it is searched first. */
  #resourceSpans(range: Range, stamp: Stamping): void {
    const { body, head } = this.#reading;
    const { start, end } = this.#reading.first(range);
    this.#resource = head.dictionary.resourceOfBytes(body, start, end, stamp);
    const reader = this.#reading.reader(range);
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 2) {
        this.#scopeSpans(this.#reading.block(reader));
      } else {
        reader.skip();
      }
    }
  }

  #scopeSpans(range: Range): void {
    const { body, head } = this.#reading;
    const { start, end } = this.#reading.first(range);
    this.#scope = head.dictionary.scopeOfBytes(body, start, end);
    const reader = this.#reading.reader(range);
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 2) {
        this.#span(this.#reading.block(reader));
      } else {
        reader.skip();
      }
    }
  }

  /**
   * Reads a span. Deliberately one long method: with the fields in an object that several methods
   * share, a span costs 4 to 6 % more.
   */
  #span(range: Range): void {
    const { body, head, limits } = this.#reading;
    if (range.end - range.start > limits.spanBytes) {
      this.#reject(`a span has more than ${limits.spanBytes} bytes`);
      return;
    }
    const { columns } = head;
    const reader = this.#reading.reader(range);
    let traceAt = -1;
    let spanAt = -1;
    let parentAt = -1;
    let name = 0;
    let kind = 0;
    let status = 0;
    let message = 0;
    let state = 0;
    let flags = 0;
    let startMs = 0;
    let startNs = 0;
    let endMs = 0;
    let endNs = 0;
    let hasParts = false;
    let trimmed = head.dictionary.shortened.around(this.#resource, this.#scope);
    this.#reading.hasCut = false;
    const firstPair = columns.pairIds.length;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      switch (field) {
        case 1:
          traceAt = this.#reading.id(reader, 16);
          break;
        case 2:
          // All zeros, as some senders have it, is an id as well.
          spanAt = this.#reading.anyId(reader, 8);
          break;
        case 3:
          state = this.#reading.text(reader);
          break;
        case 4:
          parentAt = this.#reading.id(reader, 8);
          break;
        case 5:
          name = this.#reading.text(reader);
          break;
        case 6:
          kind = reader.uint32();
          break;
        case 7:
          reader.nanos();
          startMs = reader.ms;
          startNs = reader.ns;
          break;
        case 8:
          reader.nanos();
          endMs = reader.ms;
          endNs = reader.ns;
          break;
        case 9:
          trimmed = !this.#reading.pair(reader, 'span', columns.pairIds, firstPair) || trimmed;
          break;
        case 11:
        case 13:
          hasParts = true;
          reader.skip();
          break;
        case 15: {
          const parts = this.#reading.reader(this.#reading.block(reader));
          for (let part = parts.next(); part !== 0; part = parts.next()) {
            if (part === 2) {
              message = this.#reading.text(parts);
            } else if (part === 3) {
              status = parts.uint32();
            } else {
              parts.skip();
            }
          }
          break;
        }
        case 16:
          flags = reader.fixed32();
          break;
        default:
          reader.skip();
      }
    }
    const problem = this.#problem(traceAt, spanAt, startMs);
    const trace = problem === undefined ? head.internTrace(body, traceAt) : 0;
    const full = problem === undefined && head.spansOf(trace) >= limits.traceSpans;
    if (problem !== undefined || full) {
      columns.pairIds.length = firstPair;
      this.#reject(problem ?? `a trace has more than ${limits.traceSpans} spans`);
      return;
    }
    columns.spanIds.pushBytes(body, spanAt, 8);
    if (parentAt >= 0) {
      columns.parentIds.pushBytes(body, parentAt, 8);
    } else {
      columns.parentIds.pushBytes(zeros, 0, 8);
    }
    columns.startMs.push(startMs);
    columns.startNs.push(startNs);
    columns.durations.push(
      Math.min(longestDuration, Math.max(0, (endMs - startMs) * 1e6 + (endNs - startNs))),
    );
    columns.kinds.push((kind > 5 ? 0 : kind) * 4 + (status > 2 ? 0 : status));
    columns.names.push(name);
    columns.messages.push(message);
    columns.states.push(state);
    columns.flags.push(flags);
    columns.resourceIds.push(this.#resource);
    columns.scopeIds.push(this.#scope);
    if (hasParts) {
      trimmed = !decodeParts(this.#reading, range, startMs, startNs) || trimmed;
    }
    head.endRow(trace);
    this.#accept(startMs, trimmed || this.#reading.hasCut);
  }

  #accept(startMs: number, trimmed: boolean): void {
    this.tally.accepted++;
    this.tally.trimmed += trimmed ? 1 : 0;
    this.tally.oldestMs = Math.min(this.tally.oldestMs, startMs);
    this.tally.newestMs = Math.max(this.tally.newestMs, startMs);
  }

  #problem(traceAt: number, spanAt: number, startMs: number): string | undefined {
    if (traceAt < 0) {
      return 'a span has no proper trace id';
    }
    if (spanAt < 0) {
      return 'a span has no proper id';
    }
    return startMs > this.#latestMs ? 'a span starts in the future' : undefined;
  }

  #reject(reason: string): void {
    this.tally.rejected++;
    this.tally.reasons.set(reason, (this.tally.reasons.get(reason) ?? 0) + 1);
  }
}

const zeros = new Uint8Array(8);
