import assert from 'node:assert/strict';
import { test } from 'node:test';

import { budget } from 'svc/query';

import { range } from '../../../../plugins/metricsdb/promql/engine.ts';
import type { SeriesSource } from '../../../../plugins/metricsdb/promql/vector/source.ts';
import type { MetricsStore } from '../../../../plugins/metricsdb/store/store.ts';
import { hour, noon, type StoreHouse, storeHouse } from './house.ts';
import { dice } from './model.ts';

const day = 24 * hour;
const minute = 60_000;
const first = Math.floor(noon / day) * day - 3 * day;

/** Questions about whole windows; the last few cannot be answered from thinned samples, or only in part. */
const questions = [
  'm',
  'm_total',
  'm @ end()',
  'timestamp(m)',
  'absent(m{host="none"})',
  'm offset 10m',
  'first_over_time(m[10m])',
  'last_over_time(m_total[1h])',
  'min_over_time(m[5m])',
  'max_over_time(m[1h])',
  'count_over_time(m[1h])',
  'present_over_time(m[15m])',
  'ts_of_first_over_time(m[1h])',
  'ts_of_last_over_time(m[1h])',
  'delta(m[1h])',
  'rate(m_total[5m])',
  'rate(m_total[1h])',
  'increase(m_total[2h])',
  'rate(m[1h])',
  'avg_over_time(m[1h])',
  'changes(m[1h])',
  'm - m offset 1h',
  'rate(m_total[7m])',
  'm offset 1m',
] as const;

interface Asked {
  readonly series: unknown;
  readonly read: number;
}

async function ask(
  source: SeriesSource,
  query: string,
  step: number,
  start = first + hour,
  end = noon,
): Promise<Asked> {
  const cost = budget({ timeoutMs: 60_000, now: () => performance.now() });
  const { series } = await range(source, { query, start, end, step }, cost);
  return {
    series: series.map(({ labels, times, values }) => [labels.join(), [...times], [...values]]),
    read: cost.spent.samples,
  };
}

/** Wraps the store without hints of what could be omitted. */
const whole = (store: MetricsStore): SeriesSource => {
  const source = store.source();
  return {
    ...source,
    scan: (matchers, mint, maxt, { windows: _, ...hints }, cost, visit) =>
      source.scan!(matchers, mint, maxt, hints, cost, visit),
  };
};

async function compare({ store }: StoreHouse, about: string): Promise<void> {
  for (const query of questions) {
    for (const step of [5 * minute, hour, 7 * minute]) {
      const [brief, all] = [
        await ask(store.source(), query, step),
        await ask(whole(store), query, step),
      ];
      assert.deepEqual(brief.series, all.series, `${query} each ${step / minute} m, ${about}`);
    }
  }
}

/**
 * Writes days of samples of a counter that drops now and then and a random gauge, with gaps,
 * markers and NaN.
 */
async function live(house: StoreHouse, seed: number): Promise<void> {
  const roll = dice(seed);
  const counters = [0, 0, 0];
  for (let at = first; at < noon; at += 20 * minute) {
    house.now = at + 20 * minute;
    const rows = [];
    for (let host = 0; host < counters.length; host++) {
      for (let time = at + roll(1_000); time < at + 20 * minute; time += 30_000 + roll(2_000)) {
        if (roll(60) === 0) {
          time += roll(20 * minute);
        }
        counters[host] = roll(50) === 0 ? roll(5) : counters[host]! + roll(100) / 4;
        const stale = roll(40) === 0;
        const labels = { host: String(host) };
        rows.push({
          labels: { __name__: 'm_total', ...labels },
          time,
          value: roll(90) === 0 ? NaN : counters[host]!,
          stale,
        });
        rows.push({
          labels: { __name__: 'm', ...labels },
          time,
          value: roll(70) === 0 ? NaN : roll(1e6) / 1e3 - 500,
          stale,
        });
      }
    }
    // On the edge of a window, too.
    rows.push({ labels: { __name__: 'm', host: 'edge' }, time: at, value: at });
    await house.store.write(rows.sort((a, b) => a.time - b.time));
    if (roll(9) === 0) {
      await house.store.maintain();
    }
  }
  for (let i = 0; i < 12; i++) {
    await house.store.maintain();
  }
}

test('long questions read a part of the samples and answer what all of them would, bit by bit', async (t) => {
  const house = await storeHouse(t, { limits: { maxAgeMs: 90 * day } });
  await live(house, 5);
  assert.equal(house.store.stats().rollups, 6);
  await compare(house, 'each day thinned');
  for (const query of ['m_total', 'rate(m_total[1h])', 'max_over_time(m[1h])']) {
    const [brief, all] = [
      await ask(house.store.source(), query, hour),
      await ask(whole(house.store), query, hour),
    ];
    assert.ok(brief.read < all.read * 0.85, `${query} read ${brief.read} of ${all.read}`);
  }
  await house.restart();
  await compare(house, 'after a restart');
});

test('what comes in late for a thinned day counts at once, and leaves the other days thinned', async (t) => {
  const house = await storeHouse(t, { limits: { maxAgeMs: 90 * day } });
  await live(house, 6);
  const late = [0, 1, 2].map((i) => ({
    labels: { __name__: 'm', host: 'late' },
    time: first + 5 * hour + i * 777,
    value: 1e6 + i,
  }));
  assert.equal((await house.store.write(late)).accepted, 3);
  await compare(house, 'late samples in the head');
  for (let i = 0; i < 6; i++) {
    house.now += hour;
    await house.store.maintain();
  }
  await compare(house, 'late samples in the thinned day');
  const days = await Promise.all(
    [0, 1].map((at) =>
      ask(house.store.source(), 'm_total', hour, first + at * day + hour, first + (at + 1) * day),
    ),
  );
  const { read: all } = await ask(whole(house.store), 'm_total', hour, first + hour, first + day);
  // The late samples lie in a block of their day alone, so even that day is thinned anew.
  assert.ok(
    days.every(({ read }) => read < all * 0.85),
    `read ${days.map(({ read }) => read).join(' and ')} of ${all}`,
  );
});

test('thinned samples go with those they were made of', async (t) => {
  const house = await storeHouse(t, { limits: { maxAgeMs: 90 * day } });
  await live(house, 7);
  const { blocks } = house.store.stats();
  Object.assign(house.store.limits, { maxAgeMs: 1 });
  house.now += 2 * day;
  await house.store.write([{ labels: { __name__: 'newest' }, time: house.now, value: 1 }]);
  await house.store.maintain();
  assert.ok(house.store.stats().blocks < blocks - 5);
  await compare(house, 'only what is left');
});
