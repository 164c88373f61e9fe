import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { ask, manifest, startMarket, uploadConfirmed } from '../plugins/marketplace/market.ts';

type House = Awaited<ReturnType<typeof startMarket>>;

const pack = (id: string) => ({
  'plugin.json': manifest(id, {
    entry: 'index.js',
    mounts: [`/api/v1/${id}`],
    routes: [{ method: 'GET', path: `/api/v1/${id}`, access: 'any', summary: 'Answers.' }],
  }),
  'index.js': `import { definePack } from 'svc/sdk'; export default definePack({ routes: { 'GET /api/v1/${id}': () => ({ id: '${id}', pid: process.pid }) } });`,
});

/**
 * Installs many packs with code in one host: measures their idle cost, the time of the next start,
 * and of the first call.
 */
export async function run({ packs = 100 }: { readonly packs?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-pack-hundred-'));
  const ids = Array.from({ length: packs }, (_, index) => `many-${index}`);
  try {
    const empty = await within(dataDir, async (house, startMs) => ({
      startMs,
      mb: residentMb(),
      processes: await processesOf(house),
    }));
    await within(dataDir, async (house) => {
      for (const id of ids) {
        const { status, body } = await uploadConfirmed(house, pack(id));
        assert.equal(status, 201, JSON.stringify(body));
      }
    });
    return await within(dataDir, async (house, startMs) => {
      const { items } = (await ask(house, 'GET', '/installed?limit=200')).body as {
        items: { state: string }[];
      };
      const active = items.filter(({ state }) => state === 'active').length;
      const [mb, processes] = [residentMb(), await processesOf(house)];
      const firsts: number[] = [];
      for (const id of ids.slice(0, 10)) {
        const began = performance.now();
        assert.equal(await firstAnswer(house, id), id);
        firsts.push(performance.now() - began);
      }
      return {
        ok: active === packs && processes === 0,
        packs,
        active,
        'processes while idle': processes,
        'start ms without packs': Math.round(empty.startMs),
        'start ms': Math.round(startMs),
        'memory MB without packs': empty.mb,
        'memory MB': mb,
        'median first call ms': Math.round(firsts.toSorted((a, b) => a - b)[5] ?? 0),
        'processes after ten calls': await processesOf(house),
      };
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function within<T>(
  dataDir: string,
  work: (house: House, startMs: number) => Promise<T>,
): Promise<T> {
  const undo: (() => unknown)[] = [];
  const began = performance.now();
  const house = await startMarket(
    { after: (step) => void undo.push(step as () => unknown) },
    { dataDir, environment: { SVC_LOG_LEVEL: 'error' } },
  );
  try {
    return await work(house, performance.now() - began);
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

/** Asks until the process has started, which may take longer than a request waits for it. */
async function firstAnswer(house: House, id: string): Promise<string> {
  for (let left = 60; ; left -= 1) {
    const reply = await house.fetch(`/api/v1/${id}`);
    if (reply.status !== 503 || left === 0) {
      return ((await reply.json()) as { id: string }).id;
    }
    await sleep(500);
  }
}

async function processesOf(house: House): Promise<number> {
  const { items } = await house.json<{ items: { process: { pid: number | null } | null }[] }>(
    '/api/v1/packs?limit=200',
  );
  return items.filter(({ process }) => process !== null && process.pid !== null).length;
}

/** Memory of svc itself. */
const residentMb = (): number =>
  Math.round(
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]) / 1024,
  );
