import { setTimeout as pause } from 'node:timers/promises';

import type { Page } from 'playwright-core';

import type { Row } from '../exercise.ts';
import type { WholeHouse } from '../whole-house.ts';
import { push, pushLines, sampleOf } from './console-fleet.ts';

const chart = { lines: 50, points: 1_000, stepMs: 22_000 };
/** Long enough for two new pictures of it. */
const watchedMs = 45_000;

/** Counts pictures, and keeps the longest wait for one. */
const countFrames = `(() => {
  globalThis.frames = { count: 0, longest: 0, over50: 0 };
  let last = performance.now();
  const one = (now) => {
    frames.count += 1;
    frames.longest = Math.max(frames.longest, now - last);
    frames.over50 += now - last > 50 ? 1 : 0;
    last = now;
    requestAnimationFrame(one);
  };
  requestAnimationFrame(one);
})()`;

/** Pictures a second of fifty lines of a thousand points, while new samples come and somebody moves over them. */
export async function drawLive(page: Page, house: WholeHouse): Promise<Row> {
  await pushLines(house, chart);
  const drawn = page.waitForResponse(/query_range/);
  await page.goto(`${house.url}/ui/explore?q=${encodeURIComponent('bench_line')}&at=6h`);
  const plot = page.locator('.plot canvas').first();
  await plot.waitFor();
  const { x, y, width, height } = (await plot.boundingBox())!;
  const { result } = (await (await drawn).json()) as { result: { values: unknown[] }[] };
  let isOver = false;
  const pushing = (async () => {
    for (; !isOver; await pause(1_000)) {
      await push(
        house,
        Array.from({ length: chart.lines }, (_, line) => sampleOf(line, Date.now())),
      );
    }
  })();
  const move = async (ms: number): Promise<number> => {
    await page.evaluate(countFrames);
    const began = performance.now();
    for (let at = 0; performance.now() - began < ms; at += 1) {
      await page.mouse.move(x + 70 + (((at * 13) % 1000) / 1000) * (width - 90), y + height / 2);
    }
    return performance.now() - began;
  };
  const ms = await move(watchedMs);
  const { count, longest, over50 } = await page.evaluate<{
    count: number;
    longest: number;
    over50: number;
  }>('frames');
  isOver = true;
  await pushing;
  return {
    lines: result.length,
    points: result[0]?.values.length ?? 0,
    pictures_per_second: Math.round((count / ms) * 10_000) / 10,
    longest_ms: Math.round(longest),
    over_50_ms: over50,
  };
}
