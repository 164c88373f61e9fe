import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { metricsHouse, until } from './house.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-fake-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Answers every query with nothing, and tells which process it is. */
const store = `#!${process.execPath}
const port = process.argv.find((arg) => arg.startsWith('-httpListenAddr=')).split(':').at(-1);
const body = JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, '1'] } });
require('node:http').createServer((request, response) => response.setHeader('content-type', 'application/json').end(body)).listen(Number(port), '127.0.0.1');
`;

test('a store that is run goes on under another generation of programs, says what it needs while that is away, and comes back with it', async (t) => {
  const file = join(folder, 'victoria-metrics');
  writeFileSync(file, store);
  chmodSync(file, 0o755);
  const { house, call, set, queries } = await metricsHouse(t);
  await set('process_binary', file);
  const { status, body } = await call('/api/v1/metricsdb/launch', { driver: 'process' });
  assert.equal(status, 200, JSON.stringify(body));
  const gone = (pid: number) => async (): Promise<boolean> => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  const answers = () =>
    until(
      'it answers',
      () => queries.status(),
      ({ ok }) => ok,
    );

  await house.reload('programs');
  await house.settled();
  await until('the process of before has ended', gone(body.pid), (is) => is);
  await answers();
  await house.host.disable('programs');
  await until(
    'it says what it needs',
    () => queries.status(),
    ({ ok, detail }) => !ok && /needs the programs plugin, which is not active/.test(detail ?? ''),
  );
  await house.host.enable('programs');
  await answers();
});
