import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Logger } from 'svc/sdk';

import type { SeenTools } from '../../../plugins/mcp/seen-tools.ts';
import { McpServers } from '../../../plugins/mcp/servers.ts';

test('a server that was away is looked at again after seconds, less and less often', async () => {
  let now = 0;
  let isAway = true;
  const looks: number[] = [];
  const servers = new McpServers({
    entries: () => [{ name: 'sky', url: 'http://sky.example/mcp' }],
    tokens: () => ({}),
    seen: {
      forgetAllBut: () => Promise.resolve(),
      judge: () => Promise.resolve(new Map([['weather', { class: 'safe', changed: false }]])),
    } as unknown as SeenTools,
    clock: { now: () => now, monotonic: () => now },
    log: { warn: () => undefined } as unknown as Logger,
    version: '1',
    fetch: (url, { body } = {}) => {
      const { id, method } = JSON.parse(String(body)) as { id?: number; method: string };
      if (method === 'initialize') {
        looks.push(now / 1_000);
      }
      if (isAway) {
        return Promise.reject(new Error('refused'));
      }
      const tools = [{ name: 'weather', description: 'x', inputSchema: { type: 'object' } }];
      const reply = { jsonrpc: '2.0', id, result: method === 'tools/list' ? { tools } : {} };
      return Promise.resolve({
        url,
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(reply)),
      });
    },
  });
  const { signal } = new AbortController();
  await servers.refresh(signal);
  for (; now < 60_000; now += 2_500) {
    await servers.retryFailed(signal);
  }
  assert.deepEqual(looks, [0, 5, 15, 35]);
  isAway = false;
  for (; now < 90_000; now += 2_500) {
    await servers.retryFailed(signal);
  }
  assert.deepEqual([looks.at(-1), looks.length], [75, 5], 'and once it answers, no more');
  assert.deepEqual(
    [servers.status()[0]?.state, servers.list().map(({ key }) => key)],
    ['ok', ['mcp:sky:weather']],
  );
});
