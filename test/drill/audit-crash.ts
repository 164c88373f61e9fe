import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { auditHouse, inFile, verify } from '../plugins/audit/house.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./audit-crash-child.ts', import.meta.url));

/**
 * Kills svc under audited calls at a random moment, again and again: the chain holds, and rows and
 * changes agree.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-audit-crash-'));
  const answered = new Map<string, number>();
  let found = { rows: 0, checkpoints: 0 };
  try {
    for (const round of counted(rounds, 'kills')) {
      await callUntilKilled(dataDir, 20 + Math.random() * 300, answered);
      found = await openAndVerify(dataDir, round);
      compare(dataDir, answered, round);
    }
    return {
      ok: true,
      kills: rounds,
      'answered calls': answered.size,
      rows: found.rows,
      checkpoints: found.checkpoints,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function callUntilKilled(
  dataDir: string,
  afterMs: number,
  answered: Map<string, number>,
): Promise<void> {
  const house = spawn(process.execPath, [...programOf(child), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: house.stdout });
  let first: (() => void) | undefined;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    house.once('exit', (code) => reject(new Error(`the house ended by itself (${code})`)));
  });
  lines.on('line', (line) => {
    const [requestId, status] = line.split(' ');
    answered.set(requestId!, Number(status));
    first!();
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  house.removeAllListeners('exit');
  house.kill('SIGKILL');
  await read;
}

async function openAndVerify(
  dataDir: string,
  round: number,
): Promise<{ rows: number; checkpoints: number }> {
  const undo: (() => unknown)[] = [];
  const house = await auditHouse(
    { after: (work: () => unknown) => void undo.push(work) },
    { dataDir },
  );
  try {
    const found = await verify(house);
    assert.ok(found.ok, `round ${round}: ${JSON.stringify(found)}`);
    return found;
  } finally {
    await house.stop();
  }
}

/** Every answer has its row, every change its row, and every row of a change its change. */
function compare(dataDir: string, answered: ReadonlyMap<string, number>, round: number): void {
  const { rows, changes } = inFile(dataDir, (database) => ({
    rows: database
      .prepare(
        "select json_extract(record, '$.request_id') as id, cast(json_extract(record, '$.http_status') as integer) as status from audit_log where actor <> 'operator:operator'",
      )
      .all() as { id: string; status: number }[],
    changes: database.prepare('select request_id from ledger_entries').pluck().all() as string[],
  }));
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]));
  assert.equal(statusOf.size, rows.length, `round ${round}: a call has two rows`);
  for (const [id, status] of answered) {
    assert.equal(
      statusOf.get(id),
      status,
      `round ${round}: call ${id} was answered with ${status}`,
    );
  }
  const made = rows.filter(({ status }) => status === 201).map(({ id }) => id);
  assert.deepEqual(made.sort(), changes.sort(), `round ${round}: rows and changes differ`);
}
