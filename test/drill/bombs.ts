import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import type { Outcome, Row } from '../exercise.ts';
import { edge, productWithEdges, startWholeHouse, type WholeHouse } from '../whole-house.ts';

const mostGrowthMb = 32;
const settleMs = 10_000;

const doors = [
  { path: '/v1/metrics', type: 'application/x-protobuf' },
  { path: '/loki/api/v1/push', type: 'application/json' },
  { path: '/v1/traces', type: 'application/x-protobuf' },
];

/** Small bodies that unpack to hundreds of megabytes, in a row: each is refused, and the memory is back where it was. */
export async function run({
  bombs = 100,
  megabytes = 300,
}: { readonly bombs?: number; readonly megabytes?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bombs-'));
  const bomb = gzipSync(Buffer.alloc(megabytes * 1_048_576));
  const kinds = { 'in one part': bomb, 'in two parts': Buffer.concat([bomb, gzipSync('end')]) };
  const house = await startWholeHouse({
    dataDir: join(folder, 'data'),
    product: productWithEdges(join(folder, 'product')),
  });
  try {
    // A house that has taken bodies before: its heaps have grown to what they need.
    await explode(house, bomb, 60);
    await pause(settleMs);
    const cases: Row[] = [];
    for (const [kind, body] of Object.entries(kinds)) {
      const before = rssMb(house);
      const statuses = await explode(house, body, bombs);
      await pause(settleMs);
      const growthMb = Math.round(rssMb(house) - before);
      const refused = statuses.filter((status) => status === 413).length;
      cases.push({
        kind,
        ok: refused === statuses.length && growthMb <= mostGrowthMb,
        bombs: statuses.length,
        refused,
        'RSS growth, MB': growthMb,
      });
    }
    return {
      ok: cases.every(({ ok }) => ok === true),
      'RSS growth at most, MB': mostGrowthMb,
      kinds: cases,
    };
  } finally {
    await house.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function explode(house: WholeHouse, packed: Uint8Array, bombs: number): Promise<number[]> {
  const body = Uint8Array.from(packed);
  const statuses: number[] = [];
  for (let at = 0; at < bombs; at++) {
    const { path, type } = doors[at % doors.length]!;
    const headers = {
      'content-type': type,
      'content-encoding': 'gzip',
      authorization: edge((at % 20) + 1),
    };
    const answer = await house.fetch(path, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  return statuses;
}

const rssMb = ({ pid }: WholeHouse): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
