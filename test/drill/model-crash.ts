import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3';
import { startTestHost } from 'svc/testing';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./model-crash-child.ts', import.meta.url));

/**
 * Kills svc in the middle of model calls, again and again: the usage it reports is what the
 * provider counted, to the token.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-model-crash-'));
  const fake = await FakeModel.start({
    rules: [
      { when: { last: '^slow' }, reply: { text: 'one two', misbehave: ['slow'] } },
      { reply: ({ messages }) => ({ text: `seen: ${String(messages[0]!.content)}` }) },
    ],
  });
  /** Possible cost of each call that a kill interrupted. */
  const assumed = new Map<string, number>();
  let ended = 0;
  try {
    for (const round of counted(rounds, 'kills')) {
      ended += await callUntilKilled(dataDir, fake.url, 5 + Math.random() * 200);
      const { used, left } = inFile(dataDir);
      assert.equal(
        used,
        expected(fake, assumed, new Set(left.map(({ id }) => id))),
        `round ${round}`,
      );
      left.forEach(({ id, tokens }) => assumed.set(id, tokens));
    }
    await (await startTestHost({ after() {} }, { plugins: ['model'], dataDir })).stop();
    const { used, estimated, left } = inFile(dataDir);
    assert.deepEqual(left, []);
    assert.equal(used, expected(fake, assumed, new Set()));
    assert.equal(
      estimated,
      [...assumed.values()].reduce((sum, tokens) => sum + tokens, 0),
    );
    const countedByProvider = (isCut: boolean): number =>
      fake.requests
        .filter(({ headers }) => assumed.has(String(headers['x-client-request-id'])) === isCut)
        .reduce((sum, { usage }) => sum + usage!.total_tokens, 0);
    assert.equal(used - estimated, countedByProvider(false));
    return {
      ok: true,
      kills: rounds,
      'answered calls': ended,
      'calls cut off': assumed.size,
      tokens: used,
      'of these reported, to the token': used - estimated,
      'counted by the provider for the same calls': countedByProvider(false),
      'for calls cut off, at most': estimated,
      'counted by the provider for these': countedByProvider(true),
    };
  } finally {
    await fake.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Returns what the provider counted for settled calls, plus the possible cost of the others, except
 * those still open.
 */
function expected(
  fake: FakeModel,
  assumed: ReadonlyMap<string, number>,
  open: ReadonlySet<string>,
): number {
  const counts = fake.requests.map(
    ({ headers, usage }) => [String(headers['x-client-request-id']), usage!.total_tokens] as const,
  );
  for (const [id, count] of counts) {
    assert.ok(
      (assumed.get(id) ?? count) >= count,
      `call ${id} was taken for ${assumed.get(id)} tokens, and the provider counted ${count}`,
    );
  }
  const settled = counts.filter(([id]) => !assumed.has(id) && !open.has(id));
  return [...settled, ...assumed].reduce((sum, [, tokens]) => sum + tokens, 0);
}

async function callUntilKilled(dataDir: string, url: string, afterMs: number): Promise<number> {
  const house = spawn(process.execPath, [...programOf(child), dataDir, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: house.stdout });
  let ended = 0;
  const begun = new Promise<void>((resolve, reject) => {
    house.once('exit', (code) => reject(new Error(`the house ended by itself (${code})`)));
    lines.on('line', () => {
      ended += 1;
      resolve();
    });
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  house.removeAllListeners('exit');
  house.kill('SIGKILL');
  await read;
  return ended;
}

function inFile(dataDir: string): {
  used: number;
  estimated: number;
  left: readonly { id: string; tokens: number }[];
} {
  const database = new Database(join(dataDir, 'svc.db'), { readonly: true });
  try {
    const sums =
      "select coalesce(sum(input_tokens + output_tokens), 0) as used, coalesce(sum(estimated_tokens), 0) as estimated from model_usage where scope = 'model'";
    const left = database
      .prepare('select id, input_tokens + output_tokens as tokens from model_reservations')
      .all();
    return {
      ...(database.prepare(sums).get() as { used: number; estimated: number }),
      left: left as { id: string; tokens: number }[],
    };
  } finally {
    database.close();
  }
}
