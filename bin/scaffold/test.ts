import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, useNoLeaks } from 'svc/testing';

const plugin = fileURLToPath(new URL('plugin-folder', import.meta.url));

test('plugin-id greets whoever asks', async (t) => {
  const host = await startTestHost({ plugins: [plugin] });
  useNoLeaks(t, host);
  const response = await host.fetch('/api/v1/plugin-id');
  assert.equal(response.status, 200);
  const greeting = (await response.json()) as { message: string };
  assert.match(greeting.message, /^Hello /);
});
