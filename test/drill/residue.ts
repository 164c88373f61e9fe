import { setTimeout as pause } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { fileURLToPath } from 'node:url';

import { censusGrowth } from '../kit/census.ts';
import { startTestHost, type TestHost } from '../kit/index.ts';

export const everyFixture = fileURLToPath(new URL('../fixtures/plugins/every', import.meta.url));

export interface Residue {
  readonly ok: boolean;
  readonly cycles: number;
  /** Activations that threw or hung on purpose. */
  readonly refused: number;
  readonly growth: readonly string[];
  readonly heapBytesPerCycle: number;
  readonly collectedPercent: number;
}

/**
 * Loads, uses and unloads a plugin that uses every method of ctx, again and again, and counts what stays. The warm-up is
 * long because V8 keeps compiling for some hundred cycles, and its code counts as heap.
 */
export async function run({
  cycles = 1_000,
  warmUp = 500,
}: { cycles?: number; warmUp?: number } = {}): Promise<Residue> {
  // On Node 22 and later compiled text stays in a cache until memory is short; that is no leak, but looks like one.
  v8.setFlagsFromString('--no-compilation-cache');
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const undo: (() => unknown)[] = [];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    { plugins: [everyFixture], environment: { SVC_LOG_LEVEL: 'error' }, watch: true },
  );
  let collected = 0;
  const graveyard = new FinalizationRegistry(() => (collected += 1));
  let buried = 0;
  let refused = 0;
  const cycle = async (number: number): Promise<void> => {
    await house.host.enable('every');
    const generation = house.registry.current.generations.get('every');
    if (generation) {
      graveyard.register(generation, undefined);
      buried += 1;
      await use(house, number % 17 === 0);
    } else {
      refused += 1;
    }
    await house.host.disable('every');
    await house.settled();
  };

  await house.host.disable('every');
  await house.settled();
  for (let number = 1; number <= warmUp; number++) {
    await cycle(number);
  }
  await quiet(collect);
  const before = house.census();
  const heapBefore = process.memoryUsage().heapUsed;
  [buried, collected, refused] = [0, 0, 0];
  for (let number = 1; number <= cycles; number++) {
    await cycle(number);
  }
  await quiet(collect);
  const growth = censusGrowth(before, house.census());
  const heapBytesPerCycle = Math.round((process.memoryUsage().heapUsed - heapBefore) / cycles);
  const collectedPercent = Math.round((collected / buried) * 1000) / 10;
  for (const step of undo) {
    await step();
  }
  return {
    ok: growth.length === 0 && heapBytesPerCycle < 2_048 && collectedPercent > 99,
    cycles,
    refused,
    growth,
    heapBytesPerCycle,
    collectedPercent,
  };
}

/** One request, and now and then a stream that is still open when the plugin goes. */
async function use(house: TestHost, withStream: boolean): Promise<void> {
  const answer = await house.fetch('/api/v1/every', { headers: { connection: 'close' } });
  if (answer.status !== 200) {
    throw new Error(`the plugin answered ${answer.status}: ${await answer.text()}`);
  }
  await answer.json();
  if (withStream) {
    const stream = await house.fetch('/api/v1/every/stream', { headers: { connection: 'close' } });
    const reader = stream.body!.getReader();
    await reader.read();
    void reader.read().then(
      () => reader.cancel(),
      () => undefined,
    );
  }
}

/** Lets closed connections and finalizers finish. */
async function quiet(collect: () => void): Promise<void> {
  // What the drill's own fetches left in the timeline of the process.
  performance.clearResourceTimings();
  for (let round = 0; round < 6; round++) {
    await pause(100);
    collect();
  }
}
