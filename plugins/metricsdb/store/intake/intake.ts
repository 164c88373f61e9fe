import type { PushAnswer, Stamp } from 'svc/contracts/metricsdb';
import { type Labels } from 'svc/query';

import { Scratch } from '../columns/scratch.ts';
import { type Verdict } from '../head/head-samples.ts';
import { type Head } from '../head/head.ts';
import { nobody } from '../head/series-owners.ts';
import { Batch } from './batch.ts';
import { labelProblem, seriesText } from './label-rules.ts';
import { ownerRecord } from './owner-record.ts';
import { readRawLabels, writeRawLabels } from './raw-labels.ts';
import { type SeriesLimits, seriesRefusal } from './series-bounds.ts';

/** One observation behind a sample, such as the trace in which it was made. */
export interface Exemplar {
  readonly labels: Labels;
  /** Milliseconds. */
  readonly time: number;
  readonly value: number;
}

export interface IntakeLimits extends SeriesLimits {
  /** Milliseconds that a sample may be ahead of the clock. */
  readonly aheadMs: number;
}

const shownReasons = 5;
const stampedNames = ['device_id', 'edge_id'] as const;
/** Slot of a refused series. */
export const refused = -1;
/** Slot of a series that is not in the head yet: its first accepted sample puts it there. */
const unborn = -2;

/** Series that is not in the head yet, or came there during this push. */
interface Newcomer {
  readonly labels: Labels;
  slot: number;
  /** How its sender writes it. */
  spelling: { bytes: Uint8Array; from: number; to: number; salt: number } | undefined;
}

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
  readonly #begun: number[] = [];
  #newcomer: Newcomer = { labels: [], slot: refused, spelling: undefined };
  #stamp: Stamp = {};
  #owner = nobody;
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

  begin(stamp: Stamp, now: number, sender = ''): this {
    this.batch.clear();
    this.exemplars.length = 0;
    this.#added.length = 0;
    this.#begun.length = 0;
    this.#owner = this.#head.owners.number(sender);
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
    this.#spell(slot, bytes, from, to, this.#salt);
    return slot;
  }

  /** The series that a piece of text named before, in a format that has its own way to write labels; -1 when it is news. */
  seriesOfText(bytes: Uint8Array, from: number, to: number, format: number): number {
    const known = this.#head.find(bytes, from, to, this.#salt + format);
    return known === -1 ? -1 : this.#touched(known);
  }

  remember(bytes: Uint8Array, from: number, to: number, format: number, slot: number): void {
    this.#spell(slot, bytes, from, to, this.#salt + format);
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
    const refusal = seriesRefusal(this.#head, this.#owner, labels, this.#limits);
    if (refusal !== undefined) {
      this.#head.refusing = true;
      return this.#refuse(refusal);
    }
    this.#newcomer = { labels, slot: unborn, spelling: undefined };
    return unborn;
  }

  /** A sample of a series that was found; of a refused one it only counts. */
  sample(slot: number, time: number, value: number, stale: boolean): void {
    this.batch.reserve();
    this.batch.times[this.batch.count] = time;
    this.batch.values[this.batch.count] = value;
    this.staged(slot, stale);
  }

  /** Adds a sample whose time and value are at the end of the batch already. */
  staged(asked: number, stale: boolean): void {
    const { batch } = this;
    const head = this.#head;
    if (asked === refused) {
      this.reject(this.#problem);
      return;
    }
    const time = batch.times[batch.count]!;
    if (time > this.#latest || !(time > -8.64e15)) {
      this.reject('a sample is too far in the future', asked);
      return;
    }
    const slot = asked === unborn ? this.#born() : asked;
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

  /** The log record of who sent the series that this push began; undefined if it began none. */
  owners(): Uint8Array | undefined {
    const head = this.#head;
    return this.#begun.length === 0 || this.#owner === nobody
      ? undefined
      : ownerRecord(
          head.owners.sender(this.#owner),
          this.#begun.map((slot) => head.ref(slot)),
        );
  }

  /** Adds a sample that states an increment. */
  delta(asked: number, time: number, added: number): void {
    const { samples, deltas } = this.#head;
    if (asked === refused || !(time <= this.#latest && time > -8.64e15)) {
      return this.sample(asked, time, added, false);
    }
    const slot = asked === unborn ? this.#born() : asked;
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
    this.#head.unstored(this.#begun, this.#number);
    this.#added.forEach((ref) => this.#head.deltas.forget(ref));
  }

  exemplar(asked: number, exemplar: Exemplar): void {
    const slot = asked === unborn ? this.#newcomer.slot : asked;
    if (slot >= 0) {
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
          slot === refused
            ? reason
            : `${reason}: ${seriesText(slot === unborn ? this.#newcomer.labels : this.#head.index.labels(slot))}`,
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

  /** Lets a sender's way to write the labels lead to a series, once it is in the head. */
  #spell(slot: number, bytes: Uint8Array, from: number, to: number, salt: number): void {
    if (slot === unborn) {
      this.#newcomer.spelling = { bytes, from, to, salt };
    } else if (slot !== refused) {
      this.#head.alias(bytes, from, to, salt, slot);
    }
  }

  /** Puts the newcomer into the head, unless that has been done, and returns its slot. */
  #born(): number {
    const newcomer = this.#newcomer;
    if (newcomer.slot === unborn) {
      newcomer.slot = this.#head.add(newcomer.labels, this.#owner);
      this.#begun.push(newcomer.slot);
      this.#touched(newcomer.slot);
      if (newcomer.spelling !== undefined) {
        const { bytes, from, to, salt } = newcomer.spelling;
        this.#head.alias(bytes, from, to, salt, newcomer.slot);
      }
    }
    return newcomer.slot;
  }

  /** Marks a series as used by this push; it is logged first unless it certainly has been. */
  #touched(slot: number): number {
    if (this.#head.use(slot, this.#number, this.#owner)) {
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
