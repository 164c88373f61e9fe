import { appendFileSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { openMill } from '../plugins/lib/jobs/mill.ts';
import { openIn } from '../storage/folder.ts';
import { laneOf } from './jobs-model.ts';

/**
 * Adds jobs, reports when they are on disk, and runs whatever waits; with `drain` until nothing is
 * left.
 */
const [folder, first, count, mode] = process.argv.slice(2) as [string, string, string, string];
const storage = await openIn(folder);
const mill = await openMill(storage, { process: `${process.pid}-${Date.now()}` });

mill.jobs.queue<number>('grind', {
  atOnce: 64,
  tries: 1_000,
  work: async ({ payload }) => ({
    write: (tx) =>
      tx
        .insertInto('mill_flour')
        .values({ job: String(payload), note: laneOf(payload) })
        .execute(),
  }),
});
mill.jobs.queue<number>('ring', {
  delivery: 'once',
  atOnce: 16,
  // What no transaction takes back.
  work: async ({ payload }) => appendFileSync(`${folder}/rings`, `${payload}\n`),
});
mill.start();

const numbers = Array.from({ length: Number(count) }, (_, at) => Number(first) + at);
const isRing = (number: number): boolean => number % 10 === 0;
await mill.tables.write(async (tx) => {
  const grind = numbers.filter((number) => !isRing(number));
  await mill.jobs.add(
    tx,
    'grind',
    grind.map((payload) => ({ payload, lane: laneOf(payload) })),
  );
  await mill.jobs.add(
    tx,
    'ring',
    numbers.filter(isRing).map((payload) => ({ payload })),
  );
});
writeSync(1, 'added\n');

const isOpen = async (): Promise<boolean> =>
  (await mill.jobs.hasOpen(mill.tables.read, 'grind')) ||
  (await mill.jobs.hasOpen(mill.tables.read, 'ring'));
while (mode !== 'drain' || (await isOpen())) {
  await pause(200);
}
await mill.leave();
await storage.close();
