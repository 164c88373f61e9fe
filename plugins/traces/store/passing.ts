import { asBuffer } from 'svc/query';

import type { TraceSpans } from '../traceql/spans/span.ts';
import { errors } from './errors.ts';
import type { Head } from './head/head.ts';
import { decodeTraces } from './intake/decode.ts';
import {
  type PushFormat,
  type PushOptions,
  type PushResult,
  requestOf,
  resultOf,
} from './intake/push.ts';
import { gather, type SpanTables } from './read/scan.ts';
import { tracesProto } from './read/trace-json.ts';
import type { TracesStore } from './store.ts';

/** A push on its way to another server. */
export interface Relayed extends PushResult {
  /** Ticket to return once it was forwarded, or could not be. */
  readonly ticket: number;
  /** Undefined when nothing of it may pass. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

const maxUnderWay = 256;

/** Spans that another server keeps: admitted and stamped here as those that stay, and counted once that server has them. */
export class Passing {
  readonly #store: TracesStore;
  readonly #now: () => number;
  readonly #underWay = new Map<number, Head>();
  #tickets = 0;

  constructor(store: TracesStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  take(format: PushFormat, body: Uint8Array, { encoding, stamp = {} }: PushOptions): Relayed {
    if (this.#underWay.size >= maxUnderWay) {
      throw errors.relay_full({ max: maxUnderWay }, { retryAfterSeconds: 2 });
    }
    const { limits } = this.#store;
    const head = this.#store.newHead();
    const tally = decodeTraces(
      requestOf(format, body, encoding, limits.bodyBytes),
      head,
      stamp,
      limits,
      this.#now(),
    );
    head.reveal(0, head.rows);
    const ticket = ++this.#tickets;
    this.#underWay.set(ticket, head);
    return {
      ...resultOf(tally),
      ticket,
      body: tally.accepted === 0 ? undefined : tracesProto(tracesIn(head)),
    };
  }

  end(ticket: number, sent: boolean): void {
    const head = this.#underWay.get(ticket);
    this.#underWay.delete(ticket);
    if (head !== undefined && sent) {
      this.#store.count(head, 0, head.rows);
    }
  }

  /** Traces that another server has answered with, as tables of their own. */
  tablesOf(bodies: readonly Uint8Array[]): SpanTables {
    const head = this.#store.newHead();
    const limits = {
      ...this.#store.limits,
      spanBytes: Infinity,
      traceSpans: Infinity,
      futureMs: Infinity,
    };
    for (const body of bodies) {
      decodeTraces(asBuffer(body), head, 'kept', limits, this.#now());
    }
    head.reveal(0, head.rows);
    return { heads: () => [head], blocks: () => [] };
  }
}

const tracesIn = (head: Head): TraceSpans[] =>
  Array.from({ length: head.traces }, (_, trace) =>
    gather({ heads: () => [head], blocks: () => [] }, head.traceBytes(trace)),
  ).filter((trace) => trace !== undefined);
