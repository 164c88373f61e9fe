import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost } from 'svc/testing';

import { readKeys } from '../../../core/storage/keys.ts';
import { undeclaredSeals } from '../../storage/sealed-places.ts';

const shipped = fileURLToPath(new URL('../../../plugins', import.meta.url));
const plugins = readdirSync(shipped).filter((id) => existsSync(join(shipped, id, 'plugin.json')));

test('a rotation reaches the secrets of every room: all of them come up with the new key alone', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-rooms-'));
  const troubled = ({ host }: TestHost): unknown[] =>
    host
      .list()
      // Rooms of the agent are known to the manager, and run elsewhere.
      .filter(({ state, cause }) => state !== 'active' && cause !== 'runs on edge only')
      .map(({ id, cause }) => [id, cause]);

  const first = await startTestHost(t, { plugins, dataDir });
  assert.deepEqual(troubled(first), []);
  const { resealed, unreadable } = await first.json('/api/v1/keys/rotate', { method: 'POST' });
  assert.ok(resealed >= 3, `only ${resealed} secrets`);
  assert.equal(unreadable, 0);
  await first.stop();
  assert.deepEqual(undeclaredSeals(dataDir), []);

  const second = await startTestHost(t, { plugins, dataDir });
  assert.deepEqual(troubled(second), []);
  assert.equal(readKeys(join(dataDir, 'keys', 'secret.key')).length, 1);
  assert.equal((await second.json('/api/v1/admin/audit-logs/verify')).ok, true);
  const complaints = second.lines.filter((line) =>
    /cannot be opened|unreadable|not in the key ring|does not open|cannot be decrypted/.test(line),
  );
  assert.deepEqual(complaints, []);
  await second.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
