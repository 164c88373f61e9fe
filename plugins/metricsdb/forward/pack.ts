import { type Labels } from 'svc/query';
import { ProtoWriter, snappyEncode } from 'svc/store';

import { Head } from '../store/head/head.ts';
import { Intake, refused } from '../store/intake/intake.ts';
import { PushReader } from '../store/intake/push-reader.ts';
import type { Packed, PackInput } from '../thread/contract.ts';

export interface PackLimits {
  readonly maxPushBytes: number;
  readonly aheadMs: number;
}

/** Samples in one body: what receivers take without a complaint. */
const samplesPerBody = 10_000;
/** Max series whose packed names are cached for the next push. */
const mostSeries = 50_000;
/** Bits by which Prometheus marks the end of a series. */
const staleMarker = 0x7ff0_0000_0000_0002n;

/** Turns pushes of every format into bodies of remote write, stamped and checked as the embedded store would. */
export class Packer {
  readonly #now: () => number;
  #limits: PackLimits;
  #reader: PushReader;
  #head = newHead();

  constructor(limits: PackLimits, now: () => number) {
    this.#limits = limits;
    this.#reader = new PushReader(limits.maxPushBytes);
    this.#now = now;
  }

  settle(limits: PackLimits): void {
    this.#limits = limits;
    this.#reader = new PushReader(limits.maxPushBytes);
  }

  pack(input: PackInput): Packed {
    if (this.#head.index.live > mostSeries) {
      this.#head = newHead();
    }
    const head = this.#head;
    const intake = new Intake(head, { ...this.#limits, maxSeries: Infinity });
    const now = this.#now();
    if ('rows' in input) {
      intake.begin({}, now);
      for (const { labels, time, value, stale = false } of input.rows) {
        intake.sample(intake.seriesOf(Object.entries(labels)), Math.floor(time), value, stale);
      }
    } else {
      const { format, body, encoding, stamp = {} } = input;
      this.#reader.read(format, body, encoding, now, intake.begin(stamp, now), {
        note: () => undefined,
      });
    }
    return { ...intake.answer(), ...bodiesOf(intake, (slot) => head.index.labels(slot)) };
  }
}

const newHead = (): Head => new Head({ seed: 1, window: Infinity, maxSeries: mostSeries });

function bodiesOf(
  { batch }: Intake,
  labelsOf: (slot: number) => Labels,
): Pick<Packed, 'bodies' | 'samples'> {
  const bySeries = new Map<number, number[]>();
  for (let at = 0; at < batch.count; at++) {
    const slot = batch.slots[at]!;
    const known = bySeries.get(slot);
    if (slot === refused) {
      continue;
    }
    if (known === undefined) {
      bySeries.set(slot, [at]);
    } else {
      known.push(at);
    }
  }
  const bodies: Uint8Array[] = [];
  const samples: number[] = [];
  let request = new ProtoWriter(64 * 1024);
  let held = 0;
  const finish = (): void => {
    if (held > 0) {
      // A copy of its own size: it is sent to another thread.
      bodies.push(snappyEncode(request.finish()).slice());
      samples.push(held);
      request = new ProtoWriter(64 * 1024);
      held = 0;
    }
  };
  for (const [slot, positions] of bySeries) {
    positions.sort((a, b) => batch.times[a]! - batch.times[b]!);
    request.message(1, (series) => {
      const labels = labelsOf(slot);
      for (let i = 0; i < labels.length; i += 2) {
        series.message(1, (label) => label.string(1, labels[i]!).string(2, labels[i + 1]!));
      }
      for (const at of positions) {
        series.message(2, (sample) => {
          if (batch.stale[at] === 1) {
            sample.fixed64(1, staleMarker);
          } else {
            sample.double(1, batch.values[at]!);
          }
          sample.int64(2, batch.times[at]!);
        });
      }
    });
    held += positions.length;
    if (held >= samplesPerBody) {
      finish();
    }
  }
  finish();
  return { bodies, samples };
}
