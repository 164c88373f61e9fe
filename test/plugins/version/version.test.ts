import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestHost, useNoLeaks } from 'svc/testing';

import packageJson from '../../../package.json' with { type: 'json' };

test('the manager tells its version from package.json, to whoever is known', async (t) => {
  const house = await startTestHost(t, { plugins: ['version'] });
  useNoLeaks(t, house);
  assert.deepEqual(await house.json('/api/v1/version'), {
    manager_version: `v${packageJson.version}`,
  });
  const stranger = await fetch(`${house.url}/api/v1/version`);
  assert.equal(stranger.status, 401);
  assert.equal(((await stranger.json()) as { error: string }).error, 'unauthorized');
});
