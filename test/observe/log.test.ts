import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { Logs, type LogOptions } from '../../core/observe/index.ts';

const clock = { now: () => Date.UTC(2026, 10, 20, 18, 9), monotonic: () => 0 };

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const logs = new Logs({
    level: 'info',
    format: 'json',
    clock,
    write: (line) => void lines.push(line),
    ...options,
  });
  return {
    logs,
    log: logs.logger('test'),
    lines,
    parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('a line says when, how bad, where, what, and the fields, its code among them', () => {
  const { log, parsed } = capture();
  log.warn({ event: 'notify.gave_up', plugin: 'alert', attempts: 3 }, 'gave up');
  assert.deepEqual(parsed(), [
    {
      time: '2026-11-20T18:09:00.000Z',
      level: 'warn',
      component: 'test',
      event: 'notify.gave_up',
      plugin: 'alert',
      attempts: 3,
      message: 'gave up',
    },
  ]);
});

test('the level can be changed while running, for loggers made before', () => {
  const { logs, log, lines } = capture();
  log.debug({}, 'unseen');
  logs.setLevel('debug');
  log.debug({}, 'seen');
  logs.setLevel('error');
  log.warn({}, 'unseen');
  assert.equal(lines.length, 1);
});

test('secrets are gone from message, fields and errors in both formats', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = capture({ format });
    const error = new Error('fetch failed', {
      cause: Object.assign(new Error('Bearer CANARY'), {
        socket: { auth: 'u', password: 'CANARY' },
      }),
    });
    log.error(
      { error, request: { headers: { authorization: 'CANARY' } } },
      'call to https://u:CANARY@host failed with svc_sk_CANARY',
    );
    assert.doesNotMatch(lines.join(''), /CANARY/);
    assert.match(lines.join(''), /fetch failed/);
  }
});

const forged =
  '\n{"level":"error","message":"forged"}\r\n2026-11-20T18:09:00.000Z ERROR core forged \u001b[2J\u009b31m \u202e \u2028';

test('what strangers wrote cannot begin another line or drive a terminal', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = capture({ format, colour: false });
    const error = new Error(forged);
    log.info({ user: forged, [forged]: 1, constructor: forged, list: [forged], error }, forged);
    const written = lines.join('');
    // oxlint-disable-next-line no-control-regex -- exactly these must be absent
    assert.doesNotMatch(written, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    const own = written
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('    '));
    assert.equal(own.length, 1, written);
  }
});

test('an escaped JSON line still holds the original text', () => {
  const { log, parsed } = capture();
  log.info({ user: forged }, 'x');
  assert.equal(parsed()[0]!['user'], forged);
});

test('a field cannot pass itself off as the level, time or component of its line', () => {
  const { log, parsed, lines } = capture();
  log.info({ level: 'error', time: 'yesterday', component: 'core', message: 'other' }, 'mine');
  assert.deepEqual(parsed()[0], {
    level: 'info',
    time: '2026-11-20T18:09:00.000Z',
    component: 'test',
    level_: 'error',
    time_: 'yesterday',
    component_: 'core',
    message_: 'other',
    message: 'mine',
  });
  assert.equal(lines[0]!.match(/"level"/g)?.length, 1);
});

test('fields that look like a request stay fields', () => {
  const { log, parsed } = capture();
  log.info({ method: 'GET', headers: { host: 'a' }, socket: 'b' }, 'x');
  assert.equal(parsed()[0]!['component'], 'test');
  assert.deepEqual(parsed()[0]!['headers'], { host: 'a' });
});

test('a pretty line reads as one sentence with its fields, an error shows its stack below', () => {
  const { log, lines } = capture({ format: 'pretty', colour: false });
  log.info({ route: '/api/v1/plugins', ms: 3, who: 'Ada L' }, 'served');
  assert.equal(
    lines[0],
    '2026-11-20T18:09:00.000Z INFO  test served route=/api/v1/plugins ms=3 who="Ada L"\n',
  );
  log.error({ error: new TypeError('no') }, 'failed');
  assert.match(
    lines[1]!,
    /ERROR test failed error=\{"name":"TypeError","message":"no"\}\n {4}TypeError: no\n {4} {4}at /,
  );
  const coloured = capture({ format: 'pretty', colour: true });
  coloured.log.info({}, 'served');
  assert.ok(coloured.lines[0]!.includes('\u001b[32mINFO'));
});

test('a line logged right before the process ends is there', () => {
  const script = `
    const { Logs } = await import(${JSON.stringify(new URL('../../core/observe/index.ts', import.meta.url).href)});
    const logs = new Logs({ level: 'info', format: 'json', clock: { now: () => 0, monotonic: () => 0 } });
    for (let at = 0; at < 2_000; at += 1) logs.logger('x').info({ at }, 'line');
    logs.flush();
    process.kill(process.pid, 'SIGKILL');`;
  const { stdout, signal } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    },
  );
  assert.equal(signal, 'SIGKILL');
  assert.equal(stdout.trimEnd().split('\n').length, 2_000);
});

test(
  'a full disk behind the log does not end the process',
  { skip: process.platform !== 'linux' && 'needs /dev/full' },
  () => {
    const script = `
    const { Logs } = await import(${JSON.stringify(new URL('../../core/observe/index.ts', import.meta.url).href)});
    const logs = new Logs({ level: 'info', format: 'json', clock: { now: () => 0, monotonic: () => 0 } });
    for (let at = 0; at < 5_000; at += 1) logs.logger('x').info({ at, text: 'y'.repeat(500) }, 'line');
    setTimeout(() => process.exit(7), 50);`;
    const { status } = spawnSync(
      '/bin/sh',
      ['-c', '"$0" --import tsx --input-type=module -e "$1" > /dev/full', process.execPath, script],
      {
        cwd: import.meta.dirname,
      },
    );
    assert.equal(status, 7);
  },
);
