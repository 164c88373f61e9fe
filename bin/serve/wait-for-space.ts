import { createServer, type Server } from 'node:http';
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { ListenAddress } from '../../core/boot/parts.ts';
import { messageOf } from '../../core/sdk/index.ts';

/** Enough for a first start to come as far as saying itself that it cannot write. */
const leastBytes = 16 * 1024 * 1024;
const lookEveryMs = 2_000;

/** Returns whether a start failed because there is no space for it. */
export const isFull = (error: unknown): boolean =>
  /\b(?:ENOSPC|EDQUOT|SQLITE_FULL)\b|\bdisk is full\b/i.test(messageOf(error));

/**
 * Stands in for a svc that has no space for its first start: answers probes, refuses everything
 * else with the reason, and resolves once there is space. A signal ends the process: nothing is
 * open yet.
 */
export async function waitForSpace(
  dataDir: string,
  { hostname, port, url }: Pick<ListenAddress, 'hostname' | 'port' | 'url'>,
  say: (line: string) => void,
): Promise<void> {
  const reason = `the data folder ${dataDir} has no space for svc to start: free some there; svc then starts by itself`;
  const end = (): never => process.exit(0);
  process.once('SIGTERM', end).once('SIGINT', end);
  const server = standIn(reason);
  server.on('error', (error) => say(`could not answer at ${url} meanwhile: ${messageOf(error)}`));
  server.listen(port, hostname);
  say(reason);
  try {
    do {
      // At least once: where a quota is full, the disk is not, and each try is a start.
      await pause(lookEveryMs);
    } while (freeBytes(dataDir) < leastBytes);
  } finally {
    process.off('SIGTERM', end).off('SIGINT', end);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
}

/** Answers as svc does whose data folder is read-only, for those who ask whether it lives and whether it is ready. */
function standIn(reason: string): Server {
  const refusal = JSON.stringify({ error: 'unavailable', message: `${reason}.` });
  return createServer((req, res) => {
    const isAlive = req.method === 'GET' && req.url?.split('?')[0] === '/healthz';
    res
      .writeHead(isAlive ? 200 : 503, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        connection: 'close',
        ...(!isAlive && { 'retry-after': '5' }),
      })
      .end(isAlive ? '{"status":"ok"}' : refusal);
    req.resume();
  });
}

/** Returns the space of the folder, or of where it will be made. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    const above = dirname(folder);
    if (above === folder) {
      throw error;
    }
    return freeBytes(above);
  }
}
