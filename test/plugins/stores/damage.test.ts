import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { startTestHost, type TestHost } from 'svc/testing';

const start = (t: TestContext, dataDir: string): Promise<TestHost> =>
  startTestHost(t, { plugins: ['metricsdb', 'ingest', 'stores'], dataDir });

test('one bit in the schema of a catalogue costs nothing; a check names what was set aside and which stores are away', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-damage-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await start(t, dataDir);
  const pushed = await first.fetch('/api/v1/import/prometheus', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'm 7\n',
  });
  assert.ok(pushed.status < 300);
  await first.stop();
  const path = join(dataDir, 'plugins', 'metricsdb', 'catalogue.db');
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('series text not null')]! ^= 1;
  writeFileSync(path, bytes);

  const house = await start(t, dataDir);
  const answer = await house.fetch('/prometheus/api/v1/query?query=last_over_time(m[5m])');
  const found = (await answer.json()) as {
    readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
    readonly warnings?: readonly string[];
  };
  assert.deepEqual(
    [found.data.result.map(({ value }) => value[1]), found.warnings],
    [['7'], undefined],
  );
  for (const what of ['check', 'mend']) {
    const report = (await (
      await house.fetch(`/api/v1/stores/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        ...(what === 'mend' && { body: '{}' }),
      })
    ).json()) as Readonly<Record<string, unknown>>;
    assert.deepEqual(
      [report['damage'], report['damaged'], report['aside'], report['away']],
      [
        [],
        2,
        ['metrics: catalogue.db.damaged-1'],
        ['logs: its plugin is not running', 'traces: its plugin is not running'],
      ],
    );
  }
});
