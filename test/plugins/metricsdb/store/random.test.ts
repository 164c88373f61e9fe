import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSvcError } from 'svc/sdk';

import { hour, noon, remoteWrite, storeHouse, type Point, type StoreHouse } from './house.ts';
import { dice, Model } from './model.ts';

/** Hours of scrapes with gaps, late and repeated samples, markers, series that come and go, and now and then a restart. */
async function live(t: Parameters<typeof storeHouse>[0], seed: number): Promise<void> {
  const roll = dice(seed);
  const house = await storeHouse(t, { limits: seed % 2 === 0 ? { headBytes: 1_000_000 } : {} });
  const model = new Model();
  const hosts = 3 + roll(90);
  const newest = new Map<number, number>();
  for (let at = noon - 9 * hour; at < noon; at += 30_000 + roll(600_000)) {
    house.now = at + 600_000;
    const sent = [];
    for (let host = 0; host < hosts; host++) {
      if (roll(4) === 0) {
        continue;
      }
      const points: Point[] = [];
      for (let i = 0; i < 1 + roll(3); i++) {
        const late = roll(6) === 0 ? -roll(600_000) : roll(20_000);
        const time = at + late;
        const value =
          roll(12) === 0
            ? ('stale' as const)
            : [roll(3), roll(1e6) / 100, Math.sqrt(roll(1e6)), 7][host % 4]!;
        const last = newest.get(host) ?? -Infinity;
        // Another value for a time that is taken is refused, or left out, depending on how long ago: not asked for here.
        if (time >= last - 600_000 && !model.series.get(String(host))?.has(time)) {
          points.push([time, value]);
          model.add(String(host), [time, value]);
          newest.set(host, Math.max(last, time));
        }
      }
      if (points.length > 0) {
        sent.push({
          labels: [
            ['__name__', 'm'],
            ['host', String(host)],
          ] as [string, string][],
          points,
        });
      }
    }
    await insist(house, remoteWrite(sent));
    if (roll(25) === 0) {
      await house.store.maintain();
    }
    if (roll(25) === 0) {
      await house.restart();
    }
    if (roll(40) === 0) {
      await model.compare(house.store, `seed ${seed}, at ${at}`);
    }
  }
  await house.store.maintain();
  await model.compare(house.store, `seed ${seed}, at the end`);
  await house.restart();
  await model.compare(house.store, `seed ${seed}, after the last restart`);
}

/** Pushes as a sender does: again, while it is told to wait. */
async function insist({ store }: StoreHouse, body: Uint8Array): Promise<void> {
  for (;;) {
    try {
      await store.push('remote-write', body, { encoding: 'snappy' });
      return;
    } catch (error) {
      assert.ok(isSvcError(error) && error.code === 'rate_limited', String(error));
      await store.maintain();
    }
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`whatever the order of samples, cuts, compactions and restarts, what was accepted is what is read (${seed})`, (t) =>
    live(t, seed));
}
