import type { Random } from 'svc/seeded';

import { type Labels, snappyLiterals, timeSeries } from './remote-write.ts';

export type { Labels } from './remote-write.ts';

/** Value at a step. */
export type Curve = (step: number) => number;

/** Target of a scrape: its labels, when in an interval it is asked, and when it does not answer. */
export interface Target {
  readonly labels: Labels;
  readonly phaseMs: number;
  readonly isUp: Curve;
  /** Starts of its process so far; counters begin anew with each. */
  readonly starts?: Curve;
}

interface Serie {
  readonly labels: Labels;
  readonly phaseMs: number;
  readonly values: Float64Array;
}

const samplesPerBody = 20_000;
const spread = 0.6;
export const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Samples of a world's targets, as a scraper sends them on. */
export class Samples {
  readonly series: Serie[] = [];
  readonly stepMs: number;
  readonly #steps: number;
  readonly #random: Random;

  constructor({
    steps,
    stepMs,
    random,
  }: {
    readonly steps: number;
    readonly stepMs: number;
    readonly random: Random;
  }) {
    this.#steps = steps;
    this.stepMs = stepMs;
    this.#random = random;
  }

  gauge({ labels: own, phaseMs, isUp }: Target, name: string, labels: Labels, at: Curve): void {
    const values = new Float64Array(this.#steps);
    for (let step = 0; step < this.#steps; step += 1) {
      values[step] = isUp(step) > 0 ? at(step) : Number.NaN;
    }
    this.series.push({ labels: { ...own, ...labels, __name__: name }, phaseMs, values });
  }

  /** Whole events, at so many a second. */
  counter(target: Target, name: string, labels: Labels, perSecond: Curve): void {
    this.#cumulative(target, name, labels, perSecond, true);
  }

  /** Counts something that is not whole, such as seconds of processor. */
  sum(target: Target, name: string, labels: Labels, perSecond: Curve): void {
    this.#cumulative(target, name, labels, perSecond, false);
  }

  /** `unit`: how many of the histogram's unit are a second. */
  histogram(
    target: Target,
    name: string,
    labels: Labels,
    {
      perSecond,
      mean,
      unit,
    }: { readonly perSecond: Curve; readonly mean: Curve; readonly unit: number },
  ): void {
    for (const bucket of secondsBuckets) {
      const le = String(bucket * unit);
      this.counter(
        target,
        `${name}_bucket`,
        { ...labels, le },
        (step) => perSecond(step) * below(bucket, mean(step)),
      );
    }
    this.counter(target, `${name}_bucket`, { ...labels, le: '+Inf' }, perSecond);
    this.counter(target, `${name}_count`, labels, perSecond);
    this.sum(target, `${name}_sum`, labels, (step) => perSecond(step) * mean(step) * unit);
  }

  /** Counts that begin with nothing and are what they are. */
  exact({ labels: own, phaseMs }: Target, name: string, labels: Labels, events: Curve): void {
    const values = new Float64Array(this.#steps);
    let total = 0;
    for (let step = 0; step < this.#steps; step += 1) {
      total += events(step);
      values[step] = total;
    }
    this.series.push({ labels: { ...own, ...labels, __name__: name }, phaseMs, values });
  }

  #cumulative(
    { labels: own, phaseMs, isUp, starts }: Target,
    name: string,
    labels: Labels,
    perSecond: Curve,
    isWhole: boolean,
  ): void {
    const values = new Float64Array(this.#steps);
    const seconds = this.stepMs / 1_000;
    // Processes have run for a while, unless they start.
    let total = perSecond(0) * seconds * Math.floor(50 + 4_000 * this.#random());
    for (let step = 0; step < this.#steps; step += 1) {
      const started = starts !== undefined && step > 0 && starts(step) !== starts(step - 1);
      const events = perSecond(step) * seconds;
      total = (started ? 0 : total) + (isWhole ? arrivals(this.#random, events) : events);
      values[step] = isUp(step) > 0 ? (isWhole ? Math.floor(total) : total) : Number.NaN;
    }
    this.series.push({ labels: { ...own, ...labels, __name__: name }, phaseMs, values });
  }

  /** Bodies of remote write; the last scrape is as long ago as its phase. */
  bodies(end: number): Uint8Array[] {
    const bodies: Uint8Array[] = [];
    let parts: Buffer[] = [];
    let count = 0;
    const close = (): void => {
      if (count > 0) {
        bodies.push(snappyLiterals(Buffer.concat(parts)));
        parts = [];
        count = 0;
      }
    };
    for (const { labels, phaseMs, values } of this.series) {
      parts.push(timeSeries(labels, values, { end: end - phaseMs, stepMs: this.stepMs }));
      count += values.length;
      if (count >= samplesPerBody) {
        close();
      }
    }
    close();
    return bodies;
  }
}

/** Draws the number that comes in a random stream of so many on average. */
function arrivals(random: Random, events: number): number {
  if (events <= 0) {
    return 0;
  }
  const normal = random() + random() + random() + random() - 2;
  return Math.max(0, events + normal * 1.7 * Math.sqrt(events));
}

/** Share of log-normal times with this mean that are below a bound. */
function below(bound: number, mean: number): number {
  const at = (Math.log(bound) - Math.log(Math.max(mean, 1e-5)) + (spread * spread) / 2) / spread;
  return normalBelow(at);
}

function normalBelow(at: number): number {
  const near = 1 / (1 + 0.231_641_9 * Math.abs(at));
  const tail =
    0.398_942_3 *
    Math.exp((-at * at) / 2) *
    near *
    (0.319_381_5 +
      near * (-0.356_563_8 + near * (1.781_478 + near * (-1.821_256 + near * 1.330_274))));
  return at > 0 ? 1 - tail : tail;
}

/** Quantile of the same times. */
export const quantile95 = (mean: number): number =>
  mean * Math.exp(1.645 * spread - (spread * spread) / 2);
