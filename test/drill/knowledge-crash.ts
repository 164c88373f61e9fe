import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startTestHost } from 'svc/testing';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./knowledge-crash-child.ts', import.meta.url));

interface Written {
  readonly id: number;
  readonly mark: string;
}

/**
 * Kills svc while documents are written, uploaded and reindexed: each acknowledged one is there,
 * complete, and found.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-knowledge-crash-'));
  const written: Written[] = [];
  try {
    for (const _ of counted(rounds, 'kills')) {
      written.push(...(await writeUntilKilled(dataDir, 5 + Math.random() * 400)));
    }
    const { lost, torn, unfound, documents } = await examine(dataDir, written);
    const left = readdirSync(join(dataDir, 'plugins/knowledge/index')).filter((name) =>
      name.endsWith('.db'),
    );
    return {
      ok: lost === 0 && torn === 0 && unfound === 0 && left.length === 1,
      kills: rounds,
      acknowledged: written.length,
      documents,
      lost,
      torn,
      unfound,
      'index files': left.length,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function writeUntilKilled(dataDir: string, afterMs: number): Promise<Written[]> {
  const house = spawn(process.execPath, [...programOf(child), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: house.stdout });
  const written: Written[] = [];
  const begun = new Promise<void>((resolve, reject) => {
    house.once('exit', (code) => reject(new Error(`the house ended by itself (${code})`)));
    lines.on('line', (line) => {
      written.push(JSON.parse(line) as Written);
      resolve();
    });
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  house.removeAllListeners('exit');
  house.kill('SIGKILL');
  await read;
  return written;
}

/**
 * Checks after the last kill: what was acknowledged is there and complete; each document is found
 * by its beginning and its end.
 */
async function examine(
  dataDir: string,
  written: readonly Written[],
): Promise<{ lost: number; torn: number; unfound: number; documents: number }> {
  const house = await startTestHost(
    { after() {} },
    { plugins: ['knowledge', 'programs'], dataDir },
  );
  try {
    let index: { state: string; behind: number; documents: number };
    do {
      index = await house.json('/api/v1/knowledge/index');
    } while (index.state !== 'ready' || index.behind > 0);
    let [lost, torn, unfound] = [0, 0, 0];
    for (const { id, mark } of written) {
      const answer = await house.fetch(`/api/v1/knowledge/docs/${id}`);
      if (answer.status !== 200) {
        lost += 1;
        continue;
      }
      const { content } = (await answer.json()) as { content: string };
      torn += content.startsWith(`# ${mark}\n`) && content.endsWith(`${mark}end`) ? 0 : 1;
      for (const question of [mark, `${mark}end`]) {
        const { items } = await house.json<{ items: { doc_id: number }[] }>(
          `/api/v1/knowledge/search?q=${question}`,
        );
        unfound += items.some(({ doc_id }) => doc_id === id) ? 0 : 1;
      }
    }
    const { total } = await house.json<{ total: number }>('/api/v1/knowledge/docs?limit=1');
    assert.equal(index.documents, total, 'the index has as many documents as there are');
    return { lost, torn, unfound, documents: total };
  } finally {
    await house.stop();
  }
}
