import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { folderOf } from './machine.ts';

/** A piece of a log as an engine frames it when the container has no terminal. */
export function framed(stream: 1 | 2, text: string): Buffer {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

const id = (digit: string): string => digit.repeat(64);

const inspected = (digit: string, name: string, state: object, restarts: number): object => ({
  Id: id(digit),
  Name: `/${name}`,
  Created: '2026-11-01T10:00:00.000000000Z',
  Path: 'node',
  Args: ['server.js', '--api-key', 'hunter2'],
  RestartCount: restarts,
  State: { StartedAt: '0001-01-01T00:00:00Z', FinishedAt: '2026-11-29T12:00:00Z', ...state },
  Config: {
    Image: 'shop/web:1.4',
    Env: ['PATH=/bin', 'DB_PASSWORD=hunter2'],
    Labels: { 'com.docker.compose.service': name, deploy_token: 'hunter2' },
  },
  HostConfig: {
    RestartPolicy: { Name: 'always' },
    Memory: 268435456,
    NanoCpus: 500000000,
    NetworkMode: 'bridge',
    PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '80' }] },
  },
  NetworkSettings: { Networks: { bridge: { IPAddress: '172.17.0.2' } } },
  Mounts: [{ Type: 'bind', Source: '/srv', Destination: '/data', RW: false }],
});

const answers: Readonly<Record<string, unknown>> = {
  '/containers/json?all=1': [
    { Id: id('a'), Names: ['/db'], Image: 'postgres:15', State: 'running', Status: 'Up 3 days' },
    {
      Id: id('b'),
      Names: ['/web'],
      Image: 'shop/web:1.4',
      State: 'restarting',
      Status: 'Restarting (137) 5 seconds ago',
    },
  ],
  '/containers/json': [
    { Id: id('a'), Names: ['/db'], Image: 'postgres:15', State: 'running', Status: 'Up 3 days' },
  ],
  [`/containers/${'a'.repeat(12)}/json`]: inspected(
    'a',
    'db',
    { Status: 'running', ExitCode: 0 },
    0,
  ),
  [`/containers/${'b'.repeat(12)}/json`]: inspected(
    'b',
    'web',
    { Status: 'restarting', ExitCode: 137, OOMKilled: true },
    48,
  ),
  '/containers/web/json': inspected(
    'b',
    'web',
    { Status: 'restarting', ExitCode: 137, OOMKilled: true },
    48,
  ),
  [`/containers/${'a'.repeat(12)}/stats?stream=false`]: {
    cpu_stats: { cpu_usage: { total_usage: 3_000 }, system_cpu_usage: 20_000, online_cpus: 2 },
    precpu_stats: { cpu_usage: { total_usage: 1_000 }, system_cpu_usage: 10_000 },
    memory_stats: { usage: 1_000_000, limit: 4_000_000, stats: { inactive_file: 200_000 } },
    networks: { eth0: { rx_bytes: 5, tx_bytes: 6 } },
    pids_stats: { current: 9 },
  },
  '/containers/web/logs?stdout=1&stderr=1&timestamps=1&tail=2': Buffer.concat([
    framed(1, '2026-11-29T11:59:58Z allocating\n'),
    framed(2, '2026-11-29T11:59:59Z \u001b[31mJavaScript heap out of memory\u001b[0m\n'),
  ]),
};

/**
 * A container engine on a socket, as strict as the real ones: it has these containers and these
 * queries alone, and what is no GET is held against its caller.
 */
export async function engineOf(
  t: TestContext,
): Promise<{ readonly socket: string; readonly refused: string[] }> {
  const { root } = folderOf(t);
  const socket = join(root, 'engine.sock');
  const refused: string[] = [];
  const server = createServer((request, reply) => {
    const answer = answers[request.url ?? ''];
    if (request.method !== 'GET' || answer === undefined) {
      refused.push(`${request.method} ${request.url}`);
      reply.writeHead(404, { 'content-type': 'application/json' });
      reply.end('{"message":"no such container"}');
      return;
    }
    reply.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
  });
  server.listen(socket);
  await once(server, 'listening');
  t.after(() => void server.close());
  return { socket, refused };
}
