import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { svc } from './launcher.ts';

const reply = {
  message: 'The disk is fine, as far as I can see.',
  agent: 'sre',
  finish_reason: 'stop',
  approvals: [],
  tool_calls: [
    { name: 'device_get', status: 'ok', result_preview: '{}' },
    { name: 'disk_usage', status: 'refused', result_preview: 'the policy of this host forbids it' },
    { name: 'file_read', status: 'timeout', result_preview: 'no answer within 30s\nsecond line' },
  ],
};

test('"svc ask" names the tool calls without a result, and why', { timeout: 60_000 }, async (t) => {
  const server = createServer((request, response) => {
    const answer = request.url!.endsWith('/messages') ? reply : { id: 's1' };
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout, stderr } = await svc([
    'ask',
    'is it full?',
    '--url',
    url,
    '--token',
    'svc_pat_x',
  ]);
  assert.match(
    stdout,
    /^Tool call refused: disk_usage: the policy of this host forbids it$/m,
    stderr,
  );
  assert.match(stdout, /^Tool call timeout: file_read: no answer within 30s$/m);
  assert.doesNotMatch(stdout, /device_get|second line/);
});
