import { createSecretKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import Database from 'better-sqlite3';

import { Seals } from '../../core/storage/seal.ts';
import { KeyRing } from '../../core/storage/keys.ts';
import { bind, genesis } from '../../plugins/audit/rows/chain.ts';
import { canonical } from '../../plugins/audit/rows/record.ts';
import type { Outcome } from '../exercise.ts';
import { auditHouse, type Found, list, record, trailPath } from '../plugins/audit/house.ts';
import { changedOnPurpose } from '../on-purpose.ts';

const areas = ['edge', 'device', 'alert', 'user', 'org', 'setting', 'channel', 'skill'];
const verbs = ['create', 'update', 'delete', 'enable', 'rotate-secret', 'ack', 'test', 'reveal'];
const start = Date.parse('2026-01-01T00:00:00Z');
const minute = 60_000;

/**
 * Returns row `n` of the trail of a busy installation: one account does half of everything, few
 * calls fail.
 */
function nth(n: number): string {
  const mixed = (n * 2_654_435_761) >>> 0;
  const person = mixed % 2 === 0 ? 1 : mixed % 200;
  const area = areas[(mixed >>> 3) % areas.length]!;
  return canonical(
    record({
      occurredAt: start + n * minute,
      principal: {
        kind: 'user',
        id: String(person),
        email: `person-${person}@example.org`,
        name: `Person ${person}`,
        role: 'user',
        grants: [],
      },
      userAgent:
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36',
      action: `${area}:${verbs[(mixed >>> 7) % verbs.length]!}`,
      resourceType: area,
      resourceId: String((mixed >>> 5) % 5_000),
      status: n % 20 === 0 ? 'denied' : n % 33 === 0 ? 'failure' : 'success',
      requestId: `0195f3a2-${n}`,
      before: { name: 'before', enabled: false, labels: { site: 'north' } },
      after: { name: 'after', enabled: true, labels: { site: 'south' } },
    }),
  );
}

/** Pages with every kind of filter, verification and appending, over a trail of a million rows. */
export async function run({
  rows = 1_000_000,
  rounds = 8,
}: { readonly rows?: number; readonly rounds?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-audit-bench-'));
  const undo: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void undo.unshift(work) };
  try {
    await (await auditHouse(scope, { dataDir })).stop();
    const fillSeconds = fill(dataDir, rows);
    const house = await auditHouse(scope, { dataDir });

    const last = new Date(start + rows * minute).toISOString();
    const middle = new Date(start + (rows / 2) * minute).toISOString();
    const cases: Readonly<Record<string, string>> = {
      'no filter': '',
      'actor, a busy one': 'actor=1',
      'actor, by e-mail': 'actor=person-7@example.org',
      action: 'action=edge:ack',
      'action, an area': 'action=edge:*',
      'resource type': 'resource_type=device',
      'resource type and id': 'resource_type=device&resource_id=42',
      'status denied': 'status=denied',
      'status success': 'status=success',
      'actor and status': 'actor=1&status=failure',
      'actor, area and status': 'actor=1&action=user:*&status=denied',
      'actor and action that never meet': 'actor=1&action=none:such',
      'half of the time': `from=${middle}&to=${last}`,
      'actor in half of the time': `actor=1&from=${middle}&to=${last}`,
      'the oldest hundredth': `to=${new Date(start + (rows / 100) * minute).toISOString()}`,
    };
    await list(house);
    const all: number[] = [];
    const pages = [];
    for (const [name, query] of Object.entries(cases)) {
      const times = await pageTimes(query, rounds);
      all.push(...times);
      pages.push({
        case: name,
        'first page, ms': times[0],
        'p50, ms': quantile(times, 0.5),
        'max, ms': Math.max(...times),
      });
    }

    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const began = performance.now();
    const found = await house.json<Found>(`${trailPath}/verify`);
    const rate = Math.round((found.rows / (performance.now() - began)) * 1_000);
    loop.disable();

    return {
      ok: found.ok && (rows < 1_000_000 || (rate >= 200_000 && quantile(all, 0.99) < 100)),
      rows: found.rows,
      'filled in, s': fillSeconds,
      'page p50, ms': quantile(all, 0.5),
      'page p99, ms': quantile(all, 0.99),
      'verified rows/s': rate,
      'loop p99 while verifying, ms': loop.percentile(99) / 1e6,
      pages,
    };

    /** The first page, then those behind it, each as a client waits for it. */
    async function pageTimes(query: string, count: number): Promise<number[]> {
      const times: number[] = [];
      let cursor = '';
      for (let page = 0; page < count; page++) {
        const before = performance.now();
        const { next_cursor } = await list(
          house,
          `?${query}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        times.push(performance.now() - before);
        cursor = next_cursor;
      }
      return times;
    }
  } finally {
    for (const work of undo) {
      await work();
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Writes the trail as svc would have, but a million rows at once; the chain is as good as any. */
function fill(dataDir: string, rows: number): number {
  const began = performance.now();
  const database = new Database(join(dataDir, 'svc.db'));
  database.pragma('synchronous = OFF');
  const sealed = database.prepare('select chain_key from audit_keys').pluck().get() as string;
  const opened = new Seals('audit', new KeyRing(dataDir)).open(
    { table: 'audit_keys', row: '1', column: 'chain_key' },
    sealed,
  );
  const key = createSecretKey(Buffer.from(opened, 'base64url'));
  const insert = database.prepare(
    'insert into audit_log (seq, key_id, record, prev_hash, hash) values (?, 1, ?, ?, ?)',
  );
  let previous = genesis.hash;
  database.transaction(() => {
    for (let seq = 1; seq <= rows; seq++) {
      const text = nth(seq);
      const hash = bind(key, previous, seq, text);
      insert.run(seq, text, previous, hash);
      previous = hash;
    }
  })();
  database.close();
  changedOnPurpose(dataDir);
  return (performance.now() - began) / 1_000;
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
