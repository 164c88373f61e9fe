import { buildTries } from './pack-escape-build.ts';
import { Ground, type Try } from './pack-escape-ground.ts';
import { loadTries } from './pack-escape-load.ts';
import { runTries } from './pack-escape-run.ts';

export interface PackEscape {
  readonly ok: boolean;
  readonly attempts: number;
  readonly at_build: number;
  readonly at_load: number;
  readonly at_run: number;
  readonly escapes: number;
  readonly seconds: number;
  /** The escapes, and what came out. */
  readonly found: string;
}

/** Packs that try to get out of their build, of their manifest, and of their process. */
export async function run({
  stages = 'build,load,run',
}: { stages?: string } = {}): Promise<PackEscape> {
  const began = performance.now();
  const ground = new Ground();
  await ground.open();
  const found: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  const counts = { build: 0, load: 0, run: 0 };
  try {
    const tries: Try[] = [];
    if (stages.includes('build')) {
      tries.push(...buildTries(ground));
    }
    for (const [stage, open] of [
      ['load', loadTries],
      ['run', runTries],
    ] as const) {
      if (stages.includes(stage)) {
        const opened = await open(ground);
        tries.push(...opened.tries);
        ends.push(opened.end);
      }
    }
    for (const { stage, name, attempt } of tries) {
      counts[stage] += 1;
      const escape = ground.escape(await attempt());
      if (escape !== undefined) {
        found.push(`${stage} · ${name}: ${escape}`);
      }
    }
  } finally {
    await Promise.all(ends.map((end) => end()));
    await ground.close();
  }
  const attempts = counts.build + counts.load + counts.run;
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  return {
    ok: attempts > 0 && found.length === 0,
    attempts,
    at_build: counts.build,
    at_load: counts.load,
    at_run: counts.run,
    escapes: found.length,
    seconds,
    found: found.join('\n'),
  };
}
