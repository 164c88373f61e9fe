import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, useNoLeaks } from 'svc/testing';

const folder = new URL('plugin-folder', import.meta.url);

test('plugin-id greets the caller', async (t) => {
  const plugin = fileURLToPath(folder);
  const client = await startTestHost(t, { plugins: ['packs', plugin] });
  useNoLeaks(t, client);
  const answer = await client.fetch('/api/v1/plugin-id');
  const { message } = (await answer.json()) as { message: string };
  assert.equal(message, 'Hello operator');
});
