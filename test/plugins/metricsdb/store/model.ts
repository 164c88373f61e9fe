import assert from 'node:assert/strict';

import type { MetricsStore } from '../../../../plugins/metricsdb/store/store.ts';
import { hour, matchers, newestOf, noon, pointsOf, type Point } from './house.ts';

/** Whole numbers from 0 to below `limit`, the same ones for the same seed. */
export function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * limit);
  };
}

/** Expected content of a store: samples of each series by time, the first one of a time. */
export class Model {
  readonly series = new Map<string, Map<number, number | 'stale'>>();

  add(host: string, [time, value]: Point): void {
    const samples = this.series.get(host) ?? new Map<number, number | 'stale'>();
    this.series.set(host, samples);
    if (!samples.has(time)) {
      samples.set(time, value);
    }
  }

  points(host: string, mint = -Infinity, maxt = Infinity): Point[] {
    return [...(this.series.get(host) ?? [])]
      .filter(([time]) => time > mint && time <= maxt)
      .sort(([a], [b]) => a - b);
  }

  async compare(store: MetricsStore, about: string): Promise<void> {
    const latest = Math.max(...[...this.series.values()].flatMap((samples) => [...samples.keys()]));
    const windows = [
      [-8e15, 8e15],
      [noon - 7 * hour, noon - 3 * hour],
      [latest - hour / 4, latest],
      [latest - hour / 2, latest - hour / 12],
    ] as const;
    for (const [mint, maxt] of windows) {
      const expected = [...this.series.keys()]
        .map((host) => [`__name__=m,host=${host}`, this.points(host, mint, maxt)] as const)
        .filter(([, points]) => points.length > 0);
      expected.sort(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(
        await pointsOf(store, matchers('m'), mint, maxt),
        Object.fromEntries(expected),
        about,
      );
      const newest = expected.map(([series, points]) => [series, points.at(-1)!] as const);
      assert.deepEqual(
        await newestOf(store, matchers('m'), mint, maxt),
        Object.fromEntries(newest),
        about,
      );
    }
  }
}

/**
 * Returns the value of a sample, which follows from its series and time, so that it can be checked
 * without being recorded.
 */
export const valueAt = (host: number, time: number): number => ((time / 1_000) % 977) + host / 4;
