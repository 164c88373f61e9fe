import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { type Order, probe, type Reading } from 'svc/check';

import { systemClock } from '../../../core/boot/time.ts';
import { until } from '../edge/house.ts';

/** Probes a target as svc would, from loopback. */
export const ask = (order: Pick<Order, 'kind' | 'target'> & Partial<Order>): Promise<Reading> =>
  probe(
    { timeout_ms: 30_000, ip: 'any', conditions: [], ...order },
    {
      reach: async (host) => ({
        address: host === 'localhost' ? '127.0.0.1' : host,
        family: host.includes(':') ? 6 : 4,
      }),
      monotonic: () => systemClock.monotonic(),
      now: () => systemClock.now(),
      nonce: () => randomBytes(24).toString('base64url'),
    },
    new AbortController().signal,
  );

/** Listens on a port of loopback for the time of a test. */
export async function listening(
  t: TestContext,
  server: Server,
  host = '127.0.0.1',
): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    (server as Partial<{ closeAllConnections(): void }>).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** A folder that a daemon of another user may read. */
export interface Folder {
  readonly path: string;
  write(name: string, text: string): string;
  /** Gives all of it to a user of the machine, where the test may. */
  giveTo(user: string): { readonly uid?: number; readonly gid?: number };
}

export function folderOf(t: TestContext, name: string): Folder {
  const path = mkdtempSync(join(tmpdir(), `svc-${name}-`));
  chmodSync(path, 0o755);
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    write(file, text) {
      writeFileSync(join(path, file), text, { mode: 0o644 });
      return join(path, file);
    },
    giveTo(user) {
      if (process.getuid!() !== 0) {
        return {};
      }
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(execFileSync('id', [flag, user], { encoding: 'utf8' })),
      ) as [number, number];
      chownSync(path, uid, gid);
      return { uid, gid };
    },
  };
}

/** Starts a program for the time of a test, and waits until its port answers. */
export async function daemon(
  t: TestContext,
  file: string,
  args: readonly string[],
  { port, ...options }: { readonly port: number; readonly uid?: number; readonly gid?: number },
): Promise<ChildProcess> {
  const child = spawn(file, [...args], { stdio: 'ignore', ...options });
  t.after(async () => {
    child.kill('SIGKILL');
    await (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined);
  });
  await until(`${file} answers`, async () => {
    if (child.exitCode !== null) {
      throw new Error(`${file} ended with ${child.exitCode}`);
    }
    return (await ask({ kind: 'tcp', target: `127.0.0.1:${port}` })).success;
  });
  return child;
}
