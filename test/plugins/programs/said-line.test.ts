import assert from 'node:assert/strict';
import { test } from 'node:test';

import { saidLine } from '../../../plugins/programs/said-line.ts';

test('what a program logs keeps its level and is not wrapped in another text', () => {
  const agent = saidLine(
    '{"level":"warn","time":"2026-01-01T00:00:00Z","component":"edge-uplink","event":"uplink.tunnel_ended","code":1001,"message":"tunnel ended"}',
  );
  assert.deepEqual(agent, {
    level: 'warn',
    message: 'tunnel ended',
    fields: { event: 'uplink.tunnel_ended', code: 1001, program_component: 'edge-uplink' },
  });
  const plain = saidLine('listening on port 9090');
  assert.deepEqual(plain, {
    level: 'info',
    message: 'listening on port 9090',
    fields: { event: 'programs.said' },
  });
  const prometheus = 'ts=2026-01-01T00:00:00Z caller=main.go:1 level=error msg="disk is full"';
  assert.deepEqual(saidLine(prometheus), {
    level: 'error',
    message: prometheus,
    fields: { event: 'programs.said' },
  });
  const victoria = saidLine('{"ts":"x","level":"panic","msg":"no space left"}');
  assert.deepEqual([victoria.level, victoria.message], ['error', 'no space left']);
});

test('a line that only looks like a log is passed on as it is', () => {
  for (const line of [
    '{"level":"error"',
    '{"level":"error","message":7}',
    '[]',
    '{}',
    '{"__proto__":{"level":"error"},"x":1}',
    '',
  ]) {
    const { level, message } = saidLine(line);
    assert.deepEqual([level, message], ['info', line], line);
  }
  const many = saidLine(
    JSON.stringify({
      message: 'm',
      level: 'constructor',
      ...Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`k${at}`, at])),
    }),
  );
  assert.equal(many.level, 'info');
  assert.equal(Object.keys(many.fields).length, 21);
});
