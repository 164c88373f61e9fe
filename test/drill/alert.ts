import type { Outcome } from '../exercise.ts';
import { walk } from '../plugins/alert/random.ts';

/** Compares the alert engine with its model over random operations; a failure names its seed. */
export async function run({
  operations = 100_000,
  seed = 1,
}: { readonly operations?: number; readonly seed?: number } = {}): Promise<Outcome> {
  const each = 5_000;
  const sums = { operations: 0, events: 0, notices: 0, restarts: 0, jumps: 0 };
  for (let at = 0; sums.operations < operations; at++) {
    const found = await walk(seed + at, Math.min(each, operations - sums.operations));
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) {
      sums[name] += found[name];
    }
  }
  return { ok: true, ...sums };
}
