import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, useNoLeaks } from 'svc/testing';

const plugin = fileURLToPath(new URL('plugin-folder', import.meta.url));

test('plugin-id greets whoever asks', async (t) => {
  const client = await startTestHost(t, { plugins: [plugin] });
  useNoLeaks(t, client);
  const answer = await client.json<object>('/api/v1/plugin-id');
  assert.deepEqual(answer, { message: 'Hello operator' });
});
