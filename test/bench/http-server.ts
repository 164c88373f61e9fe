import { createSecretKey, randomBytes } from 'node:crypto';
import { rmSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import Type from 'typebox';

import { OperatorAuthenticator } from '../../core/auth/index.ts';
import { checkRoute, HttpServer } from '../../core/http/index.ts';
import { Draft, Registry } from '../../core/registry/index.ts';
import {
  listRoute,
  type Page,
  type Principal,
  route,
  type RouteDeclaration,
} from '../../core/sdk/index.ts';
import { MemoryChanges, realClock, realIds } from '../http/house.ts';
import { generationOf } from '../registry/fixtures.ts';

/** The server under test of `npm run bench http`, in a process of its own: `bare` or `pipeline`. */

interface Device {
  readonly id: number;
  readonly hostname: string;
  readonly os: string;
  readonly arch: string;
  readonly ip_address: string;
  readonly cpu_count: number;
  readonly mem_total_bytes: number;
  readonly online: number;
  readonly tags: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const rowCount = 100_000;
const dir = mkdtempSync(join(tmpdir(), 'svc-bench-http-'));
const db = new Database(join(dir, 'bench.db'));
db.pragma('journal_mode = WAL');
db.exec(
  'create table device (id integer primary key, hostname text, os text, arch text, ip_address text, cpu_count int, mem_total_bytes int, online int, tags text, created_at text, updated_at text) strict',
);
const insert = db.prepare('insert into device values (?,?,?,?,?,?,?,?,?,?,?)');
db.transaction(() => {
  for (let id = 1; id <= rowCount; id += 1) {
    const stamp = new Date(1_700_000_000_000 + id).toISOString();
    insert.run(
      id,
      `host-${id}.example`,
      'linux',
      'x86_64',
      `10.0.${(id >> 8) & 255}.${id & 255}`,
      8,
      34_359_738_368,
      id & 1,
      '{"site":"muc","rack":"r12","owner":"platform","tier":"gold"}',
      stamp,
      stamp,
    );
  }
})();
const select = db.prepare<[number, number], Device>(
  'select * from device where id < ? order by id desc limit ?',
);

function listDevices(limit: number, after: number): Page<Device> {
  const items = select.all(after, limit);
  return { items, total: rowCount, next: items.length < limit ? undefined : [items.at(-1)!.id] };
}

let requests = 0;

async function listen(kind: string): Promise<number> {
  return kind === 'bare' ? listenBare() : listenPipeline();
}

function listenBare(): Promise<number> {
  const server = createServer((_req, res) => {
    requests += 1;
    const page = listDevices(50, Number.MAX_SAFE_INTEGER);
    const text = JSON.stringify({
      items: page.items,
      next_cursor: String(page.next),
      total: page.total,
    });
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    res.end(text);
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
}

function listenPipeline(): Promise<number> {
  const registry = new Registry();
  const changes = new MemoryChanges();
  const user: Principal = {
    kind: 'user',
    id: '7',
    email: 'a@example.com',
    role: 'user',
    grants: ['device:*'],
  };
  const sessions = new Map([['bench-token', user]]);
  const core = new Draft(generationOf('core'));
  core.add('services', 'auth.authenticator', {
    version: '1.0.0',
    instance: { authenticate: ({ value }: { value: string }) => sessions.get(value) },
  });
  core.add('services', 'audit.trail', { version: '1.0.0', instance: changes.trail });
  const area = new Draft(generationOf('device'));
  for (const declaration of [devices, ...neighbours()]) {
    area.add('routes', checkRoute(declaration), declaration);
  }
  registry.publish({ add: [core.seal(), area.seal()] });
  const quiet = (): void => {};
  return new HttpServer({
    registry,
    changes,
    clock: realClock,
    ids: realIds,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    cursorKey: createSecretKey(randomBytes(32)),
    operator: new OperatorAuthenticator('svc_op_bench'),
    strike: (_owner, _label, error) => {
      throw error;
    },
    observe: () => (requests += 1),
  }).listen('127.0.0.1', 0);
}

const devices = listRoute({
  path: '/api/v1/devices',
  access: 'device:read',
  summary: 'Devices',
  query: Type.Object({ online: Type.Optional(Type.Boolean()), tag: Type.Optional(Type.String()) }),
  items: Type.Object({ id: Type.Integer() }),
  handle: ({ page }) =>
    listDevices(page.limit, (page.after?.[0] as number | undefined) ?? Number.MAX_SAFE_INTEGER),
});

/** Returns as many routes as the whole product has, so that finding one has its real cost. */
const neighbours = (): RouteDeclaration[] =>
  Array.from({ length: 160 }, (_, index) =>
    route({
      method: 'GET',
      path: `/api/v1/area-${index}/{id}/part`,
      access: 'any',
      summary: 'Neighbour',
      handle: () => {},
    }),
  );

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!({
    requests,
    cpuMicros: user + system,
    rssMb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
  });
});
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
process.on('disconnect', () => process.exit(0));

process.send!({ port: await listen(process.argv[2]!) });
