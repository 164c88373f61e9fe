import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startTestHost } from '../kit/index.ts';
import { buildZoo } from '../fixtures/zoo.ts';

const area = (body: string): string =>
  `import { definePlugin } from 'svc/sdk';\nexport default definePlugin({ activate(ctx) { ${body} } });\n`;

test('readiness tells of storage, disk and plugins, and fails for what makes the house unfit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ready-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const plugins = buildZoo(folder, [
    {
      id: 'broken',
      manifest: { entry: 'index.ts' },
      files: { 'index.ts': area(`throw new Error('no');`) },
      state: 'failed',
      cause: /no/,
    },
    {
      id: 'moody',
      manifest: { entry: 'index.ts' },
      files: {
        'index.ts': area(`ctx.health.check('mood', () => ({ ok: false, detail: 'sulking' }));`),
      },
      state: 'active',
      cause: /^$/,
    },
    {
      id: 'heart',
      manifest: { entry: 'index.ts', critical: true },
      files: { 'index.ts': area('') },
      state: 'active',
      cause: /^$/,
    },
  ]);
  const house = await startTestHost(t, { plugins });
  const ask = async (): Promise<{
    status: number;
    body: { parts?: unknown; message?: string; details?: { path: string; message: string }[] };
  }> => {
    const answer = await fetch(`${house.url}/readyz`);
    return { status: answer.status, body: (await answer.json()) as never };
  };

  const moody = await ask();
  assert.equal(moody.status, 503);
  assert.deepEqual(moody.body.details, [
    { path: '/plugins', message: 'out of service: broken (failed)' },
    { path: '/process', message: 'mood' },
  ]);

  await house.host.disable('moody');
  const ready = await ask();
  assert.equal(ready.status, 200);
  assert.deepEqual(ready.body.parts, [
    { part: 'storage', ok: true, state: 'ready' },
    { part: 'disk', ok: true, state: 'ready' },
    { part: 'plugins', ok: true, state: 'degraded', detail: 'out of service: broken (failed)' },
    { part: 'process', ok: true, state: 'ready' },
  ]);

  const heart = house.registry.current.generations.get('heart')!;
  for (let strike = 0; strike < 3; strike++) {
    house.host.strike(heart, 'beat', new Error('skipped'));
  }
  const dead = await ask();
  assert.equal(dead.status, 503);
  assert.match(dead.body.details![0]!.message, /heart \(quarantined\)/);
});
