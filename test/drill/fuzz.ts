import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Outcome, Row } from '../exercise.ts';
import { programOf } from '../program-of.ts';
import type { Find, FuzzOrder, FuzzReport } from './fuzz-child.ts';

const lookMs = 500;
/** Time without a step after which one counts as hanging; a busy machine makes all of them slow. */
const hangMs = 15_000;
const heapMb = 384;
const maxShown = 20;

/**
 * Feeds every parser of what comes from outside with mutated texts and bytes: each answers or says what is wrong, within
 * bounded time and memory, and what has a writer comes back as it was. The same seed gives the same inputs.
 */
export async function run({
  seconds = 60,
  seed = 1,
  only = '',
  most = 1_000_000,
}: {
  readonly seconds?: number;
  readonly seed?: number;
  readonly only?: string;
  readonly most?: number;
} = {}): Promise<Outcome> {
  const until = Date.now() + seconds * 1_000;
  const finds = new Map<string, Find & { times: number }>();
  const totals = new Map<string, { runs: number; slowestMs: number }>();
  const from: Record<string, number> = {};
  const found = (find: Find): void => {
    const key = `${find.parser} ${find.problem}`;
    const known = finds.get(key);
    finds.set(key, { ...(known ?? find), times: (known?.times ?? 0) + 1 });
  };
  while (Date.now() < until) {
    const { report, stuck } = await session({ seed, only: String(only), until, most, from }, found);
    for (const [name, runs] of Object.entries(report.done)) {
      const before = totals.get(name) ?? { runs: 0, slowestMs: 0 };
      totals.set(name, {
        runs: before.runs + runs,
        slowestMs: Math.max(before.slowestMs, report.slowestMs[name] ?? 0),
      });
      from[name] = (from[name] ?? 0) + runs;
    }
    if (stuck === undefined) {
      break;
    }
    found({ ...stuck, input: `seeded(${seed}, ${stuck.parser}, ${stuck.number})` });
    from[stuck.parser] = stuck.number + 1;
  }
  const parsers: Row[] = [...totals].map(([parser, { runs, slowestMs }]) => ({
    parser,
    runs,
    'slowest, ms': Math.round(slowestMs),
  }));
  const shown: Row[] = [...finds.values()]
    .slice(0, maxShown)
    .map(({ parser, number, times, problem, input }) => ({
      parser,
      number,
      times,
      problem,
      input,
    }));
  return {
    ok: finds.size === 0 && parsers.length > 0,
    runs: [...totals.values()].reduce((sum, { runs }) => sum + runs, 0),
    finds: finds.size,
    parsers,
    found: shown,
  };
}

interface Ended {
  readonly report: FuzzReport;
  /** What hung, or took more memory than there is. */
  readonly stuck?: Omit<Find, 'input'>;
}

/** One process, until it is done or does not come back. */
async function session(
  order: Omit<FuzzOrder, 'place'>,
  found: (find: Find) => void,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));
  const place = join(folder, 'place');
  writeFileSync(place, Buffer.alloc(16));
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMb}`,
      ...programOf(fileURLToPath(new URL('fuzz-child.ts', import.meta.url))),
      JSON.stringify({ ...order, place } satisfies FuzzOrder),
    ],
    { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] },
  );
  let names: readonly string[] = [];
  let [last, movedAt] = ['', Date.now()];
  const looking = setInterval(() => {
    const now = readFileSync(place, 'latin1');
    movedAt = now === last ? movedAt : Date.now();
    last = now;
    // Until it has the names, it is starting.
    if (names.length > 0 && Date.now() - movedAt > hangMs) {
      child.kill('SIGKILL');
    }
  }, lookMs);
  let report: FuzzReport = { done: {}, slowestMs: {} };
  let output = '';
  child.stderr!.on('data', (piece) => (output = (output + String(piece)).slice(-4_000)));
  child.on('message', (message: FuzzReport | Find | readonly string[]) => {
    if (Array.isArray(message)) {
      [names, movedAt] = [message as readonly string[], Date.now()];
    } else if ('done' in message) {
      report = message;
    } else {
      found(message as Find);
    }
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearInterval(looking);
  const at = new Float64Array(Uint8Array.from(readFileSync(place)).buffer);
  rmSync(folder, { recursive: true, force: true });
  const [parser, number] = [names[at[0]!], at[1]!];
  if (code === 0) {
    return { report };
  }
  if (parser === undefined) {
    throw new Error(output);
  }
  const problem =
    signal === 'SIGKILL'
      ? `took longer than ${hangMs} ms`
      : /heap out of memory/.test(output)
        ? `took more than ${heapMb} MB`
        : `ended the process: ${output.slice(-300)}`;
  return { report, stuck: { parser, number, problem } };
}
