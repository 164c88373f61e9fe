import type { PushAnswer, Stamp } from 'svc/contracts/metricsdb';
import { type Labels } from 'svc/query';

import { Scratch } from '../columns/scratch.ts';
import { type Verdict } from '../head/head-samples.ts';
import { type Head } from '../head/head.ts';
import { Batch } from './batch.ts';
import { labelProblem, seriesText } from './label-rules.ts';
import { readRawLabels, writeRawLabels } from './raw-labels.ts';

/** One observation behind a sample, such as the trace in which it was made. */
export interface Exemplar {
  readonly labels: Labels;
  /** Milliseconds. */
  readonly time: number;
  readonly value: number;
}

export interface IntakeLimits {
  /** Milliseconds that a sample may be ahead of the clock. */
  readonly aheadMs: number;
  readonly maxSeries: number;
  /**
   * Max size of the labels of all series together: their number alone does not bound the memory.
   */
  readonly maxLabelBytes?: number;
}

const shownReasons = 5;
const stampedNames = ['device_id', 'edge_id'] as const;
/** Slot of a refused series. */
export const refused = -1;

/**
 * Sink of the wire format readers: finds or creates series, collects samples, counts what was
 * refused and why.
 */
export class Intake {
  readonly batch = new Batch();
  /** Exemplars of series in the head, by slot. */
  readonly exemplars: (readonly [slot: number, exemplar: Exemplar])[] = [];
  readonly #head: Head;
  readonly #limits: IntakeLimits;
  readonly #scratch = new Scratch(512);
  readonly #reasons = new Map<string, { readonly shown: string; times: number }>();
  readonly #added: number[] = [];
  #stamp: Stamp = {};
  #salt = 0;
  #number = 0;
  #latest = 0;
  #problem = '';
  accepted = 0;
  rejected = 0;

  constructor(head: Head, limits: IntakeLimits) {
    this.#head = head;
    this.#limits = limits;
  }

  begin(stamp: Stamp, now: number): this {
    this.batch.clear();
    this.exemplars.length = 0;
    this.#added.length = 0;
    this.#reasons.clear();
    this.#stamp = stamp;
    this.#salt = this.#head.stampSalt(stamp);
    this.#number = this.#head.nextBatchNumber();
    this.#latest = now + this.#limits.aheadMs;
    this.#head.latest = this.#latest;
    this.accepted = 0;
    this.rejected = 0;
    return this;
  }

  /** The series of labels as remote write sends them. */
  seriesOfRaw(bytes: Uint8Array, from: number, to: number): number {
    const known = this.#head.find(bytes, from, to, this.#salt);
    if (known !== -1) {
      return this.#touched(known);
    }
    const pairs = readRawLabels(bytes, from, to);
    if (pairs === undefined) {
      return this.#refuse('labels that are no labels');
    }
    const slot = this.seriesOf(pairs);
    if (slot !== refused) {
      this.#head.alias(bytes, from, to, this.#salt, slot);
    }
    return slot;
  }

  /** The series that a piece of text named before, in a format that has its own way to write labels; -1 when it is news. */
  seriesOfText(bytes: Uint8Array, from: number, to: number, format: number): number {
    const known = this.#head.find(bytes, from, to, this.#salt + format);
    return known === -1 ? -1 : this.#touched(known);
  }

  remember(bytes: Uint8Array, from: number, to: number, format: number, slot: number): void {
    this.#head.alias(bytes, from, to, this.#salt + format, slot);
  }

