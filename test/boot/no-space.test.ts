import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { isFull, waitForSpace } from '../../bin/serve/wait-for-space.ts';

test(
  'a first start without a byte of space answers probes, says why, and goes on once there is some',
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    const disk = mkdtempSync(join(tmpdir(), 'svc-no-space-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
    t.after(() => {
      execFileSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true });
    });
    assert.throws(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(32 << 20)), isFull);
    const port = await freePort();
    const address = { hostname: '127.0.0.1', port, url: `http://127.0.0.1:${port}` };
    const said: string[] = [];
    const waiting = waitForSpace(join(disk, 'data'), address, (line) => said.push(line));
    const ask = async (path: string, method = 'GET') => {
      const reply = await fetch(address.url + path, { method });
      return [reply.status, await reply.text()] as const;
    };
    assert.deepEqual(await ask('/healthz'), [200, '{"status":"ok"}']);
    for (const reply of [await ask('/readyz'), await ask('/api/v1/auth/login', 'POST')]) {
      assert.equal(reply[0], 503);
      assert.match(reply[1], /^\{"error":"unavailable","message":"the data folder .* has no space/);
    }
    assert.equal(said.length, 1);
    rmSync(join(disk, 'filler'));
    await waiting;
    await assert.rejects(fetch(address.url));
  },
);

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
