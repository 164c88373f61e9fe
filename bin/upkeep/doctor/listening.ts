import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { messageOf } from '../../../core/sdk/index.ts';
import { answerOf } from './asked.ts';
import type { RunningSvc } from 'svc/cli';
import { type Examination, fail, ok, warn } from './finding.ts';

const listenState = '0A';

/** Examines whether svc answers at its address, or could listen where it is configured to. */
export const listening =
  (running: RunningSvc | undefined, address: string, setting: string): Examination =>
  async (subject) => {
    if (running !== undefined) {
      return await ready(subject, running);
    }
    const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(address) ?? [];
    const error = await tried(host, Number(port));
    switch (error?.code) {
      case undefined:
        return error === undefined
          ? ok(subject, `${address} is free`)
          : fail(
              subject,
              `failed to listen on ${address}: ${messageOf(error)}`,
              `correct ${setting}`,
            );
      case 'EADDRINUSE': {
        const holder = holderOf(Number(port));
        return fail(
          subject,
          `${address} is in use${holder === undefined ? ' by a process of another user' : ` by ${holder}`}`,
          `stop it, or choose another address for svc (${setting})`,
        );
      }
      case 'EACCES':
        return fail(
          subject,
          `this user has no permission to listen on ${address}`,
          `set ${setting} to a port above 1023 and put a reverse proxy in front of it`,
        );
      default:
        return fail(
          subject,
          `failed to listen on ${address}: ${messageOf(error)}`,
          `set ${setting} to an address of this machine`,
        );
    }
  };

async function ready(subject: string, { url }: RunningSvc) {
  const { status, text } = await answerOf(`${url}/readyz`);
  if (status === 200) {
    const degraded = partsOf(text).filter(({ state }) => state === 'degraded');
    return degraded.length === 0
      ? ok(subject, `answers at ${url}`)
      : warn(
          subject,
          `answers at ${url}, but not all of it works: ${degraded
            .map(({ part, detail = '' }) => `${part}: ${detail}`)
            .join('; ')
            .slice(0, 600)}`,
          '"svc plugin list" and "svc plugin health" show the causes',
        );
  }
  return warn(
    subject,
    `${url}/readyz answers ${status}: ${text.slice(0, 300)}`,
    'look for the plugins that it names in the log of svc; until then a load balancer sends no traffic here',
  );
}

interface ReadyPart {
  readonly part: string;
  readonly state: string;
  readonly detail?: string;
}

/** Returns the parts that a readiness answer lists. */
function partsOf(text: string): readonly ReadyPart[] {
  const { parts = [] } = JSON.parse(text) as { readonly parts?: readonly ReadyPart[] };
  return parts;
}

/** Tries to bind an address, and releases it. */
function tried(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** `process 812 (nginx)`: as far as this user may know. */
function holderOf(port: number): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = ['/proc/net/tcp', '/proc/net/tcp6']
    .filter((table) => existsSync(table))
    .flatMap((table) => readFileSync(table, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === listenState && local?.endsWith(`:${hex}`) === true)
    .map((fields) => `socket:[${fields[9]}]`);
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => linksOf(join('/proc', name, 'fd')).some((link) => inodes.includes(link)));
  return pid === undefined
    ? undefined
    : `process ${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`;
}

/** Returns the links; none of a process that belongs to another user, or has ended meanwhile. */
function linksOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    return [];
  }
}