  /** Returns the series of label pairs in any order; the stamp overrides what the sender claims. */
  seriesOf(pairs: readonly (readonly [string, string])[]): number {
    const labels = this.#stamped(pairs);
    const problem = labelProblem(labels);
    if (problem !== undefined) {
      return this.#refuse(problem);
    }
    const known = this.#head.index.find(labels);
    if (known !== -1) {
      return this.#touched(known);
    }
    if (this.#head.index.live >= this.#limits.maxSeries) {
      return this.#refuse(
        `the limit of ${this.#limits.maxSeries} series is reached; new series are refused, existing ones are not affected`,
      );
    }
    const { maxLabelBytes = Infinity } = this.#limits;
    if (this.#head.labelBytes >= maxLabelBytes) {
      return this.#refuse(
        `the labels of all series take ${maxLabelBytes} bytes, which is the limit; new series are refused, existing ones are not affected`,
      );
    }
    return this.#touched(this.#head.add(labels));
  }

  /** A sample of a series that was found; of a refused one it only counts. */
  sample(slot: number, time: number, value: number, stale: boolean): void {
    this.batch.reserve();
    this.batch.times[this.batch.count] = time;
    this.batch.values[this.batch.count] = value;
    this.staged(slot, stale);
  }

  /** Adds a sample whose time and value are at the end of the batch already. */
  staged(slot: number, stale: boolean): void {
    const { batch } = this;
    const head = this.#head;
    if (slot === refused) {
      this.reject(this.#problem);
      return;
    }
    const time = batch.times[batch.count]!;
    if (time > this.#latest || !(time > -8.64e15)) {
      this.reject('a sample is too far in the future', slot);
      return;
    }
    const verdict =
      time > head.samples.lastTime(slot)
        ? 'kept'
        : head.verdict(slot, time, batch.values[batch.count]!, stale);
    if (verdict === 'kept') {
      batch.add(slot, head.ref(slot), stale);
      this.accepted++;
    } else if (verdict === 'repeated') {
      this.accepted++;
    } else {
      this.reject(reasonOf(verdict), slot);
    }
  }

  /** Adds a sample that states an increment. */
  delta(slot: number, time: number, added: number): void {
    const { samples, deltas } = this.#head;
    if (slot === refused || !(time <= this.#latest)) {
      return this.sample(slot, time, added, false);
    }
    const ref = this.#head.ref(slot);
    const sum = deltas.add(ref, time, added, () => ({
      sum: samples.empty(slot) || samples.ended(slot) ? 0 : samples.lastValue(slot),
      time: samples.empty(slot) ? -Infinity : samples.lastTime(slot),
    }));
    if (sum === undefined) {
      return this.reject('a delta that was added before, or is older than the last one', slot);
    }
    this.#added.push(ref);
    this.sample(slot, time, sum, false);
  }

  /** Undoes the batch, of which nothing is on disk. */
  failed(): void {
    this.#added.forEach((ref) => this.#head.deltas.forget(ref));
  }

  exemplar(slot: number, exemplar: Exemplar): void {
    if (slot !== refused) {
      this.exemplars.push([slot, exemplar]);
    }
  }

  /** A staleness marker for a series of the head. */
  mark(slot: number, time: number): void {
    this.sample(this.#touched(slot), time, 0, true);
  }

  /** Puts what the log holds by now into the head. Another push may have come first: the order is judged again. */
  apply(): void {
    const { batch } = this;
    const head = this.#head;
    batch.defined.forEach((slot) => head.settled(slot));
    const { slots, times, values, stale } = batch;
    for (let i = 0; i < batch.count; i++) {
      const verdict = head.append(slots[i]!, times[i]!, values[i]!, stale[i] === 1);
      if (verdict !== 'kept' && verdict !== 'repeated') {
        this.accepted--;
        this.reject(reasonOf(verdict), slots[i]);
      }
    }
  }

  /** Counts a sample, or anything else that was sent, as refused for good. */
  reject(reason: string, slot = refused): void {
    this.rejected++;
    const known = this.#reasons.get(reason);
    if (known !== undefined) {
      known.times++;
    } else if (this.#reasons.size < shownReasons) {
      this.#reasons.set(reason, {
        shown:
          slot === refused ? reason : `${reason}: ${seriesText(this.#head.index.labels(slot))}`,
        times: 1,
      });
    }
  }

  answer(): PushAnswer {
    return {
      accepted: this.accepted,
      rejected: this.rejected,
      reasons: [...this.#reasons.values()].map(({ shown, times }) =>
        times > 1 ? `${shown} (${times} times)` : shown,
      ),
    };
  }

  #refuse(problem: string): number {
    this.#problem = problem;
    return refused;
  }

  /** Marks a series as used by this push; it is logged first unless it certainly has been. */
  #touched(slot: number): number {
    if (this.#head.use(slot, this.#number)) {
      const raw = this.#scratch.reset();
      writeRawLabels(raw, this.#head.index.labels(slot));
      this.batch.define(slot, this.#head.ref(slot), raw.bytes, 0, raw.at);
    }
    return slot;
  }

  #stamped(pairs: readonly (readonly [string, string])[]): Labels {
    const stamp = this.#stamp;
    const fixed = stampedNames.filter((name) => stamp[name] !== undefined);
    const kept = pairs.filter(
      ([name, value]) =>
        (value !== '' || name === '') && !fixed.some((stampedName) => stampedName === name),
    );
    for (const name of fixed) {
      if (stamp[name] !== '') {
        kept.push([name, stamp[name]!]);
      }
    }
    return kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).flat();
  }
}

function reasonOf(verdict: Verdict): string {
  return verdict === 'too old' ? 'out of order sample' : 'duplicate sample for timestamp';
}
