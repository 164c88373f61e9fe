import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { svc } from './launcher.ts';

test('a job is run with its output and exit code, and reported; also when svc is away', async (t) => {
  const house = await startTestHost(t, { plugins: ['heartbeats'] });
  const made = await house.json('/api/v1/heartbeats', {
    method: 'POST',
    body: JSON.stringify({ name: 'backup', period_s: 3_600 }),
  });
  const address = `${house.url}${String(made.url).slice(String(made.url).indexOf('/hb/'))}`;
  const pings = async () => (await house.json('/api/v1/heartbeats/backup/logs')).items;

  const failed = await svc(
    [
      ...['run', '--beat', address, '--'],
      ...['sh', '-c', 'cat; echo "$1" >&2; exit 7', 'sh', '--beat'],
    ],
    { stdin: 'copied 3 files\n' },
  );
  assert.deepEqual(
    [failed.code, failed.stdout, failed.stderr],
    [7, 'copied 3 files\n', '--beat\n'],
  );
  const [end, start] = await pings();
  assert.deepEqual([start.kind, end.kind, end.exit_code], ['start', 'fail', 7]);
  assert.ok(end.duration_ms >= 0);
  assert.match(end.log, /copied 3 files[^]*--beat[^]*\nended after \d+\.\d s\n$/);

  const killed = await svc(['run', '--beat', address, '--', 'sh', '-c', 'kill -TERM $$']);
  assert.deepEqual([killed.code, (await pings())[0].exit_code], [143, 143]);
  const missing = await svc(['run', '--beat', address, '--', '/nowhere/at-all']);
  assert.deepEqual([missing.code, (await pings())[0].exit_code], [127, 127]);

  const large = await svc([
    'run',
    '--beat',
    address,
    '--',
    'sh',
    '-c',
    'yes x | head -c 400000; echo last',
  ]);
  assert.deepEqual([large.code, large.stdout.length], [0, 400_005]);
  const [last] = await pings();
  assert.ok(last.log.length <= 100 * 1_024 && last.log.includes('last'));

  const named = await svc([
    ...['run', '--beat', 'gone', '--url', house.url, '--token', house.token],
    ...['--', 'echo', 'still runs'],
  ]);
  assert.deepEqual([named.code, named.stdout], [0, 'still runs\n']);
  assert.match(named.stderr, /the run was not reported: There is no heartbeat gone/);
  const away = await svc([
    'run',
    '--beat',
    'http://127.0.0.1:1/hb/x',
    '--',
    'sh',
    '-c',
    'echo on; exit 3',
  ]);
  assert.deepEqual([away.code, away.stdout], [3, 'on\n']);
  assert.match(away.stderr, /the run was not reported/);
});
