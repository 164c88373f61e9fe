import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { listening } from '../../bin/upkeep/doctor/listening.ts';

test('an svc that serves with a part of it out of order is a warning that names the part', async (t) => {
  const parts = [
    { part: 'storage', ok: true, state: 'ready' },
    { part: 'plugins', ok: true, state: 'degraded', detail: 'out of service: deep (invalid)' },
  ];
  const server = createServer((_request, response) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ status: 'ready', parts })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = { url } as Parameters<typeof listening>[0];
  const look = async () => [await listening(running, '127.0.0.1:0', 'http.addr')('address')].flat();
  const [found] = await look();
  assert.equal(found?.verdict, 'warn');
  assert.match(JSON.stringify(found), /plugins: out of service: deep \(invalid\)/);
  parts.pop();
  assert.equal((await look())[0]?.verdict, 'ok');
});
