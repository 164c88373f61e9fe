import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./pack-crash-child.ts', import.meta.url));

/**
 * States that may be found after a kill, by the child's last message: the one it had reported, or
 * the one it was about to reach.
 */
const afterwards: Readonly<Record<string, readonly string[]>> = {
  begin: ['none', '1.0.0'],
  installed: ['1.0.0', '2.0.0'],
  updated: ['2.0.0', '1.0.0'],
  'rolled-back': ['1.0.0', 'none'],
  end: ['none'],
};

/**
 * Kills svc before each of its writes while it installs, updates, rolls back and uninstalls: the
 * next start has the old or the new.
 */
export async function run({
  from = 1,
  step = 1,
  most = 1_000,
}: {
  readonly from?: number;
  readonly step?: number;
  readonly most?: number;
} = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-pack-crash-'));
  const found = { old: 0, new: 0 };
  let last = 'end';
  let writes = 0;
  let kills = 0;
  try {
    for (const round of counted(most, 'kills')) {
      const { stdout, stderr, signal } = spawnSync(
        process.execPath,
        [...programOf(child), dataDir, String(from + round * step)],
        { encoding: 'utf8' },
      );
      const lines = stdout.trim().split('\n');
      const [, known = '', onDisk, serves, shape, staged, ...residue] = (lines[0] ?? '').split(' ');
      assert.ok(
        lines[0]?.startsWith('found'),
        `round ${round}: the house did not come up: ${stderr.slice(-2_000)}`,
      );
      assert.deepEqual(
        [known, onDisk, serves, shape, staged, residue.join(' ')],
        [known, known, known, 'whole', '0', '[]'],
        `round ${round}, after "${last}"`,
      );
      assert.ok(afterwards[last]!.includes(known), `round ${round}: ${known} after "${last}"`);
      found[afterwards[last]![0] === known ? 'old' : 'new'] += 1;
      last = lines.at(-1)!.split(' ')[0]!;
      if (signal === null) {
        writes = Number(lines.at(-1)!.split(' ')[1]);
        assert.ok(
          last === 'end',
          `round ${round} ended by itself after "${last}": ${stderr.slice(-2_000)}`,
        );
        break;
      }
      kills += 1;
    }
    return {
      ok: true,
      kills,
      'writes in all': writes,
      'found the old': found.old,
      'found the new': found.new,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
