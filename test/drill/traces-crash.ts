import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { budget } from 'svc/query';

import { openTracesStore } from '../../plugins/traces/store/store.ts';
import { metrics, parse } from '../../plugins/traces/traceql/index.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { spanId, startMs, traceId } from '../plugins/traces/bodies.ts';
import { quiet } from '../plugins/traces/store-house.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./traces-crash-child.ts', import.meta.url));

/**
 * Kills a store under pushes at a random moment, again and again: what was acknowledged is there,
 * once; nothing is damaged.
 */
export async function run({ rounds = 40 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-traces-crash-'));
  /** Parts of each trace that were acknowledged. */
  const told = new Map<number, number>();
  const found = { spans: 0, blocks: 0, head: 0 };
  let next = 1;
  try {
    for (const round of counted(rounds, 'kills')) {
      next = await pushUntilKilled(folder, next, 20 + Math.random() * 400, told);
      const store = await openTracesStore({ folder, log: quiet, now: () => startMs });
      try {
        const stats = store.stats();
        assert.deepEqual(stats.damage, [], `round ${round}`);
        for (const [number, parts] of told) {
          const trace = await store.trace(Buffer.from(traceId(number), 'hex'));
          const ids = new Set(trace?.spans.map(({ id }) => id));
          for (let part = 1; part <= parts; part++) {
            assert.ok(
              ids.has(spanId(part)),
              `round ${round}: part ${part} of trace ${number} was acknowledged and is gone`,
            );
          }
          assert.equal(
            ids.size,
            trace!.spans.length,
            `round ${round}: trace ${number} has a span twice`,
          );
        }
        await onceEach(store, next, round);
        Object.assign(found, {
          spans: stats.blockSpans + stats.headSpans,
          blocks: stats.blocks,
          head: stats.headSpans,
        });
      } finally {
        await store.close();
      }
    }
    return {
      ok: true,
      kills: rounds,
      'acknowledged spans': [...told.values()].reduce((sum, parts) => sum + parts, 0),
      ...found,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** No span lies in a block and in the log, too: counting them one by one comes to as many as there are. */
async function onceEach(
  store: Awaited<ReturnType<typeof openTracesStore>>,
  next: number,
  round: number,
): Promise<void> {
  const window = { start: startMs + next, end: startMs + next, step: next + 1000 };
  const { series } = await metrics(
    store.source(),
    parse('{ } | count_over_time() by (span:id)'),
    window,
    budget({ timeoutMs: 60_000, now: () => performance.now() }),
  );
  const counted = series.reduce((sum, { values }) => sum + values[0]!, 0);
  const { headSpans, blockSpans } = store.stats();
  assert.equal(counted, headSpans + blockSpans, `round ${round}`);
  assert.ok(
    counted <= 2 * next,
    `round ${round}: ${counted} spans of at most ${2 * next} that were sent`,
  );
}

async function pushUntilKilled(
  folder: string,
  from: number,
  afterMs: number,
  told: Map<number, number>,
): Promise<number> {
  const process_ = spawn(process.execPath, [...programOf(child), folder, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: process_.stdout });
  let next = from;
  let first: (() => void) | undefined;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    process_.once('exit', (code) => reject(new Error(`the store ended by itself (${code})`)));
  });
  lines.on('line', (line) => {
    const [number, part] = line.split(' ').map(Number);
    told.set(number!, part!);
    // Those in flight were never acknowledged; their numbers are not used again.
    next = Math.max(next, number! + 20);
    first!();
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  process_.removeAllListeners('exit');
  process_.kill('SIGKILL');
  await read;
  return next;
}
