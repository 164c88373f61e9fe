import {
  DeviceNameTable,
  JsonBytes,
  type Labels,
  labelValue,
  type Matcher,
  textOf,
} from 'svc/query';

import { type FoundLine, streamsOf, tailer } from '../logql/index.ts';
import { writeLine } from '../loki/answer.ts';
import type { Batch, StreamPart } from '../store/lines/batch.ts';
import { nanosText } from '../store/lines/nanos.ts';
import { errors } from './errors.ts';

export interface TailQuery {
  readonly query: string;
  readonly enforce: readonly Matcher[];
  /** Time that a line waits for older ones. */
  readonly delayMs: number;
}

interface Arrived extends FoundLine {
  readonly arrivedAt: number;
}

interface Tail {
  readonly id: number;
  readonly delayMs: number;
  readonly matchers: readonly Matcher[];
  readonly contains: readonly Buffer[];
  readonly process: ReturnType<typeof tailer>['process'];
  readonly waiting: Arrived[];
  dropped: Pick<FoundLine, 'labels' | 'ms' | 'ns'>[];
  droppedCount: number;
}

const maxTails = 100;
const maxWaiting = 5_000;
const maxInFrame = 1_000;
const maxDroppedTold = 100;

/** Live questions: what is kept and matches waits here, a bounded number of lines each, until its asker fetches it. */
export class Tails {
  readonly #now: () => number;
  readonly #wake: (id: number) => void;
  readonly #names: DeviceNameTable;
  readonly #tails = new Map<number, Tail>();
  #next = 1;

  /** `wake` hears when a tail that had nothing has something. A device is found by the name that it has when the tail opens. */
  constructor(
    now: () => number,
    wake: (id: number) => void,
    names: DeviceNameTable = new DeviceNameTable(),
  ) {
    this.#now = now;
    this.#wake = wake;
    this.#names = names;
  }

  get size(): number {
    return this.#tails.size;
  }

  open({ query, enforce, delayMs }: TailQuery): number {
    if (this.#tails.size >= maxTails) {
      throw errors.too_many_tails(
        { count: this.#tails.size + 1, max: maxTails },
        { retryAfterSeconds: 10 },
      );
    }
    const { matchers, contains, process } = tailer({ query, enforce, now: this.#now });
    const id = this.#next++;
    const needles = contains.map((text) => Buffer.from(text, 'utf8'));
    this.#tails.set(id, {
      id,
      delayMs,
      matchers: this.#names.foreign(matchers),
      contains: needles,
      process,
      waiting: [],
      dropped: [],
      droppedCount: 0,
    });
    return id;
  }

  close(id: number): void {
    this.#tails.delete(id);
  }

  /** Shows every tail what has come. */
  offer(batch: Batch): void {
    for (const tail of this.#tails.values()) {
      for (const part of batch.parts) {
        if (
          tail.matchers.every((matcher) => matcher.matches(labelValue(part.labels, matcher.name)))
        ) {
          this.#take(tail, batch, part);
        }
      }
    }
  }

  /** Returns the lines that are due, as a finished frame; undefined if there are none. */
  take(id: number): Uint8Array | undefined {
    const tail = this.#tails.get(id);
    if (tail === undefined) {
      throw errors.tail_ended();
    }
    const due = this.#now() - tail.delayMs;
    // In the order of their arrival, whatever the clock did meanwhile.
    const later =
      tail.delayMs === 0 ? -1 : tail.waiting.findIndex(({ arrivedAt }) => arrivedAt > due);
    const ready = tail.waiting.splice(0, Math.min(maxInFrame, later < 0 ? Infinity : later));
    if (ready.length === 0 && tail.droppedCount === 0) {
      return undefined;
    }
    const frame = frameOf(
      ready.sort((a, b) => a.ms - b.ms || a.ns - b.ns),
      tail.dropped,
    );
    tail.dropped = [];
    tail.droppedCount = 0;
    return frame;
  }

  #take(tail: Tail, batch: Batch, part: StreamPart): void {
    const arrivedAt = this.#now();
    for (let i = part.from; i < part.to; i++) {
      const [from, to] = [batch.startOf(i), batch.ends[i]!];
      const bytes = batch.bytes.subarray(from, to);
      if (!tail.contains.every((needle) => bytes.includes(needle))) {
        continue;
      }
      const entry = {
        ms: batch.ms[i]!,
        ns: batch.ns[i]!,
        line: textOf(batch.bytes, from, to),
        metadata: batch.metas[batch.meta[i]!]!,
      };
      const found = tail.process(part.labels, entry);
      if (found === undefined) {
        continue;
      }
      if (tail.waiting.length === 0) {
        this.#wake(tail.id);
      }
      if (tail.waiting.length < maxWaiting) {
        tail.waiting.push({ ...found, arrivedAt });
      } else {
        tail.droppedCount += 1;
        if (tail.dropped.length < maxDroppedTold) {
          tail.dropped.push({ labels: found.labels, ms: found.ms, ns: found.ns });
        }
      }
    }
  }
}

/** `{"streams":[{stream, values}],"dropped_entries":[{labels, timestamp}]}`. */
export function frameOf(
  lines: readonly FoundLine[],
  dropped: readonly Pick<FoundLine, 'labels' | 'ms' | 'ns'>[],
): Uint8Array {
  const json = new JsonBytes().raw('{"streams":[');
  streamsOf(lines).forEach(({ labels, lines: own }, index) => {
    json.raw(index === 0 ? '{"stream":' : ',{"stream":');
    json.pairs(labels);
    json.raw(',"values":[');
    own.forEach((line, at) => writeLine(json, line, at));
    json.raw(']}');
  });
  json.raw(']');
  dropped.forEach(({ labels, ms, ns }, index) => {
    json.raw(index === 0 ? ',"dropped_entries":[{"labels":' : ',{"labels":');
    json.pairs(labels satisfies Labels);
    json.raw(',"timestamp":').string(nanosText({ ms, ns })).raw('}');
  });
  return json.raw(dropped.length === 0 ? '}' : ']}').finish();
}
