import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startTestHost, useNoLeaks } from 'svc/testing';

import { Entries } from 'svc/contracts/plugin-id';

const folder = new URL('plugin-folder', import.meta.url);
const path = '/api/v1/plugin-id';

test('an entry is kept, counted by a job, and read by other plugins', async (t) => {
  const host = await startTestHost(t, {
    plugins: [fileURLToPath(folder)],
    environment: { SVC_PLUGIN_ID_MAX_ENTRIES: '1' },
  });
  useNoLeaks(t, host);
  const add = (text: string) =>
    host.fetch(path, { method: 'POST', body: JSON.stringify({ text }) });

  assert.equal((await add('two words')).status, 201);
  for (const end = Date.now() + 10_000; Date.now() < end; await pause(10)) {
    if ((await host.service(Entries).latest())?.words !== null) {
      break;
    }
  }
  assert.equal((await host.service(Entries).latest())?.words, 2);

  const { items } = await host.json<{ items: { text: string }[] }>(path);
  assert.deepEqual(
    items.map(({ text }) => text),
    ['two words'],
  );
  assert.equal((await add('')).status, 400);
  const refused = await add('one too many');
  assert.equal(refused.status, 409);
  const reason = refused.headers.get('x-svc-reason');
  assert.equal(reason, 'plugin-id.full');
  const metrics = await (await host.fetch('/metrics')).text();
  assert.match(metrics, /^svc_plugin_id_entries_total 1$/m);
});
