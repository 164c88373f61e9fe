import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Certificate } from '../lib/tunnel/certificate.ts';

/** The file as it ships. */
const shipped = fileURLToPath(new URL('../../../config/nginx.conf', import.meta.url));

export interface Backend {
  readonly port: number;
  readonly requests: {
    readonly url: string;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly body: Buffer;
  }[];
}

/** A store of somebody's own, which takes everything. */
export async function backend(t: TestContext): Promise<Backend> {
  const requests: Backend['requests'][number][] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => void chunks.push(chunk));
    req.on('end', () => {
      requests.push({ url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks) });
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.address() as AddressInfo).port, requests };
}

export async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs nginx with the file that ships, on other addresses, perhaps behind TLS, and perhaps spoilt; resolves with its address when it takes connections. */
export async function startNginx(
  t: TestContext,
  program: string,
  ports: {
    readonly svc: number;
    readonly metrics: number;
    readonly logs: number;
    readonly traces: number;
  },
  secure?: Certificate,
  spoilt: (text: string) => string = (text) => text,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
  const port = await freePort();
  const listen = secure
    ? `listen 127.0.0.1:${port} ssl; ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key;`
    : `listen 127.0.0.1:${port};`;
  if (secure) {
    writeFileSync(join(folder, 'cert'), secure.cert);
    writeFileSync(join(folder, 'key'), secure.key);
  }
  const own = spoilt(readFileSync(shipped, 'utf8'))
    .replace('listen 8000;', listen)
    .replace('127.0.0.1:8080;', `127.0.0.1:${ports.svc};`)
    .replace('127.0.0.1:9090;', `127.0.0.1:${ports.metrics};`)
    .replace('127.0.0.1:3100;', `127.0.0.1:${ports.logs};`)
    .replace('127.0.0.1:4318;', `127.0.0.1:${ports.traces};`);
  writeFileSync(join(folder, 'svc.conf'), own);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ');
  writeFileSync(
    join(folder, 'main.conf'),
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;\nevents { worker_connections 64; }\nhttp { access_log off; ${places} include ${folder}/svc.conf; }\n`,
  );
  const child = spawn(
    program,
    ['-p', folder, '-c', join(folder, 'main.conf'), '-e', join(folder, 'error.log')],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  for (let tries = 0; ; tries++) {
    if (await takesConnections(port)) {
      return `${secure ? 'https' : 'http'}://127.0.0.1:${port}`;
    }
    if (child.exitCode !== null || tries > 250) {
      throw new Error(`nginx does not answer: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
    }
    await pause(20);
  }
}

const takesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
